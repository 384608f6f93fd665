"""The task `masked-language-model`: running text in, a model that is ready to learn its masked words out."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from regard.checkpoint.bundle import Bundle
from regard.data.corpus.corpus import Corpus
from regard.data.corpus.splits import TextSplits, check_held_out, tokenize_all
from regard.data.feeds.masked_lm import MaskedFeed, Stage, has_masked_tokens
from regard.data.feeds.masking import Masker
from regard.data.feeds.sentence_pairs import Marks, SentencePairSampler
from regard.data.settings.text import SequenceSettings
from regard.data.sources.pair import Pair
from regard.errors import ConfigError, DataError
from regard.interop.huggingface.encoder_configs import MASKED_WORDS, POOLER
from regard.interop.huggingface.encoders import UNTRAINED
from regard.models.base.protocols import ModelSettings, Vocabularies
from regard.models.families import build_model, count_parameters
from regard.objectives.masked_lm import MaskedObjective
from regard.progress import SILENT, Progress
from regard.tasks.data import Prepared
from regard.tasks.init_from import load_pretrained, start_facts, start_of
from regard.tasks.language_model.prepare import corpus_folder, language_tokenizer
from regard.tasks.masked_lm.evaluate import MaskedText, masked_figures
from regard.tasks.masked_lm.settings import MaskedSettings
from regard.tasks.model_size import check_size
from regard.text.tokenizer import Tokenizer
from regard.training.device.machine import Machine

Settings = MaskedSettings[ModelSettings]

WORKERS = 3
"""Threads that make sequences while a GPU learns from others: it takes two of them to feed a small model."""
SHORTEST = 8
"""Tokens of a sequence at least."""
FEW_PAIRS = 0.5
"""Share of pairs among sequences under which something is odd about the documents."""


def prepare_masked(
    settings: Settings,
    machine: Machine,
    progress: Progress = SILENT,
    resumed: Bundle | None = None,
    given: Sequence[Pair] | None = None,
) -> Prepared:
    """Tokenize the text (or take it as it was tokenized before), and build the model."""
    if given is not None:
        raise ConfigError(
            "Sentence pairs are for the task translate; a masked language model learns from text files."
        )
    if resumed is None:
        check_held_out(settings.data)
    folder = corpus_folder(settings, settings.init_from)
    start = start_of(settings, resumed)
    known = resumed or start
    tokenizer = known.tokenizers["tokenizer"] if known else language_tokenizer(settings, folder, progress)
    corpora = tokenize_all(settings.data, tokenizer, folder, progress)
    bundle = resumed or new_masked_bundle(settings, tokenizer, machine, start)
    if start and MASKED_WORDS in start.facts.get(UNTRAINED, ()):
        progress.say(f"{settings.init_from} has no head for masked words: that one learns from nothing.")
    has_pairs = bundle.model.next_sentence is not None
    is_apart = not settings.sequences.pack_documents
    if has_pairs:
        check_documents(corpora, settings, progress)
    stages = stages_of(settings, corpora.train, tokenizer, bundle)
    if has_pairs:
        check_pairs(stages[-1].pairs, settings, progress)
    masker = Masker(settings.masking, tokenizer)
    texts = {
        name: MaskedText(
            SentencePairSampler(corpus, Marks.of(tokenizer), bundle.facts["length"], has_pairs, is_apart=is_apart),
            masker,
        )
        for name, corpus in {"valid": corpora.valid, **corpora.test}.items()
    }
    check_masks({settings.data.train.name: MaskedText(stages[-1].pairs, masker), **texts})
    return Prepared(
        bundle=bundle,
        feed=MaskedFeed(
            stages,
            masker,
            settings.train.tokens_per_update,
            settings.train.micro_batch_tokens or machine.micro_batch_tokens,
            settings.seed,
            0 if machine.device.type == "cpu" else WORKERS,
        ),
        objective=MaskedObjective(settings.objective.nsp_weight if has_pairs else 0.0),
        width=settings.model.width,
        validate=_validation(texts["valid"], settings, machine),
        tests={name: texts[name] for name in corpora.test or ("valid",)},
        facts=_facts(corpora, bundle, folder),
    )


def new_masked_bundle(
    settings: Settings, tokenizer: Tokenizer, machine: Machine, start: Bundle | None = None
) -> Bundle:
    """Return a fresh model with its tokenizer, or the one to go on with; a size that cannot be trained is refused."""
    size = start.vocabularies.target if start else tokenizer.size
    vocabularies = Vocabularies(size, size, is_shared=True)
    check_size(count_parameters(settings.model, vocabularies), machine)
    torch.manual_seed(settings.seed)
    model: Any = build_model(settings.model, vocabularies)
    length = length_of(settings.sequences, model.max_positions)
    early = settings.sequences.phase1_length
    facts: dict[str, Any] = {
        "seed": settings.seed,
        "length": length,
        "sentences": settings.data.sentences,
        "pack_documents": settings.sequences.pack_documents,
        "masking": settings.masking.model_dump(mode="json"),
        # Decided once: a run that is resumed for more steps goes on with long sequences.
        "early_updates": round(settings.sequences.phase1_fraction * settings.train.steps) if early else 0,
    }
    if start:
        facts |= load_pretrained(model, start, settings)  # the head for next sentences may go, or be new
        facts |= {name: start.facts[name] for name in ("embed",) if name in start.facts}
        if model.next_sentence is None and POOLER in start.facts.get(UNTRAINED, ()):
            facts[UNTRAINED] = [POOLER]
    return Bundle("masked-language-model", model, settings.model, vocabularies, {"tokenizer": tokenizer}, facts)


def length_of(settings: SequenceSettings, bound: int) -> int:
    """Return how many tokens a sequence has at most."""
    length = settings.length or bound
    if length > bound:
        raise ConfigError(
            f"sequences.length: {length:,} tokens are more than the {bound:,} places the model has; lower it, or "
            f"raise model.max_positions."
        )
    if length < SHORTEST:
        raise ConfigError(
            f"sequences.length: {length:,} tokens leave no room for a sentence between their marks; {SHORTEST} are "
            f"needed (see model.max_positions, {bound:,} places)."
        )
    if settings.phase1_length is not None and settings.phase1_length >= length:
        raise ConfigError(
            f"sequences.phase1_length: {settings.phase1_length:,} tokens are not fewer than the {length:,} of later "
            f"sequences; lower it, or leave it out."
        )
    return length


def stages_of(settings: Settings, corpus: Corpus, tokenizer: Tokenizer, bundle: Bundle) -> list[Stage]:
    """Return how sequences are made: at first short ones, where that is asked for, then long ones."""
    has_pairs = bundle.model.next_sentence is not None
    short_sequence_fraction, is_apart = (
        settings.sequences.short_sequence_fraction,
        not settings.sequences.pack_documents,
    )
    made = lambda length: SentencePairSampler(
        corpus, Marks.of(tokenizer), length, has_pairs, short_sequence_fraction, is_apart
    )
    early, updates = settings.sequences.phase1_length, int(bundle.facts["early_updates"])
    first = [Stage(made(early), updates)] if early is not None and updates else []
    return [*first, Stage(made(bundle.facts["length"]))]


def check_documents(corpora: TextSplits, settings: Settings, progress: Progress) -> None:
    """Refuse text that next sentences cannot be learned from."""
    if corpora.train.counts.documents < 2:
        raise DataError(
            f"{settings.data.train.name}: this is one document, and half of all pairs need another; part it (see "
            f"data.train.documents, now {settings.data.train.documents}), or say model.next_sentence_head=false."
        )
    if corpora.valid.counts.documents < 2 and settings.preflight:
        progress.warn(
            "The validation text is one document, so next sentences are not measured there; name another with "
            "data.valid, or part it (data.train.documents)."
        )


def check_pairs(pairs: SentencePairSampler, settings: Settings, progress: Progress) -> None:
    """Refuse text without pairs, and say where there are few."""
    share, name = pairs.pair_share, settings.data.train.name
    if share == 0:
        raise DataError(
            f"{name}: no document has two sentences, so there are no pairs; see data.train.documents (now "
            f"{settings.data.train.documents}) and data.sentences, or say model.next_sentence_head=false."
        )
    if share < FEW_PAIRS and settings.preflight:
        progress.warn(
            f"{name}: only {share:.0%} of the sequences are pairs, as most documents have one sentence; see "
            f"data.train.documents (now {settings.data.train.documents}) and data.sentences."
        )


def check_masks(texts: Mapping[str, MaskedText]) -> None:
    """Refuse texts, by name, in which no token can be masked: nothing is learned or measured there."""
    for name, text in texts.items():
        if not has_masked_tokens(text.pairs, text.masker):
            raise DataError(
                f"{name}: no token of this text can be masked, as it has no words or the tokenizer knows none of "
                f"them; add other text, or name another tokenizer with text.tokenizer."
            )


def _validation(text: MaskedText, settings: Settings, machine: Machine) -> Callable[[Any], dict[str, float]]:
    """Return the function the loop validates with: the same text, with the same masks, each time."""
    weight = settings.objective.nsp_weight

    def validate(model: Any) -> dict[str, float]:
        return masked_figures(model, text, machine, settings.validation.tokens).named(weight)

    return validate


def _facts(corpora: TextSplits, bundle: Bundle, folder: Path) -> dict[str, Any]:
    sets = {"train": corpora.train, "valid": corpora.valid} | {f"test {k}": v for k, v in corpora.test.items()}
    return {name: asdict(corpus.counts) for name, corpus in sets.items()} | {
        "window": bundle.facts["length"],
        "folder": str(folder),
        "hash": hashlib.sha256(f"{corpora.train.fingerprint} {corpora.valid.fingerprint}".encode()).hexdigest(),
        **start_facts(bundle),
    }
