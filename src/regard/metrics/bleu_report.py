"""One BLEU, seen three ways: sacrebleu's figure, the parts it is made of, and the n-grams behind them."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from regard.errors import ConfigError, DataError
from regard.metrics.bleu import BleuExplanation, Match, explain_bleu, matches
from regard.metrics.translation import TOKENIZERS, Score, bleu_tokenizer, translation_scores

ORDERS = 4


@dataclass(frozen=True)
class BleuReport:
    """A corpus score with its explanation; `matches` by n, for a single sentence only."""

    corpus: Score
    parts: BleuExplanation
    matches: dict[int, list[Match]]

    def smoothing_note(self) -> str:
        """Say where sacrebleu's figure and the paper's part ways."""
        paper = 100 * self.parts.score(ORDERS)
        if abs(paper - self.corpus.value) < 0.005:
            return f"The paper's formula and sacrebleu agree: {paper:.2f}."
        return (
            f"The paper's formula gives {paper:.2f}: an order without a match makes the product nothing; "
            f"sacrebleu's {self.corpus.value:.2f} smooths such orders (smooth:exp in its signature)."
        )

    def plain(self, with_matches: bool) -> dict[str, Any]:
        """Return the report as plain values for JSON."""
        found: dict[str, Any] = {
            "bleu": self.corpus.value,
            "signature": self.corpus.signature,
            **{f"bleu_{n}": self.parts.score(n) for n in range(1, ORDERS + 1)},
            "precisions": [asdict(precision) | {"value": precision.value} for precision in self.parts.precisions],
            "brevity_penalty": self.parts.brevity_penalty,
            "hypothesis_length": self.parts.hypothesis_length,
            "reference_length": self.parts.reference_length,
        }
        if with_matches:
            found["matches"] = {
                n: [asdict(match) | {"clipped": match.clipped} for match in each] for n, each in self.matches.items()
            }
        return found


def score_bleu(
    hypotheses: Sequence[str], references: Sequence[Sequence[str]], tokenize: str = "13a", lowercase: bool = False
) -> BleuReport:
    """Return the BLEU of hypotheses, each with one or more references, and everything it is made of."""
    if tokenize not in TOKENIZERS:
        raise ConfigError(f'tokenize: "{tokenize}" is not one of {", ".join(TOKENIZERS)}.')
    if not hypotheses:
        raise DataError("There are no hypotheses to score; the file is empty.")
    split = bleu_tokenizer(tokenize, lowercase)
    said = [split(hypothesis) for hypothesis in hypotheses]
    meant = [[split(reference) for reference in choices] for choices in references]
    (corpus,) = translation_scores(hypotheses, references, ["BLEU"], tokenize, lowercase)
    each = {n: matches(said[0], meant[0], n) for n in range(1, ORDERS + 1)} if len(said) == 1 else {}
    return BleuReport(corpus, explain_bleu(said, meant, ORDERS), each)
