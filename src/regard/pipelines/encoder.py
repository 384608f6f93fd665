"""A text encoder with its tokenizer."""

from typing import Any

from regard.checkpoint import Bundle
from regard.text import Tokenizer


class Encoder:
    """A model that reads whole texts in both directions."""

    def __init__(self, bundle: Bundle) -> None:
        self.bundle = bundle
        self.model: Any = bundle.model
        self.tokenizer: Tokenizer = bundle.tokenizers["tokenizer"]
        self.device = next(bundle.model.parameters()).device

    @property
    def config(self) -> dict[str, Any]:
        """The settings of the model, and what its task remembers."""
        return {"model": self.bundle.settings.model_dump(), **self.bundle.facts}
