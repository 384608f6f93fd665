"""The task `language-model`: running text in, a model that is ready to learn from it out."""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from regard.checkpoint.atomic import write_json
from regard.checkpoint.bundle import Bundle
from regard.config.records import Count, Record, check_record, read_json
from regard.data.corpus.corpus import Corpus
from regard.data.corpus.splits import TextSplits, check_held_out, tokenize_all
from regard.data.feeds.windows import WindowFeed
from regard.data.settings.text import TextSource
from regard.data.sources.pair import Pair
from regard.data.sources.text_files import Input, find_inputs, nothing_in
from regard.errors import ConfigError, DataError, RegardError
from regard.models.base.protocols import ModelSettings, Vocabularies
from regard.models.families import build_model, count_parameters
from regard.objectives.language_model import LanguageObjective
from regard.progress import SILENT, Progress
from regard.runs.preflight import preflight
from regard.tasks.data import Prepared
from regard.tasks.embedding_init import fill_tables, freeze_tables
from regard.tasks.init_from import load_pretrained, start_facts, start_of
from regard.tasks.language_model.evaluate import USUAL_WINDOW, text_loss
from regard.tasks.masked_lm.settings import MaskedSettings
from regard.tasks.model_size import check_size
from regard.tasks.translate.data import TextTaskData
from regard.tasks.translate.settings import LanguageSettings
from regard.text.tokenizer import Tokenizer
from regard.text.training import train_tokenizer
from regard.training.device.machine import Machine

Settings = LanguageSettings[ModelSettings]

LEARNED_FROM = 64 * 2**20
"""Bytes of text that a tokenizer is trained on at most, taken from all over it."""
MOST_OF_IT = 0.5
"""The share of the text that a tokenizer must have been made from to be kept when more text comes."""
TOKENIZER, MADE_FROM = "tokenizer.json", "tokenizer-made-from.json"


class SignRecord(Record):
    """What an input looked like."""

    glance: list[int | str]
    sha256: str


class WordFacts(Record):
    """What was found while words were counted."""

    words_read: Count
    forgotten_below: Count | None


class MadeFrom(Record):
    """What a tokenizer was made from."""

    inputs: dict[str, SignRecord]
    facts: WordFacts | None = None


def prepare_language(
    settings: Settings,
    machine: Machine,
    progress: Progress = SILENT,
    resumed: Bundle | None = None,
    given: Sequence[Pair] | None = None,
) -> Prepared:
    """Tokenize the text (or take it as it was tokenized before), and build the model."""
    if given is not None:
        raise ConfigError("Sentence pairs are for the task translate; a language model learns from text files.")
    if resumed is None:
        check_held_out(settings.data)
    folder = corpus_folder(settings, settings.init_from)
    start = start_of(settings, resumed)
    known = resumed or start
    tokenizer = known.tokenizers["tokenizer"] if known else language_tokenizer(settings, folder, progress)
    corpora = tokenize_all(settings.data, tokenizer, folder, progress)
    bundle = resumed or new_language_bundle(settings, tokenizer, machine, progress, start)
    freeze_tables(bundle.model, bundle.tokenizers, settings.vectors)
    window = window_of(settings, bundle.model)
    micro_batch = settings.train.micro_batch_tokens or machine.micro_batch_tokens
    prepared = Prepared(
        bundle=bundle,
        feed=WindowFeed(corpora.train, window, settings.train.tokens_per_update, micro_batch, settings.seed),
        objective=LanguageObjective(settings.objective.label_smoothing),
        width=settings.model.width,
        validate=_validation(corpora.valid, tokenizer, window, settings, machine),
        tests=corpora.test or {"valid": corpora.valid},
        facts=_facts(corpora, window, folder) | start_facts(bundle),
    )
    if settings.preflight and resumed is None and progress is not SILENT:  # nobody would hear it
        preflight(text_material(settings, prepared, corpora), progress)
    return prepared


def text_material(
    settings: Settings | MaskedSettings[ModelSettings], prepared: Prepared, corpora: TextSplits | None = None
) -> TextTaskData:
    """Return the text of a run that is made ready, for checks; it is tokenized already."""
    bundle = prepared.bundle
    folder = corpus_folder(settings, settings.init_from)
    found = corpora or tokenize_all(settings.data, bundle.tokenizers["tokenizer"], folder)
    window = int(prepared.facts["window"] if "window" in prepared.facts else bundle.facts["length"])
    return TextTaskData(settings, found, bundle, window, prepared.feed.updates_in(epoch=0))


def corpus_folder(settings: Any, start: str | None = None) -> Path:
    """Return where the tokenized text of a run is kept, for all runs that read the same text in the same way.

    A start brings a tokenizer of its own along.
    """
    if settings.data.folder is not None:
        return Path(settings.data.folder)
    read: dict[str, Any] = {
        "data": settings.data.model_dump(mode="json"),
        "text": settings.text.model_dump(mode="json"),
    }
    if start is not None:
        read["init_from"] = start
    mark = hashlib.sha256(json.dumps(read, sort_keys=True).encode()).hexdigest()[:8]
    first = settings.data.train.paths[0].replace(":", "-")
    return Path("corpora") / f"{Path(first).name.partition('.')[0] or 'text'}-{mark}"


