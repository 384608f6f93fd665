"""Preparation of a masked language model's run: the model built, sequences masked, and what the loop needs."""

from collections.abc import Callable, Mapping
from typing import Any

from regard.checkpoint.bundle import Bundle
from regard.data.corpus.splits import TextSplits
from regard.data.feeds.masked_lm import MaskedFeed, Stage, has_masked_tokens
from regard.data.feeds.masking import Masker
from regard.data.feeds.sentence_pairs import Marks, SentencePairSampler
from regard.data.settings.text import SequenceSettings
from regard.errors import ConfigError, DataError
from regard.interop.huggingface.encoder_configs import MASKED_WORDS, POOLER
from regard.interop.huggingface.encoders import UNTRAINED
from regard.models.base.settings import ModelSettings, Vocabularies
from regard.models.families import position_limit
from regard.objectives.masked_lm import MaskedObjective
from regard.progress import Progress
from regard.tasks.baseline import token_baseline
from regard.tasks.checks.text_sizes import text_size_findings
from regard.tasks.data import Prepared, TextTaskData, scorings
from regard.tasks.declarations import Context
from regard.tasks.findings import Finding
from regard.tasks.init_from import check_tokenizers, load_pretrained, origin_facts
from regard.tasks.masked_lm.evaluate import MaskedText, masked_metrics
from regard.tasks.masked_lm.records import MaskedFacts, MaskedReport
from regard.tasks.masked_lm.settings import MaskedSettings
from regard.tasks.model_size import new_model
from regard.tasks.text.corpora import corpora_report, corpus_eval_sets
from regard.text.tokenizer import Tokenizer
from regard.training.device.machine import Machine

Settings = MaskedSettings[ModelSettings]

WORKERS = 3
"""Threads that sample sequences while a GPU computes: it takes two of them to feed a small model."""
MIN_LENGTH = 8
"""Minimum length of a sequence in tokens."""
FEW_PAIRS = 0.5
"""Fraction of pairs among sequences below which the split into documents is suspicious."""


def build_bundle(settings: Settings, data: TextTaskData, context: Context) -> Bundle:
    """Return the masked language model to train: resumed, pretrained or new."""
    check_tokenizers({"tokenizer": data.tokenizer}, context, settings.init_from)
    if has_pairs_of(settings):
        check_documents(data.corpora, settings, context.progress)
    pretrained = context.pretrained
    if pretrained and MASKED_WORDS in pretrained.facts.get(UNTRAINED, ()):
        context.progress.info(f"{settings.init_from} has no masked-LM head: that one is trained from scratch.")
    return context.resumed or new_masked_bundle(settings, data.tokenizer, context)


def prepare_masked(
    settings: Settings, data: TextTaskData, bundle: Bundle, context: Context
) -> Prepared[TextTaskData]:
    """Return masked sequences as updates, objective, validation, test sets and report."""
    machine, progress, corpora, tokenizer = context.machine, context.progress, data.corpora, data.tokenizer
    facts, has_pairs = MaskedFacts.read(bundle), has_pairs_of(settings)
    length, early_updates = facts.length or bundle.model.max_positions, facts.early_updates
    is_one_document = not settings.sequences.pack_documents
    stages = stages_of(settings, data, length, early_updates)
    if has_pairs:
        check_pairs(stages[-1].pairs, settings, progress)
    masker = Masker(settings.masking, tokenizer)
    texts = {
        name: MaskedText(
            SentencePairSampler(corpus, Marks.of(tokenizer), length, has_pairs, is_one_document=is_one_document),
            masker,
        )
        for name, corpus in {"valid": corpora.valid, **corpora.test}.items()
    }
    check_masks({settings.data.train.name: MaskedText(stages[-1].pairs, masker), **texts})
    train = settings.train
    feed = MaskedFeed(
        stages,
        masker,
        train.tokens_per_update,
        train.micro_batch_tokens or machine.micro_batch_tokens,
        settings.seed,
        0 if machine.device.type == "cpu" else WORKERS,
    )
    return Prepared(
        bundle=bundle,
        feed=feed,
        objective=MaskedObjective(settings.objective.nsp_weight if has_pairs else 0.0),
        width=settings.model.width,
        validate=_validation(texts["valid"], settings, machine),
        tests=corpus_eval_sets(data.tests, settings.data, tokenizer),
        report=MaskedReport.model_validate(
            corpora_report(corpora) | {"window": length, "folder": str(data.folder)} | origin_facts(bundle)
        ),
        data=data,
        baseline=token_baseline(corpora.valid.read(0, data.validated), "mlm_loss"),
        scorings=scorings(sum(map(len, data.tests.values())), data.validated),
    )


def size_findings(data: TextTaskData) -> list[Finding]:
    """Return the findings on the sizes of text, model and training."""
    settings = data.settings
    assert isinstance(settings, MaskedSettings)
    bound = position_limit(settings.model, data.vocabularies)
    assert bound is not None, "every encoder has a maximum"
    length = length_of(settings.sequences, bound)
    stages = stages_of(settings, data, length, early_updates_of(settings))
    feed = MaskedFeed(
        stages, Masker(settings.masking, data.tokenizer), settings.train.tokens_per_update, length, settings.seed
    )
    return text_size_findings(data, length, feed.updates_in(epoch=0))


def has_pairs_of(settings: Settings) -> bool:
    """Return True if a model has a next-sentence head."""
    return bool(getattr(settings.model, "next_sentence_head", False))


