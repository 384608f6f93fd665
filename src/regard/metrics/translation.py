"""BLEU, chrF and TER by sacrebleu, each with its signature."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER

from regard.metrics.bootstrap import Numbers, Statistic
from regard.metrics.comparison import Score

TOKENIZERS = ("13a", "intl", "zh", "char", "none")


def translation_scores(
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str]],
    names: Sequence[str] = ("BLEU", "chrF", "TER"),
    tokenize: str = "13a",
    lowercase: bool = False,
) -> list[Score]:
    """Return corpus scores; `references` holds, for each hypothesis, its one or more references."""
    return scores_and_statistics(hypotheses, references, names, tokenize, lowercase)[0]


def scores_and_statistics(
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str]],
    names: Sequence[str] = ("BLEU", "chrF", "TER"),
    tokenize: str = "13a",
    lowercase: bool = False,
) -> tuple[list[Score], dict[str, Statistic]]:
    """Return corpus scores, and each, by its key, as a function of how often each sentence counts."""
    streams, everything = reference_streams(references), np.ones(len(hypotheses))
    scores, statistics = list[Score](), dict[str, Statistic]()
    for name in names:
        metric, key = metric_of(name, tokenize, lowercase), name.lower()
        counted = np.array(metric._extract_corpus_statistics(list(hypotheses), streams), float)
        statistics[key] = _statistic(metric, counted)
        scores.append(Score(name, statistics[key](everything), str(metric.get_signature()), key))
    return scores, statistics


def _statistic(metric: Any, counted: Numbers) -> Statistic:
    return lambda counts: float(metric._compute_score_from_stats((counts @ counted).tolist()).score)


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
