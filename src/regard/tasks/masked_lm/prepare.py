"""Preparation of a masked language model's run: text tokenized and masked, the model built."""

from collections.abc import Callable, Mapping
from typing import Any

import torch

from regard.checkpoint.bundle import Bundle
from regard.data.corpus.corpus import Corpus
from regard.data.corpus.splits import TextSplits, check_held_out, tokenize_all
from regard.data.feeds.masked_lm import MaskedFeed, Stage, has_masked_tokens
from regard.data.feeds.masking import Masker
from regard.data.feeds.sentence_pairs import Marks, SentencePairSampler
from regard.data.settings.text import SequenceSettings
from regard.errors import ConfigError, DataError
from regard.interop.huggingface.encoder_configs import MASKED_WORDS, POOLER
from regard.interop.huggingface.encoders import UNTRAINED
from regard.models.base.settings import ModelSettings, Vocabularies
from regard.models.families import build_model, count_parameters
from regard.objectives.masked_lm import MaskedObjective
from regard.progress import Progress
from regard.tasks.baseline import token_baseline
from regard.tasks.data import Prepared, TextTaskData, scorings
from regard.tasks.declarations import Context
from regard.tasks.init_from import load_pretrained, origin_facts, pretrained_bundle
from regard.tasks.masked_lm.evaluate import MaskedText, masked_metrics
from regard.tasks.masked_lm.records import MaskedFacts, MaskedReport
from regard.tasks.masked_lm.settings import MaskedSettings
from regard.tasks.model_size import check_size
from regard.tasks.text.corpora import corpora_report, corpus_eval_sets, corpus_folder
from regard.tasks.text.tokenizer import corpus_tokenizer
from regard.text.tokenizer import Tokenizer
from regard.training.device.machine import Machine

Settings = MaskedSettings[ModelSettings]

WORKERS = 3
"""Threads that sample sequences while a GPU computes: it takes two of them to feed a small model."""
MIN_LENGTH = 8
"""Minimum length of a sequence in tokens."""
FEW_PAIRS = 0.5
"""Fraction of pairs among sequences below which the split into documents is suspicious."""


def prepare_masked(settings: Settings, context: Context) -> Prepared[TextTaskData]:
    """Tokenize the text (or take it as it was tokenized before), and build the model."""
    machine, progress, resumed = context.machine, context.progress, context.resumed
    if resumed is None:
        check_held_out(settings.data)
    folder = corpus_folder(settings.data, settings.text, settings.init_from)
    pretrained = pretrained_bundle(settings.init_from, resumed)
    known = resumed or pretrained
    tokenizer = (
        known.tokenizers["tokenizer"]
        if known
        else corpus_tokenizer(settings.data.train, settings.text, folder, progress)
    )
    corpora = tokenize_all(settings.data, tokenizer, folder, progress)
    bundle = resumed or new_masked_bundle(settings, tokenizer, machine, pretrained)
    if pretrained and MASKED_WORDS in pretrained.facts.get(UNTRAINED, ()):
        progress.info(f"{settings.init_from} has no masked-LM head: that one is trained from scratch.")
    length = MaskedFacts.read(bundle).length or bundle.model.max_positions
    has_pairs = bundle.model.next_sentence is not None
    is_one_document = not settings.sequences.pack_documents
    if has_pairs:
        check_documents(corpora, settings, progress)
    stages = stages_of(settings, corpora.train, tokenizer, bundle)
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
    tests = corpora.test or {"valid": corpora.valid}
    validated = min(len(corpora.valid), settings.validation.tokens)
    return Prepared(
        bundle=bundle,
        feed=feed,
        objective=MaskedObjective(settings.objective.nsp_weight if has_pairs else 0.0),
        width=settings.model.width,
        validate=_validation(texts["valid"], settings, machine),
        tests=corpus_eval_sets(tests, settings.data, tokenizer),
        report=MaskedReport.model_validate(
            corpora_report(corpora) | {"window": length, "folder": str(folder)} | origin_facts(bundle)
        ),
        data=TextTaskData(settings, corpora, bundle, length, feed.updates_in(epoch=0)),
        baseline=token_baseline(corpora.valid.read(0, validated), "mlm_loss"),
        scorings=scorings(sum(map(len, tests.values())), validated),
    )


def new_masked_bundle(
    settings: Settings, tokenizer: Tokenizer, machine: Machine, pretrained: Bundle | None = None
) -> Bundle:
    """Return a new model with its tokenizer, or the pretrained one; a model too large to train is refused."""
    size = pretrained.vocabularies.target if pretrained else tokenizer.size
    vocabularies = Vocabularies(size, size, is_shared=True)
    check_size(count_parameters(settings.model, vocabularies), machine)
    torch.manual_seed(settings.seed)
    model: Any = build_model(settings.model, vocabularies)
    length = length_of(settings.sequences, model.max_positions)
    early = settings.sequences.phase1_length
    if early and settings.train.is_open:
        raise ConfigError(
            "sequences.phase1_length: the clock ends this run, so the updates of its first phase cannot be counted; "
            "give train.steps too, or leave it out."
        )
    facts: dict[str, Any] = {
        "seed": settings.seed,
        "length": length,
        "sentences": settings.data.sentences,
        "pack_documents": settings.sequences.pack_documents,
        "masking": settings.masking.model_dump(mode="json"),
        # Decided once: a run that is resumed for more steps continues with long sequences.
        "early_updates": round(settings.sequences.phase1_fraction * settings.train.steps) if early else 0,
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


def stages_of(settings: Settings, corpus: Corpus, tokenizer: Tokenizer, bundle: Bundle) -> list[Stage]:
    """Return the stages of training: short sequences first where phase1_length is set, then full length."""
    has_pairs = bundle.model.next_sentence is not None
    sequences, facts = settings.sequences, MaskedFacts.read(bundle)

    def sampler(length: int) -> SentencePairSampler:
        fraction, is_one_document = sequences.short_sequence_fraction, not sequences.pack_documents
        return SentencePairSampler(corpus, Marks.of(tokenizer), length, has_pairs, fraction, is_one_document)

    early, updates = sequences.phase1_length, facts.early_updates
    first = [Stage(sampler(early), updates)] if early is not None and updates else []
    return [*first, Stage(sampler(facts.length or bundle.model.max_positions))]


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