def early_updates_of(settings: Settings) -> int:
    """Return the number of updates with short sequences."""
    if not settings.sequences.phase1_length:
        return 0
    if settings.train.is_open:
        raise ConfigError(
            "sequences.phase1_length: the clock ends this run, so the updates of its first phase cannot be counted; "
            "give train.steps too, or leave it out."
        )
    return round(settings.sequences.phase1_fraction * settings.train.steps)


def new_masked_bundle(settings: Settings, tokenizer: Tokenizer, context: Context) -> Bundle:
    """Return a new model with its tokenizer, or the pretrained one; a model too large to train is refused."""
    pretrained = context.pretrained
    size = pretrained.vocabularies.target if pretrained else tokenizer.size
    vocabularies = Vocabularies(size, size, is_shared=True)
    model = new_model(settings, vocabularies, context.machine)
    length = length_of(settings.sequences, model.max_positions)
    facts: dict[str, Any] = {
        "seed": settings.seed,
        "length": length,
        "sentences": settings.data.sentences,
        "pack_documents": settings.sequences.pack_documents,
        "masking": settings.masking.model_dump(mode="json"),
        # Decided once: a run that is resumed for more steps continues with long sequences.
        "early_updates": early_updates_of(settings),
    }
    if pretrained:
        facts |= load_pretrained(model, pretrained, settings.init_from)  # the next-sentence head may go, or be new
        facts |= {name: pretrained.facts[name] for name in ("embed",) if name in pretrained.facts}
        if model.next_sentence is None and POOLER in pretrained.facts.get(UNTRAINED, ()):
            facts |= {UNTRAINED: [POOLER]}
    return Bundle(settings.task, model, settings.model, vocabularies, {"tokenizer": tokenizer}, facts)


def length_of(settings: SequenceSettings, bound: int) -> int:
    """Return the maximum length of a sequence in tokens."""
    length = settings.length or bound
    if length > bound:
        raise ConfigError(
            f"sequences.length: {length:,} tokens are more than the {bound:,} positions of the model; lower it, or "
            f"raise model.max_positions."
        )
    if length < MIN_LENGTH:
        raise ConfigError(
            f"sequences.length: {length:,} tokens leave no room for a sentence between the special tokens; "
            f"{MIN_LENGTH} are needed (see model.max_positions, {bound:,} positions)."
        )
    if settings.phase1_length is not None and settings.phase1_length >= length:
        raise ConfigError(
            f"sequences.phase1_length: {settings.phase1_length:,} tokens are not fewer than the {length:,} of later "
            f"sequences; lower it, or leave it out."
        )
    return length


def stages_of(settings: Settings, data: TextTaskData, length: int, early_updates: int) -> list[Stage]:
    """Return the stages of training: short sequences first where phase1_length is set, then of full length."""
    has_pairs, sequences, marks = has_pairs_of(settings), settings.sequences, Marks.of(data.tokenizer)

    def sampler(length: int) -> SentencePairSampler:
        fraction, is_one_document = sequences.short_sequence_fraction, not sequences.pack_documents
        return SentencePairSampler(data.corpora.train, marks, length, has_pairs, fraction, is_one_document)

    early = sequences.phase1_length
    first = [Stage(sampler(early), early_updates)] if early is not None and early_updates else []
    return [*first, Stage(sampler(length))]


def check_documents(corpora: TextSplits, settings: Settings, progress: Progress) -> None:
    """Refuse text that next sentences cannot be learned from."""
    if corpora.train.counts.documents < 2:
        raise DataError(
            f"{settings.data.train.name}: this is one document, and half of all pairs need another; split it (see "
            f"data.train.documents, now {settings.data.train.documents}), or set model.next_sentence_head=false."
        )
    if corpora.valid.counts.documents < 2 and settings.preflight:
        progress.warn(
            "The validation text is one document, so next-sentence prediction is not evaluated there; name another "
            "with data.valid, or split it (data.train.documents)."
        )


def check_pairs(pairs: SentencePairSampler, settings: Settings, progress: Progress) -> None:
    """Refuse text without pairs, and warn where there are few."""
    fraction, name = pairs.pair_fraction, settings.data.train.name
    if fraction == 0:
        raise DataError(
            f"{name}: no document has two sentences, so there are no pairs; see data.train.documents (now "
            f"{settings.data.train.documents}) and data.sentences, or set model.next_sentence_head=false."
        )
    if fraction < FEW_PAIRS and settings.preflight:
        progress.warn(
            f"{name}: only {fraction:.0%} of the sequences are pairs, as most documents have one sentence; see "
            f"data.train.documents (now {settings.data.train.documents}) and data.sentences."
        )


def check_masks(texts: Mapping[str, MaskedText]) -> None:
    """Refuse texts, by name, in which no token can be masked."""
    for name, text in texts.items():
        if not has_masked_tokens(text.pairs, text.masker):
            raise DataError(
                f"{name}: no token of this text can be masked, as it has no words or none of them is in the "
                f"tokenizer's vocabulary; add other text, or name another tokenizer with text.tokenizer."
            )


def _validation(text: MaskedText, settings: Settings, machine: Machine) -> Callable[[Any], dict[str, float]]:
    """Return the function the loop validates with: the same text, with the same masks, each time."""
    weight = settings.objective.nsp_weight

    def validate(model: Any) -> dict[str, float]:
        return masked_metrics(model, text, machine, settings.validation.tokens).named(weight)

    return validate