def language_tokenizer(
    settings: Settings | MaskedSettings[ModelSettings], folder: Path, progress: Progress = SILENT
) -> Tokenizer:
    """Return the tokenizer of a run: a ready-made one, the one made of (most of) this text before, or a new one."""
    if settings.text.tokenizer:
        return Tokenizer.load(Path(settings.text.tokenizer))
    place = settings.data.train
    inputs, before = find_inputs(place), made_before(folder)
    reading = {"text": settings.text.model_dump(mode="json"), "max_rows": place.max_rows}
    made_from = reading | {"inputs": {each.name: sign_of(each, before["inputs"].get(each.name)) for each in inputs}}
    if {name: before.get(name) for name in reading} == reading:
        known = [each for each in inputs if _is_same(before["inputs"].get(each.name), made_from["inputs"][each.name])]
        kept = _kept_tokenizer(folder, inputs, known)
        if kept is not None:
            if len(known) < len(inputs):
                progress.say(
                    f"{folder / TOKENIZER}: made of {len(known):,} of these {len(inputs):,} inputs before, and kept, "
                    f"so that only the others are tokenized; delete it to have one made of all."
                )
            return kept
    sample = list(sample_text(place))
    if not sample:
        raise nothing_in(place)
    tokenizer = train_tokenizer(sample, settings.text, progress)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / MADE_FROM).unlink(missing_ok=True)
        tokenizer.save(folder / TOKENIZER)
        write_json(folder / MADE_FROM, made_from)
    except OSError as error:
        raise DataError(f"{folder}: the tokenizer cannot be written ({error.strerror}); make room there.") from None
    return tokenizer


def made_before(folder: Path) -> dict[str, Any]:
    """Return what the tokenizer of a folder was made from; no inputs where there is none, or not all of it."""
    try:
        found = read_json(folder / MADE_FROM, DataError, "what a tokenizer was made from", decoding="surrogateescape")
        check_record(found, folder / MADE_FROM, MadeFrom, DataError, "what a tokenizer was made from")
        return dict(found)
    except (FileNotFoundError, DataError):
        return {"inputs": {}}


def sign_of(each: Input, before: Any) -> dict[str, Any]:
    """Return an input's glance and hash; one that looks as it did before is not read for it."""
    glance = each.glance()
    if isinstance(before, dict) and before.get("glance") == glance:
        return before
    return {"glance": glance, "sha256": each.fingerprint()}


def _is_same(before: Any, now: dict[str, Any]) -> bool:
    return isinstance(before, dict) and before.get("sha256") == now["sha256"]


def _kept_tokenizer(folder: Path, inputs: Sequence[Input], known: Sequence[Input]) -> Tokenizer | None:
    """Return the tokenizer of a folder if the inputs it was made from are most of the text there is now."""
    if sum(each.size or 1 for each in known) < MOST_OF_IT * sum(each.size or 1 for each in inputs):
        return None
    try:
        return Tokenizer.load(folder / TOKENIZER)
    except (OSError, RegardError):
        return None


def sample_text(place: TextSource, limit: int = LEARNED_FROM) -> Iterator[str]:
    """Yield pieces of text from all over a place, some `limit` bytes in all."""
    inputs = find_inputs(place)
    whole = sum(each.size or limit for each in inputs)
    step, documents = max(1, -(-whole // limit)), 0
    for each in inputs:
        for number, piece in enumerate(each.pieces()):
            if number % step == 0:
                yield piece.text
            documents += piece.is_last
            if documents == place.max_rows:
                return


def new_language_bundle(
    settings: Settings,
    tokenizer: Tokenizer,
    machine: Machine,
    progress: Progress = SILENT,
    start: Bundle | None = None,
) -> Bundle:
    """Return a fresh model with its tokenizer, or the one to go on with; a size that cannot be trained is refused."""
    size = start.vocabularies.target if start else tokenizer.size
    vocabularies = Vocabularies(size, size, is_shared=True)
    check_size(count_parameters(settings.model, vocabularies), machine)
    torch.manual_seed(settings.seed)
    model = build_model(settings.model, vocabularies)
    facts = {
        "generate": settings.generate.model_dump(mode="json"),
        "seed": settings.seed,
        "window": window_of(settings, model),
    }
    facts |= fill_tables(model, {"tokenizer": tokenizer}, settings.vectors, progress)
    if start:
        facts |= load_pretrained(model, start, settings)
    return Bundle("language-model", model, settings.model, vocabularies, {"tokenizer": tokenizer}, facts)


def window_of(settings: Settings, model: Any) -> int:
    """Return how many tokens are read at once."""
    bound: int | None = model.max_positions
    if settings.window is None:
        return bound or USUAL_WINDOW
    if bound is not None and settings.window > bound:
        raise ConfigError(
            f"window: {settings.window:,} tokens are more than the {bound:,} places the model has; lower it, or "
            f"raise model.max_positions."
        )
    return settings.window


def _validation(
    valid: Corpus, tokenizer: Tokenizer, window: int, settings: Settings, machine: Machine
) -> Callable[[Any], dict[str, float]]:
    """Return the function the loop validates with: the loss of the same text each time."""
    looked_at = min(settings.validation.tokens, len(valid))

    def validate(model: Any) -> dict[str, float]:
        found = text_loss(model, valid, tokenizer.eos_id, window, window, machine, looked_at)
        return {"loss": found.loss, "perplexity": found.perplexity}

    return validate


def _facts(corpora: TextSplits, window: int, folder: Path) -> dict[str, Any]:
    sets = {"train": corpora.train, "valid": corpora.valid} | {f"test {k}": v for k, v in corpora.test.items()}
    return {name: asdict(corpus.counts) for name, corpus in sets.items()} | {
        "window": window,
        "folder": str(folder),
        "hash": hashlib.sha256(f"{corpora.train.fingerprint} {corpora.valid.fingerprint}".encode()).hexdigest(),
    }
