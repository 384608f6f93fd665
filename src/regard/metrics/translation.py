"""BLEU, chrF and TER by sacrebleu, each with the signature that makes it comparable."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER

TOKENIZERS = ("13a", "intl", "zh", "char", "none")


@dataclass(frozen=True)
class Score:
    """A corpus score and the signature that says how it was computed."""

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
    # force: text that looks tokenised is the user's own business, and a warning on stderr would not tell more
    metrics = {
        "BLEU": lambda: BLEU(tokenize=tokenize, lowercase=lowercase, force=True),
        "chrF": lambda: CHRF(lowercase=lowercase),
        "TER": lambda: TER(case_sensitive=not lowercase),
    }
    streams = _streams(references)
    scores = []
    for name in names:
        metric = metrics[name]()
        value = metric.corpus_score(list(hypotheses), streams).score
        scores.append(Score(name, float(value), str(metric.get_signature())))
    return scores


def _streams(references: Sequence[Sequence[str]]) -> Any:
    """Turn references by sentence into sacrebleu's references by stream, padded where a sentence has fewer."""
    most = max(map(len, references))
    return [[choices[index] if index < len(choices) else None for choices in references] for index in range(most)]


def bleu_tokenizer(tokenize: str = "13a", lowercase: bool = False) -> Callable[[str], list[str]]:
    """Return the function that splits a text into the tokens sacrebleu counts."""
    metric = BLEU(tokenize=tokenize, lowercase=lowercase)

    def split(text: str) -> list[str]:
        return str(metric.tokenizer(text.lower() if lowercase else text)).split()

    return split
