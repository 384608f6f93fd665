"""BLEU report: sacrebleu's score, its components and the matched n-grams."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from regard.errors import ConfigError, DataError
from regard.metrics.bleu import BleuExplanation, Match, explain_bleu, matches
from regard.metrics.comparison import Part, Score
from regard.metrics.translation import TOKENIZERS, bleu_tokenizer, translation_scores

ORDERS = 4


@dataclass(frozen=True)
class BleuReport:
    """A corpus score with its components; `matches` by n, for a single sentence only."""

    corpus: Score
    parts: BleuExplanation
    matches: dict[int, list[Match]]

    def smoothing_note(self) -> str:
        """Return a sentence on the difference between sacrebleu's score and the paper's."""
        paper = 100 * self.parts.score(ORDERS)
        if abs(paper - self.corpus.value) < 0.005:
            return f"The paper's formula and sacrebleu agree: {paper:.2f}."
        return (
            f"The paper's formula gives {paper:.2f}: an order without a match makes the product 0; "
            f"sacrebleu's {self.corpus.value:.2f} smooths such orders (smooth:exp in its signature)."
        )

    def shown(self, with_matches: bool) -> Iterator[Part]:
        """Yield the lines and tables (header, rows, columns to the right) that explain the score."""
        yield f"BLEU {self.corpus.value:.2f}  {self.corpus.signature}"
        parts = "  ".join(f"BLEU-{n} {self.parts.score(n):.3f}" for n in range(1, 5))
        yield f"{parts}  (as in the paper: unsmoothed, between 0 and 1)"
        if not with_matches:
            return
        yield ""
        rows = [
            (str(p.n), f"{p.matched:,}", f"{p.clipped:,}", f"{p.total:,}", f"{p.value:.4f}")
            for p in self.parts.precisions
        ]
        yield ("n", "matched", "clipped", "total", "precision"), rows, range(5)
        c, r = self.parts.hypothesis_length, self.parts.reference_length
        rule = "c > r" if c > r else "e^(1 - r/c)"
        yield f"brevity penalty {self.parts.brevity_penalty:.4f} ({rule}), c = {c:,}, r = {r:,}"
        yield self.smoothing_note()
        for n, ngrams in self.matches.items():
            yield ""
            table = [(" ".join(m.ngram), str(m.count), *map(str, m.in_references), str(m.clipped)) for m in ngrams]
            names = [f"in reference {number}" for number in range(1, len(table[0]) - 2)] if table else []
            yield (f"{n}-gram", "in hypothesis", *names, "counts"), table, range(1, 3 + len(names))

    def plain(self, with_matches: bool) -> dict[str, Any]:
        """Return the report as plain values for JSON."""
        values: dict[str, Any] = {
            "bleu": self.corpus.value,
            "signature": self.corpus.signature,
            **{f"bleu_{n}": self.parts.score(n) for n in range(1, ORDERS + 1)},
            "precisions": [asdict(precision) | {"value": precision.value} for precision in self.parts.precisions],
            "brevity_penalty": self.parts.brevity_penalty,
            "hypothesis_length": self.parts.hypothesis_length,
            "reference_length": self.parts.reference_length,
        }
        if with_matches:
            values["matches"] = {
                n: [asdict(match) | {"clipped": match.clipped} for match in each] for n, each in self.matches.items()
            }
        return values


def score_bleu(
    hypotheses: Sequence[str], references: Sequence[Sequence[str]], tokenize: str = "13a", lowercase: bool = False
) -> BleuReport:
    """Return the BLEU report of hypotheses with one or more references each."""
    if tokenize not in TOKENIZERS:
        raise ConfigError(f'tokenize: "{tokenize}" is not one of {", ".join(TOKENIZERS)}.')
    if not hypotheses:
        raise DataError("There are no hypotheses to score; the file is empty.")
    split = bleu_tokenizer(tokenize, lowercase)
    outputs = [split(hypothesis) for hypothesis in hypotheses]
    targets = [[split(reference) for reference in choices] for choices in references]
    (corpus,) = translation_scores(hypotheses, references, ["BLEU"], tokenize, lowercase)
    each = {n: matches(outputs[0], targets[0], n) for n in range(1, ORDERS + 1)} if len(outputs) == 1 else {}
    return BleuReport(corpus, explain_bleu(outputs, targets, ORDERS), each)
