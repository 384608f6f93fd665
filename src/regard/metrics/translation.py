"""BLEU, chrF and TER by sacrebleu, each with its signature."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER

TOKENIZERS = ("13a", "intl", "zh", "char", "none")


@dataclass(frozen=True)
class Score:
    """A corpus score and the sacrebleu signature of its computation."""

    name: str
    value: float
    signature: str


def translation_scores(
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str]],
    names: Sequence[str] = ("BLEU", "chrF", "TER"),
    tokenize: str = "13a",
    lowercase: bool = False,
) -> list[Score]:
    """Return corpus scores; `references` holds, for each hypothesis, its one or more references."""
    streams = reference_streams(references)
    scores = []
    for name in names:
        metric = metric_of(name, tokenize, lowercase)
        value = metric.corpus_score(list(hypotheses), streams).score
        scores.append(Score(name, float(value), str(metric.get_signature())))
    return scores


def metric_of(name: str, tokenize: str = "13a", lowercase: bool = False) -> Any:
    """Return sacrebleu's object for a metric."""
    if name == "BLEU":
        # force: no warning on stderr for text that looks tokenized
        return BLEU(tokenize=tokenize, lowercase=lowercase, force=True)
    return CHRF(lowercase=lowercase) if name == "chrF" else TER(case_sensitive=not lowercase)


def paper_scores(hypotheses: Sequence[str], references: Sequence[Sequence[str]]) -> list[Score]:
    """Return BLEU as papers often report it: lowercased and tokenized; not comparable with standard BLEU.

    The first is that of multi-bleu.perl on text lowercased and tokenized by 13a beforehand. The second splits at
    all punctuation, as some tokenizers do, which gives more tokens and a higher score.
    """
    split = bleu_tokenizer("13a", lowercase=True)
    outputs = [" ".join(split(hypothesis)) for hypothesis in hypotheses]
    targets = [[" ".join(split(reference)) for reference in choices] for choices in references]
    plain = BLEU(tokenize="none", smooth_method="none", force=True)
    value = float(plain.corpus_score(outputs, reference_streams(targets)).score)
    signature = f"{plain.get_signature()} on 13a-tokenized lowercased text"
    (fine,) = translation_scores(hypotheses, references, ["BLEU"], "intl", lowercase=True)
    return [
        Score("BLEU lowercased, tokenized", value, signature),
        Score("BLEU lowercased, split at all punctuation", fine.value, fine.signature),
    ]


def reference_streams(references: Sequence[Sequence[str]]) -> Any:
    """Return references by stream, as sacrebleu takes them, padded with None for sentences with fewer."""
    most = max(map(len, references))
    return [[choices[index] if index < len(choices) else None for choices in references] for index in range(most)]


def bleu_tokenizer(tokenize: str = "13a", lowercase: bool = False) -> Callable[[str], list[str]]:
    """Return the function that splits a text into the tokens sacrebleu counts."""
    metric = BLEU(tokenize=tokenize, lowercase=lowercase)

    def split(text: str) -> list[str]:
        return str(metric.tokenizer(text.lower() if lowercase else text)).split()

    return split
