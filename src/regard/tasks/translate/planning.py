"""Planned defaults of translators."""

import math
from collections.abc import Iterator

from regard.tasks.planning import rules
from regard.tasks.planning.inputs import Default, PlanInput, amount

CONSTANTS = {
    "objective.label_smoothing": (0.1, "constant: as Vaswani et al. (2017)"),
    "train.weight_decay": (0.0, "constant: dropout is the regularization"),
}
"""Settings that depend on neither data nor model."""
PATIENCE = 6
"""Validations without a better score before the rate falls; BLEU is noisy."""
R_DROP = 2.5
SPLIT_AGAIN = 0.5
"""Fraction of regularization from which words are split anew each time: seen but a few times, they vary enough."""
SCARCE, SCANTY = 0.1, 0.5
"""Tokens of an epoch for each parameter below which a model needs all the regularization there is, and some of it."""
TINY_TEXT = 8_000
"""Tokens of an epoch below which the smallest model has parameters to spare."""
TINY = {"width": 96, "heads": 4, "feed_forward_width": 256, "encoder_layers": 2, "decoder_layers": 2}
SHAPES = ((2_000_000, 256, 1024, 5), (20_000_000, 512, 1024, 6), (math.inf, 512, 2048, 6))
"""Target tokens of an epoch up to which a GPU trains a Transformer of this width, feed-forward width and layers a
side; the second is the size for some hundred thousand pairs of talks, the third that of Vaswani et al. (2017)."""
WIDE_MINUTES = 5
"""Minutes below which the first of them is trained."""
BLEU_SENTENCES = {"cuda": 1000}
"""Validation sentences that are translated each time on a GPU."""
FEWEST_SENTENCES, A_MINUTE = 20, 25
"""The same on a CPU with a time limit: at least so many, and so many for each minute of it, up to the default."""


def translator_shape(plan: PlanInput) -> Iterator[Default]:
    """Plan the shape of a small Transformer: on a CPU, a shallow one takes more updates in the same time."""
    if plan.survey is not None and plan.tokens < TINY_TEXT:
        for name, value in TINY.items():
            yield Default(f"model.{name}", value, f"only {plan.survey.rows:,} pairs")
        return
    if not plan.is_gpu:
        shape = {"encoder_layers": 2, "decoder_layers": 2, "feed_forward_width": 512}
        yield from (Default(f"model.{name}", value, f"training on {plan.device}") for name, value in shape.items())
        return
    minutes, (_, width, feed_forward, layers) = plan.train.minutes, SHAPES[0]
    if plan.survey is not None and (minutes is None or minutes >= WIDE_MINUTES):
        _, width, feed_forward, layers = next(each for each in SHAPES if plan.tokens <= each[0])
    reason = f"{amount(plan.tokens)} tokens an epoch, on a GPU" if width > SHAPES[0][1] else "a GPU"
    yield Default("model.encoder_layers", layers, reason)
    yield Default("model.decoder_layers", layers, reason)
    if width > SHAPES[0][1]:
        yield Default("model.width", width, reason)
        yield Default("model.heads", width // 64, reason)
        yield Default("model.feed_forward_width", feed_forward, reason)


def translator_defaults(plan: PlanInput) -> Iterator[Default]:
    """Plan regularization, optimization and validation of a translator."""
    settings, ratio = plan.settings, plan.tokens_per_parameter
    yield from rules.constants(CONSTANTS)
    yield from rules.training(plan, PATIENCE)
    yield from rules.dropout(plan, ("dropout", "embedding_dropout"))
    sizes, repetition = rules.regularized(plan), rules.repetition(plan)
    if ratio is not None and plan.text.kind == "bpe":
        rate = 0.1 if ratio < SCARCE else 0.05 if ratio < SCANTY else 0.0
        yield Default("text.dropout", rate if repetition >= SPLIT_AGAIN else 0.0, sizes)
        if settings.model.family == "mask-predict":
            yield Default("text.target_dropout", 0.0, "targets predicted in parallel need one segmentation")
    is_affordable = plan.is_gpu and settings.model.family == "transformer" and settings.init_from is None
    if is_affordable and ratio is not None and ratio < SCARCE and repetition == 1:
        yield Default("objective.r_drop", R_DROP, sizes)
    sentences = BLEU_SENTENCES.get(plan.device, plan.value("validation.bleu_sentences", ()))
    reason = f"on {plan.device}"
    if (minutes := plan.train.minutes) is not None and not plan.is_gpu:
        sentences, reason = min(sentences, max(FEWEST_SENTENCES, round(A_MINUTE * minutes))), f"{minutes:g} minutes"
    yield Default("validation.bleu_sentences", sentences, reason)
    if plan.is_gpu and plan.value("validation.bleu_sentences", ()) != 0:
        yield Default("train.select_by", "bleu", "a GPU translates validation sentences in seconds")
    else:
        yield Default("train.select_by", "loss", f"BLEU of few sentences on {plan.device} is noisy")
