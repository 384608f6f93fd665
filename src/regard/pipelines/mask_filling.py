"""Mask filling: the most probable tokens of every [MASK] in a text."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import Field

from regard.config.settings import Words
from regard.data.sources.lines import is_text
from regard.errors import ConfigError, DataError
from regard.pipelines.base import Options, Pipeline, Plain, Result
from regard.pipelines.inputs import SingleText
from regard.progress import SILENT, Progress
from regard.text.mask_tokens import encode_masked, fill_masks
from regard.text.tokenizer import MASK

if TYPE_CHECKING:
    from regard.pipelines.encoder import Encoder


class FillOptions(Options):
    """Options of mask filling."""

    top: int = Field(5, ge=1)
    """Tokens to list for each mask."""
    candidates: Words = ()
    """Restrict predictions to these words, separated by commas: red,green,blue; repeatable."""


@dataclass(frozen=True)
class MaskCandidate:
    """A candidate token for a mask, and its probability."""

    token: str
    id: int
    probability: float


@dataclass(frozen=True)
class MaskFilling(Result):
    """A text with masks, and the most probable tokens of each, best first; masks are predicted independently."""

    row: SingleText
    masks: tuple[tuple[MaskCandidate, ...], ...]

    columns = ("filled", "masks")
    is_numbered = True

    @property
    def filled(self) -> str:
        """The text with the most probable token for every mask."""
        return fill_masks(self.row.text, [fillers[0].token for fillers in self.masks])

    @property
    def text(self) -> str:
        """The text with the most probable token for every mask."""
        return self.filled

    def filled_with(self, mask: int, filler: MaskCandidate) -> str:
        """Return the text with this token for one mask (from 0), and the most probable tokens for the others."""
        tokens = [fillers[0].token for fillers in self.masks]
        return fill_masks(self.row.text, [*tokens[:mask], filler.token, *tokens[mask + 1 :]])

    def lines(self) -> list[str]:
        """Return each candidate: number of the mask, probability, token, and the text filled with it."""
        return [
            f"{mask + 1}\t{each.probability:.4f}\t{each.token}\t{self.filled_with(mask, each)}"
            for mask, candidates in enumerate(self.masks)
            for each in candidates
        ]

    def to_dict(self) -> Plain:
        """Return the text, the filled text, and the candidates for each mask."""
        return {"text": self.row.text, **self.record()}

    def cells(self) -> dict[str, str]:
        """Return the filled text, and the most probable token of each mask with its probability."""
        best = [candidates[0] for candidates in self.masks]
        tokens, values = " ".join(each.token for each in best), " ".join(f"{each.probability:.6f}" for each in best)
        return {"filled": self.filled, "tokens": tokens, "probabilities": values}


class MaskFiller(Pipeline[SingleText, FillOptions, MaskFilling]):
    """The masked-LM head of an encoder in use."""

    row = SingleText
    inputs = ("text",)
    options_class = FillOptions

    def __init__(self, encoder: "Encoder") -> None:
        super().__init__(encoder.bundle)
        self.encoder, self.tokenizer = encoder, encoder.tokenizer

    def options(self, given: FillOptions | None = None, /, **overrides: object) -> FillOptions:
        """Return the options of a call; a model without a masked-LM head is refused."""
        check_fills(self.encoder)
        return super().options(given, **overrides)

    def check(self, row: SingleText, options: FillOptions, where: str) -> None:
        """Refuse what is not text, has no mask, or is too long."""
        if not is_text(row.text):
            raise DataError(f"{where} is not UTF-8 text; convert it first.")
        ids, limit = self._ids(row), self.encoder.max_length
        if self.tokenizer.mask_id not in ids:
            raise DataError(f"{where}: there is no {MASK} in it; put one at the position to predict.")
        if len(ids) > limit:
            raise DataError(f"{where} has {len(ids):,} tokens, but this model takes {limit:,} at most; shorten it.")

    def predict(
        self, rows: Sequence[SingleText], options: FillOptions, progress: Progress = SILENT
    ) -> list[MaskFilling]:
        """Return the most probable tokens of every mask."""
        import torch
        from torch import Tensor

        kept = torch.tensor(self._candidate_ids(options.candidates), device=self.device)
        count = min(options.top, len(kept))

        def make(hidden: Tensor, tokens: Tensor, _: Tensor) -> Sequence[Any]:
            is_mask = tokens.eq(self.tokenizer.mask_id or 0)
            scores = self.encoder.model.project(hidden[is_mask]).float().softmax(-1)[:, kept]  # (masks, candidates)
            best = scores.topk(count, dim=-1)
            ids = zip(kept[best.indices].tolist(), best.values.tolist(), strict=True)
            fillers = [tuple(map(MaskCandidate, self.tokenizer.tokens(each), each, values)) for each, values in ids]
            ends = is_mask.sum(1).cumsum(0).tolist()
            return [tuple(fillers[begin:end]) for begin, end in zip([0, *ends], ends)]

        masks = self.encoder.each([self._ids(row) for row in rows], -1, make, progress)
        return [MaskFilling(row, fillers) for row, fillers in zip(rows, masks, strict=True)]

    def _ids(self, row: SingleText) -> list[int]:
        return self.encoder.with_specials(encode_masked(self.tokenizer, row.text))

    def _candidate_ids(self, candidates: Sequence[str]) -> list[int]:
        """Return the ids that masks may be filled with: those of all tokens, or of the candidates."""
        if not candidates:
            return sorted({*self.tokenizer.specials, *self.tokenizer.vocabulary})
        encoded = self.tokenizer.encode_batch(candidates)
        for word, ids in zip(candidates, encoded, strict=True):
            if len(ids) != 1 or ids[0] == self.tokenizer.unk_id:
                tokens = " ".join(self.tokenizer.tokens(ids))
                raise ConfigError(
                    f'candidates: "{word}" is not one token of this model ({tokens}); choose another word.'
                )
        return [ids[0] for ids in encoded]


def check_fills(encoder: "Encoder") -> None:
    """Refuse an encoder without a pretrained masked-LM head."""
    if "masked words" in encoder.bundle.facts.get("untrained", ()):
        raise ConfigError(
            "fill: this model has no pretrained masked-LM head, so it cannot fill masks; use one with that head, "
            "such as a run of regard train masked-language-model."
        )
