"""The tokenizer of running text: trained once and kept beside the tokenized text."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.checkpoint.atomic import write_json
from regard.config.records import Count, Record, check_record, read_json
from regard.data.settings.text import TextSource
from regard.data.sources.lines import read_lines
from regard.data.sources.text_files import Input, find_inputs, nothing_in
from regard.errors import ConfigError, DataError, RegardError
from regard.progress import SILENT, Progress
from regard.text.settings import CorpusTextSettings, TokenizerSettings
from regard.text.tokenizer import Tokenizer
from regard.text.training import train_tokenizer

SAMPLE_BYTES = 64 * 2**20
"""Bytes of text that a tokenizer is trained on at most, sampled evenly."""
KEPT_FRACTION = 0.5
"""Fraction of the text that a tokenizer must have been trained on to be kept when the text has grown."""
TOKENIZER, MADE_FROM = "tokenizer.json", "tokenizer-made-from.json"


class SignRecord(Record):
    """Size, time and hash of an input file."""

    glance: list[int | str]
    sha256: str


class WordFacts(Record):
    """Totals of counting words."""

    words_read: Count
    pruned_below: Count | None


class MadeFrom(Record):
    """The inputs of a tokenizer."""

    inputs: dict[str, SignRecord]
    facts: WordFacts | None = None


def corpus_tokenizer(
    source: TextSource, text: CorpusTextSettings, folder: Path, progress: Progress = SILENT
) -> Tokenizer:
    """Return the tokenizer of a text: the one named, the one kept from (most of) this text, or a new one."""
    if text.tokenizer:
        return Tokenizer.load(Path(text.tokenizer))
    inputs, before = find_inputs(source), made_before(folder)
    reading = {"text": text.model_dump(mode="json"), "max_rows": source.max_rows}
    made_from = reading | {"inputs": {each.name: sign_of(each, before["inputs"].get(each.name)) for each in inputs}}
    if {name: before.get(name) for name in reading} == reading:
        known = [each for each in inputs if _is_same(before["inputs"].get(each.name), made_from["inputs"][each.name])]
        kept = _kept_tokenizer(folder, inputs, known)
        if kept is not None:
            if len(known) < len(inputs):
                progress.info(
                    f"{folder / TOKENIZER}: trained on {len(known):,} of these {len(inputs):,} inputs before, and "
                    f"kept, so that only the others are tokenized; delete it to train one on all."
                )
            return kept
    sample = list(sample_text(source))
    if not sample:
        raise nothing_in(source)
    tokenizer = train_tokenizer(sample, text, progress)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / MADE_FROM).unlink(missing_ok=True)
        tokenizer.save(folder / TOKENIZER)
        write_json(folder / MADE_FROM, made_from)
    except OSError as error:
        raise DataError(f"{folder}: the tokenizer cannot be written ({error.strerror}); free some space.") from None
    return tokenizer


def made_before(folder: Path) -> dict[str, Any]:
    """Return the inputs of the tokenizer in a folder; none where there is no tokenizer, or an incomplete one."""
    try:
        values = read_json(folder / MADE_FROM, DataError, "the inputs of a tokenizer", decoding="surrogateescape")
        check_record(values, folder / MADE_FROM, MadeFrom, DataError, "the inputs of a tokenizer")
        return dict(values)
    except (FileNotFoundError, DataError):
        return {"inputs": {}}


def sign_of(each: Input, before: Any) -> dict[str, Any]:
    """Return an input's glance (size and time) and hash; an unchanged glance spares hashing it again."""
    glance = each.glance()
    if isinstance(before, dict) and before.get("glance") == glance:
        return before
    return {"glance": glance, "sha256": each.fingerprint()}


def _is_same(before: Any, now: dict[str, Any]) -> bool:
    return isinstance(before, dict) and before.get("sha256") == now["sha256"]


def _kept_tokenizer(folder: Path, inputs: Sequence[Input], known: Sequence[Input]) -> Tokenizer | None:
    """Return the tokenizer of a folder if its inputs are most of the text there is now."""
    if sum(each.size or 1 for each in known) < KEPT_FRACTION * sum(each.size or 1 for each in inputs):
        return None
    try:
        return Tokenizer.load(folder / TOKENIZER)
    except (OSError, RegardError):
        return None


def sample_text(source: TextSource, limit: int = SAMPLE_BYTES) -> Iterator[str]:
    """Yield chunks of text sampled evenly from a source, about `limit` bytes in all."""
    inputs = find_inputs(source)
    whole = sum(each.size or limit for each in inputs)
    step, documents = max(1, -(-whole // limit)), 0
    for each in inputs:
        for number, chunk in enumerate(each.pieces()):
            if number % step == 0:
                yield chunk.text
            documents += chunk.is_last
            if documents == source.max_rows:
                return


@dataclass(frozen=True)
class TrainedTokenizer:
    """A tokenizer that was trained on files."""

    path: Path
    size: int
    tokens_per_word: float
    unknown: int
    """Unknown tokens in the text that it was trained on."""

    @property
    def summary(self) -> str:
        """These in one line."""
        return (
            f"{self.path}: vocabulary of {self.size:,} tokens, {self.tokens_per_word:.2f} tokens per word, "
            f"{self.unknown:,} unknown."
        )


def train_on_files(
    files: Sequence[Path],
    settings: TokenizerSettings,
    out: Path,
    overwrite: bool = False,
    progress: Progress = SILENT,
) -> TrainedTokenizer:
    """Train a tokenizer on text files, write it, and return what it does to their text."""
    if out.is_file() and not overwrite:
        raise ConfigError(f"{out}: the file exists; choose another with --out, or give --overwrite.")
    lines = [line for file in files for line in read_lines(file)]
    tokenizer = train_tokenizer(lines, settings, progress)
    out.parent.mkdir(parents=True, exist_ok=True)
    tokenizer.save(out)
    encoded = tokenizer.encode_batch(lines)
    tokens, words = sum(map(len, encoded)), sum(len(line.split()) for line in lines)
    unknown = sum(ids.count(tokenizer.unk_id) for ids in encoded)
    return TrainedTokenizer(out, tokenizer.size, tokens / words, unknown)
