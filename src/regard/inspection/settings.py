"""Settings of an inspection: the view of a forward pass that is shown."""

from pathlib import Path

from pydantic import Field, model_validator

from regard.config.settings import Settings


class InspectOptions(Settings):
    """The view of a forward pass."""

    attention: str | None = None
    """Attention: cross, encoder or decoder of a translator, self of others (default: the first the model has)."""
    layer: int = -1
    """Layer index from 0; -1 for the last."""
    head: int | None = None
    """Head index from 0 (default: the mean of all heads)."""
    logit_lens: bool = False
    """Show each block's token predictions (logit lens; GPT and BERT)."""
    iterations: int | None = Field(None, ge=1)
    """Show the output of this many decoding iterations (mask-predict models)."""
    top: int = Field(3, ge=1)
    """Tokens to list per position."""
    out: Path | None = None
    """Plot the weights to this .png, .svg or .pdf: all heads, or the one of --head."""

    @model_validator(mode="after")
    def _is_one_view(self) -> "InspectOptions":
        for name in ("logit_lens", "iterations"):
            flag = f"--{name.replace('_', '-')}"
            others = [each for each in ("out", "attention", "head", "layer") if each in self.model_fields_set]
            if getattr(self, name) and others:
                raise ValueError(
                    f"{flag} shows tokens, not weights; leave out --out, --attention, --layer and --head."
                )
        if self.iterations is not None and (self.logit_lens or "top" in self.model_fields_set):
            raise ValueError("--iterations shows the decoding of a translation; leave out --logit-lens and --top.")
        if self.out is not None and "top" in self.model_fields_set:
            raise ValueError("--top is for lists, and --out plots all weights; leave one of them out.")
        return self
