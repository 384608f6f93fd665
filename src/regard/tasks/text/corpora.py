"""Tokenized corpora of a run: their folder, their counts, and the sets that are scored on."""

import hashlib
import json
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from regard.config.settings import Settings
from regard.data.corpus.claims import Claims
from regard.data.corpus.corpus import Corpus
from regard.data.corpus.shards import tokenize
from regard.data.corpus.splits import TextSplits, check_held_out, tokenize_all
from regard.data.corpus.together import WORK
from regard.data.settings.text import LanguageData, SentenceRule, TextData, TextSource, WordData
from regard.errors import ConfigError, DataError
from regard.models.base.settings import ModelSettings
from regard.processes import world_size
from regard.progress import SILENT, Progress
from regard.tasks.card import source_of
from regard.tasks.data import EvalSet, TextTaskData
from regard.tasks.declarations import Context
from regard.tasks.record import RunRecord
from regard.tasks.text.records import TextReport
from regard.tasks.text.settings import TextRunSettings
from regard.tasks.text.tokenizer import corpus_tokenizer
from regard.text.tokenizer import Tokenizer
from regard.training.device.machine import Machine, prepare_machine
from regard.training.settings import MachineSettings


def corpus_folder(data: TextData | WordData, text: Settings, init_from: str | None = None) -> Path:
    """Return the folder of a tokenized text, the same for all runs that tokenize the same text in the same way.

    A pretrained model brings its own tokenizer.
    """
    if data.folder is not None:
        return Path(data.folder)
    values = data.model_dump(mode="json")
    for source in (values["train"], values.get("valid"), *values.get("test", {}).values()):
        if source is not None:
            source.pop("path", None)  # a table has no such folder
    key: dict[str, Any] = {"data": values, "text": text.model_dump(mode="json")}
    if init_from is not None:
        key["init_from"] = init_from
    digest = hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()[:8]
    first = data.train.paths[0].replace(":", "-")
    return Path("corpora") / f"{Path(first).name.partition('.')[0] or 'text'}-{digest}"


def load_text(settings: TextRunSettings[ModelSettings], context: Context) -> TextTaskData:
    """Return the text tokenized, or as it was tokenized before."""
    if context.resumed is None:
        check_held_out(settings.data)
    folder = corpus_folder(settings.data, settings.text, settings.init_from)
    known, progress, share = context.known, context.progress, context.shares or world_size() > 1
    if known:
        tokenizer = known.tokenizers["tokenizer"]
    else:
        with Claims(folder / WORK).held("tokenizer") if share else nullcontext():
            tokenizer = corpus_tokenizer(settings.data.train, settings.text, folder, progress)
    corpora = tokenize_all(settings.data, tokenizer, folder, progress, share)
    return TextTaskData(settings, corpora, tokenizer, folder)


def corpus_sets(corpora: TextSplits) -> dict[str, Corpus]:
    """Return every corpus of a run by the name of its set in run.json."""
    tests = {f"test {name}": corpus for name, corpus in corpora.test.items()}
    return {"train": corpora.train, "valid": corpora.valid} | tests


def corpora_report(corpora: TextSplits) -> dict[str, Any]:
    """Return the counts of every set, and the hash of the text that is trained on and validated with."""
    digest = hashlib.sha256(f"{corpora.train.fingerprint} {corpora.valid.fingerprint}".encode()).hexdigest()
    return {name: asdict(corpus.counts) for name, corpus in corpus_sets(corpora).items()} | {"hash": digest}


def text_sets(
    source: TextSource | None,
    record: RunRecord | None,
    schema: type[TextData],
    tokenizer: Tokenizer,
    folder: Path,
    progress: Progress = SILENT,
    sentences: SentenceRule | None = None,
) -> dict[str, EvalSet]:
    """Return the text at a source, or a run's own test sets (its validation set where it has none), by name."""
    if source is not None:
        corpus = tokenize(source, tokenizer, folder, progress, sentences=sentences)
        return {source.name: EvalSet(source.name, corpus, source=source, tokenizer=tokenizer)}
    assert record is not None, "the caller gives a source or a record"
    data, folder = record.data_settings(schema), Path(text_report(record).folder)
    rule = getattr(data, "sentences", None)
    test = {
        name: tokenize(each, tokenizer, folder / f"test-{name}", progress, sentences=rule)
        for name, each in data.test.items()
    }
    return corpus_eval_sets(test or {"valid": tokenize_all(data, tokenizer, folder, progress).valid}, data, tokenizer)


def corpus_eval_sets(corpora: Mapping[str, Corpus], data: TextData, tokenizer: Tokenizer) -> dict[str, EvalSet]:
    """Return tokenized texts as sets to score on, with their sources where they were not held out."""
    sources = {"valid": data.valid} | dict(data.test)
    return {
        name: EvalSet(name, corpus, source=sources[name], tokenizer=tokenizer) for name, corpus in corpora.items()
    }


def retokenized(
    chosen: EvalSet, tokenizer: Tokenizer, folder: Path, progress: Progress, sentences: SentenceRule | None = None
) -> EvalSet:
    """Return a text in the tokens of another model."""
    if chosen.tokenizer.to_json() == tokenizer.to_json():
        return chosen
    if chosen.source is None:
        raise ConfigError(
            f"--against: {chosen.name} was held out of the training text in the tokens of one model, and the other "
            f"has another tokenizer; name a text with --text."
        )
    corpus = tokenize(chosen.source, tokenizer, folder, progress, sentences=sentences)
    return replace(chosen, rows=corpus, tokenizer=tokenizer)


def text_hashes(chosen: EvalSet) -> dict[str, Any]:
    """Return the hash of a text, whatever the tokenizer."""
    return {"sources": chosen.rows.text_hash, "references": []}


def validation_corpus(
    record: RunRecord, tokenizer: Tokenizer, progress: Progress = SILENT, schema: type[TextData] = LanguageData
) -> Corpus:
    """Return the validation text of a run, if its tokenized text still exists."""
    if not text_report(record).folder:
        raise DataError(f"{record.path}: it was trained on conversations, and has no running text.")
    data, folder = record.data_settings(schema), Path(text_report(record).folder)
    if not folder.is_dir():
        raise DataError(f"{folder}: the tokenized text of {record.path} is not here any more.")
    if data.valid is not None:
        rule = getattr(data, "sentences", None)
        return tokenize(data.valid, tokenizer, folder / "valid", progress, sentences=rule)
    return tokenize_all(data, tokenizer, folder, progress).valid


def text_report(record: RunRecord) -> TextReport:
    """Return the data report of a run on running text."""
    report = record.report
    assert isinstance(report, TextReport)
    return report


def text_rows(record: RunRecord) -> list[list[Any]]:
    """Return the rows of a card's data table: set, source, documents, tokens, bytes and words."""
    return [
        [name, source_of(record.settings.data, name), *(f"{value:,}" for value in counts.model_dump().values())]
        for name, counts in text_report(record).sets.items()
    ]


def scoring_machine(device: Any) -> Machine:
    """Return the machine that scores are computed on: a pipeline's device, in fp32."""
    return prepare_machine(MachineSettings(device=str(device), precision="fp32"))
