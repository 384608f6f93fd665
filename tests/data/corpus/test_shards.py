"""Text is tokenized once: re-used, added to, continued after a kill, and never read half."""

import errno
import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import tokenizers
from tokenizers import models, pre_tokenizers

from regard import miniature
from regard.data.corpus import manifest
from regard.data.corpus import shards as shards_module
from regard.data.corpus.corpus import TextCounts
from regard.data.corpus.shards import tokenize
from regard.data.settings.text import TextSource
from regard.data.sources.documents import CHUNK
from regard.data.sources.text_files import read_documents
from regard.errors import DataError
from regard.progress import Bar, Progress
from regard.text.settings import TokenizerSettings
from regard.text.tokenizer import SPECIAL_TOKENS, Tokenizer
from regard.text.training import train_tokenizer

SENTENCES = [pair.target for pair in miniature.pairs("train", 400)]
KINDS = [
    TokenizerSettings(size=400, pretokenizer="byte-level"),
    TokenizerSettings(size=400),
    TokenizerSettings(size=400, kind="wordpiece"),
    TokenizerSettings(size=400, kind="unigram"),
    TokenizerSettings(size=400, kind="word"),
    TokenizerSettings(size=400, kind="char"),
]


@pytest.fixture(scope="module")
def tokenizer():
    return train_tokenizer(SENTENCES, KINDS[0])


class Counting(Progress):
    """Counts the bytes that were read."""

    def __init__(self):
        self.read = 0

    @contextmanager
    def bar(self, title, total=None, done=0):
        bar = Bar()
        bar.advance = self.count
        yield bar

    def count(self, amount, tokens_per_second):
        self.read += amount


def write(path, number, count=300):
    path.write_text("\n".join(SENTENCES[(number * 37 + place) % 400] for place in range(count)), encoding="utf-8")
    return path


def folder_of_text(tmp_path, count=4):
    folder = tmp_path / "text"
    folder.mkdir()
    for number in range(count):
        write(folder / f"{number}.txt", number)
    return TextSource(paths=(str(folder),), documents="lines")


def is_reading():
    return "ahead" in {thread.name for thread in threading.enumerate()}


def ids(corpus):
    return corpus.read(0, len(corpus)).tolist()


def expected(place, tokenizer):
    return [number for text in read_documents(place) for number in (*tokenizer.encode(text).ids, tokenizer.eos_id)]


def test_the_stream_is_all_documents_with_an_end_token_each(tmp_path, tokenizer):
    place = folder_of_text(tmp_path)
    corpus = tokenize(place, tokenizer, tmp_path / "out", shard_tokens=1000)
    assert ids(corpus) == expected(place, tokenizer)
    assert len(list((tmp_path / "out").glob("*.ids.npy"))) > 3
    documents = list(read_documents(place))
    assert [tokenizer.decode(corpus.read(begin, end)) for begin, end in corpus.documents()] == documents
    assert corpus.counts == TextCounts(
        documents=len(documents),
        tokens=len(corpus),
        bytes=sum(len(text.encode()) for text in documents),
        words=sum(len(text.split()) for text in documents),
        lines=0,
    )


def test_any_stretch_can_be_read(tmp_path, tokenizer):
    corpus = tokenize(folder_of_text(tmp_path), tokenizer, tmp_path / "out", shard_tokens=700)
    whole, draw = ids(corpus), np.random.default_rng(1)
    for begin, end in np.sort(draw.integers(0, len(corpus) + 1, (50, 2))).tolist():
        assert corpus.read(begin, end).tolist() == whole[begin:end]


@pytest.mark.parametrize("settings", KINDS, ids=lambda settings: f"{settings.kind}-{settings.pretokenizer}")
@pytest.mark.parametrize("gap", ["\n", "\n\n", "  \n \t\n   ", " "])
def test_cutting_a_document_into_pieces_changes_no_token(tmp_path, settings, gap):
    tokenizer = train_tokenizer(SENTENCES, settings)
    text = gap.join(SENTENCES * 3) + "\n"
    assert len(text) > 5 * CHUNK
    (tmp_path / "a.txt").write_text(text)
    corpus = tokenize(TextSource(paths=(str(tmp_path / "a.txt"),)), tokenizer, tmp_path / "out", shard_tokens=2000)
    assert ids(corpus) == [*tokenizer.encode(text).ids, tokenizer.eos_id]
    assert corpus.counts.bytes == len(text) and corpus.counts.words == len(text.split())
    assert corpus.counts.lines == text.count("\n") and list(corpus.documents()) == [(0, len(corpus))]


def test_odd_text_comes_back_to_the_byte(tmp_path, tokenizer):
    text = "</s> \x00\u2028\U0001f469\u200d\U0001f680 e\u0301\u0335 \u202e﷽\U0010ffff\x85 \r Ω" * 500
    (tmp_path / "a.txt").write_bytes(text.encode())
    corpus = tokenize(TextSource(paths=(str(tmp_path / "a.txt"),)), tokenizer, tmp_path / "out")
    assert tokenizer.decode(corpus.read(0, len(corpus))) == text
    assert corpus.counts.bytes == len(text.encode()) and corpus.counts.documents == 1


def test_ids_take_two_bytes_where_they_fit_and_four_where_not(tmp_path, tokenizer):
    place = folder_of_text(tmp_path, 1)
    assert tokenize(place, tokenizer, tmp_path / "small").shards.ids("000000").dtype == np.uint16
    vast = json.loads(tokenizer.to_json())
    vast["model"]["vocab"]["qqqqq"] = 2**16
    large = Tokenizer.parse(json.dumps(vast), "vast")
    corpus = tokenize(place, large, tmp_path / "large")
    assert corpus.shards.ids("000000").dtype == np.uint32 and ids(corpus) == expected(place, tokenizer)


def test_nothing_is_read_again_when_nothing_has_changed(tmp_path, tokenizer):
    place = folder_of_text(tmp_path)
    once, again = Counting(), Counting()
    first = tokenize(place, tokenizer, tmp_path / "out", once)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").iterdir() if path.suffix}
    second = tokenize(place, tokenizer, tmp_path / "out", again)
    assert once.read == sum(path.stat().st_size for path in (tmp_path / "text").iterdir()) and again.read == 0
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert ids(first) == ids(second) and first.fingerprint == second.fingerprint


def test_a_file_that_was_only_touched_is_not_read_again(tmp_path, tokenizer):
    place = folder_of_text(tmp_path)
    tokenize(place, tokenizer, tmp_path / "out")
    os.utime(tmp_path / "text" / "1.txt", (1, 1))
    again = Counting()
    tokenize(place, tokenizer, tmp_path / "out", again)
    entries = json.loads((tmp_path / "out" / "manifest.json").read_text())["inputs"]
    assert again.read == 0 and entries[str(tmp_path / "text" / "1.txt")]["glance"][1] == 10**9


@pytest.mark.parametrize("change", ["a new file", "a changed file", "a file less", "all at once"])
def test_only_what_changed_is_tokenised_and_the_stream_is_as_from_scratch(tmp_path, tokenizer, change):
    place, text, read = folder_of_text(tmp_path), tmp_path / "text", 0
    first = tokenize(place, tokenizer, tmp_path / "out", shard_tokens=1500)
    if change in ("a new file", "all at once"):
        read += write(text / "05.txt", 9).stat().st_size  # sorts into the middle
    if change in ("a changed file", "all at once"):
        read += write(text / "1.txt", 11, 200).stat().st_size
    if change in ("a file less", "all at once"):
        (text / "2.txt").unlink()
    progress = Counting()
    added = tokenize(place, tokenizer, tmp_path / "out", progress, shard_tokens=1500)
    scratch = tokenize(place, tokenizer, tmp_path / "other")
    assert progress.read == read and ids(added) == ids(scratch) == expected(place, tokenizer)
    assert added.counts == scratch.counts and added.fingerprint == scratch.fingerprint != first.fingerprint


def test_shards_that_nothing_needs_any_more_are_deleted_and_their_names_not_used_again(tmp_path, tokenizer):
    place = folder_of_text(tmp_path, 1)
    tokenize(place, tokenizer, tmp_path / "out")
    (tmp_path / "out" / "123.npy").touch()  # not ours
    write(tmp_path / "text" / "0.txt", 5)
    tokenize(place, tokenizer, tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out").glob("*.npy")) == [
        "000001.ids.npy",
        "000001.pieces.npy",
        "123.npy",
    ]


def test_another_tokenizer_or_another_way_of_reading_makes_all_anew(tmp_path, tokenizer):
    place = folder_of_text(tmp_path)
    tokenize(place, tokenizer, tmp_path / "out")
    other = train_tokenizer(SENTENCES, TokenizerSettings(size=350, pretokenizer="byte-level"))
    assert ids(tokenize(place, other, tmp_path / "out")) == expected(place, other)
    whole = place.model_copy(update={"documents": "file"})
    assert ids(tokenize(whole, other, tmp_path / "out")) == expected(whole, other)


def test_count_takes_the_first_documents_and_may_change(tmp_path, tokenizer):
    place = folder_of_text(tmp_path)
    for count in (450, 10, 700, 300, None, 450):
        some = place.model_copy(update={"max_rows": count})
        corpus = tokenize(some, tokenizer, tmp_path / "out", shard_tokens=1500)
        assert ids(corpus) == expected(some, tokenizer) and corpus.counts.documents == (count or 1200)


@pytest.mark.parametrize("damage", ["lost", "cut", "no manifest", "no JSON", "another JSON"])
def test_what_is_damaged_is_made_anew(tmp_path, tokenizer, damage):
    place, out = folder_of_text(tmp_path), tmp_path / "out"
    whole = ids(tokenize(place, tokenizer, out, shard_tokens=1500))
    shard, book = out / "000001.ids.npy", out / "manifest.json"
    if damage == "lost":
        shard.unlink()
    elif damage == "cut":
        shard.write_bytes(shard.read_bytes()[:-100])
    elif damage == "no manifest":
        book.unlink()
    else:
        book.write_text("{" if damage == "no JSON" else '{"inputs": 3}')
    assert ids(tokenize(place, tokenizer, out, shard_tokens=1500)) == whole


def test_a_shard_that_is_gone_while_it_is_needed_is_told(tmp_path, tokenizer):
    corpus = tokenize(folder_of_text(tmp_path), tokenizer, tmp_path / "out")
    path = tmp_path / "out" / "000000.ids.npy"
    path.unlink()
    with pytest.raises(DataError) as error:
        corpus.read(0, 10)
    assert str(error.value) == (
        f"{path}: this part of the tokenized text is missing or damaged; delete it and start again to rebuild it."
    )


KILLED = """
import sys, time
from pathlib import Path
from regard.data.corpus import shards
from regard.data.settings.text import TextSource
from regard.text.tokenizer import Tokenizer

write = shards.write_array
def slowly(path, array):
    time.sleep(0.02)
    write(path, array)
shards.write_array = slowly
text, tokenizer, out = map(Path, sys.argv[1:])
shards.tokenize(TextSource(paths=(str(text),)), Tokenizer.load(tokenizer), out, shard_tokens=3000)
"""


@pytest.mark.parametrize("shards", [1, 4, 9])
def test_killed_halfway_it_goes_on_and_keeps_what_is_finished(tmp_path, tokenizer, shards):
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / "a.txt").write_text("\n".join(SENTENCES * 8))  # one document, many shards
    write(tmp_path / "text" / "b.txt", 2)
    tokenizer.save(tmp_path / "tokenizer.json")
    out = tmp_path / "out"
    arguments = [str(tmp_path / name) for name in ("text", "tokenizer.json", "out")]
    process = subprocess.Popen([sys.executable, "-c", KILLED, *arguments])
    book = out / "manifest.json"
    deadline = time.monotonic() + 60
    while not book.exists() or len(json.loads(book.read_text())["shards"]) < shards:
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    kept = json.loads(book.read_text())["shards"]
    times = {name: (out / f"{name}.ids.npy").stat().st_mtime_ns for name in kept}
    (out / ".000077.ids.npy.aside").write_bytes(b"half")
    place = TextSource(paths=(arguments[0],))
    corpus = tokenize(place, tokenizer, out, shard_tokens=3000)
    assert ids(corpus) == expected(place, tokenizer)
    assert {name: (out / f"{name}.ids.npy").stat().st_mtime_ns for name in kept} == times
    assert corpus.counts == tokenize(place, tokenizer, tmp_path / "other").counts
    assert not list(out.glob(".*.aside"))


def test_shards_grow_with_what_is_done(tmp_path, tokenizer, monkeypatch):
    """The first ones are small, so that a kill costs little early on, and none is larger than it may be."""
    monkeypatch.setattr(shards_module, "FIRST", 1000)
    (tmp_path / "a.txt").write_text("\n".join(SENTENCES * 12))
    place = TextSource(paths=(str(tmp_path / "a.txt"),))
    monkeypatch.setattr(shards_module, "BATCH", 1)
    corpus = tokenize(place, tokenizer, tmp_path / "out", shard_tokens=6000)
    names = sorted(json.loads((tmp_path / "out" / "manifest.json").read_text())["shards"])
    sizes = [len(np.load(tmp_path / "out" / f"{name}.ids.npy")) for name in names]
    piece = 2000  # what a piece of 4,096 characters comes to at most
    for place_, size in enumerate(sizes[:-1]):
        wanted = min(6000, max(1000, sum(sizes[:place_]) // 4))
        assert wanted <= size < wanted + piece
    assert sizes[0] < 3000 < sizes[-2] and sum(sizes) == len(corpus)


def test_a_full_disk_is_one_sentence_and_loses_nothing(tmp_path, tokenizer, monkeypatch):
    place, out = folder_of_text(tmp_path), tmp_path / "out"
    calls, sync = [], os.fsync

    def full(handle):
        calls.append(handle)
        if len(calls) > 8:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        sync(handle)

    monkeypatch.setattr(manifest.os, "fsync", full)
    with pytest.raises(DataError) as error:
        tokenize(place, tokenizer, out, shard_tokens=1500)
    assert str(error.value) == (
        f"{out}: the tokenized text cannot be written (No space left on device); what is finished is kept, so make "
        f"room or choose another folder, and start again."
    )
    assert not is_reading()
    kept = json.loads((out / "manifest.json").read_text())["shards"]
    assert len(kept) == 2 and not list(out.glob(".*.aside"))
    monkeypatch.undo()
    progress = Counting()
    assert ids(tokenize(place, tokenizer, out, progress, shard_tokens=1500)) == expected(place, tokenizer)
    assert set(kept) <= set(json.loads((out / "manifest.json").read_text())["shards"])


def test_a_bad_line_is_told_and_what_was_finished_before_is_kept(tmp_path, tokenizer):
    good = [json.dumps({"text": text}) for text in SENTENCES]
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join([*good, "{"]))
    with pytest.raises(DataError, match="line 401 is not JSON"):
        tokenize(TextSource(paths=(str(path),)), tokenizer, tmp_path / "out", shard_tokens=500)
    assert not is_reading()


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path, tokenizer, monkeypatch):
    from regard.data.sources.text_files import FileInput

    place = folder_of_text(tmp_path, 1)
    glance, calls = FileInput.glance, []
    monkeypatch.setattr(FileInput, "glance", lambda self: [*glance(self), len(calls.append(1) or calls) // 3])
    with pytest.raises(DataError, match="0.txt: it changed while it was read; start again when nothing writes"):
        tokenize(place, tokenizer, tmp_path / "out")


def test_two_processes_make_it_once(tmp_path, tokenizer):
    place, out = folder_of_text(tmp_path), tmp_path / "out"
    said, found = [], []

    class Listening(Progress):
        def info(self, message):
            said.append(message)

    out.mkdir()
    with manifest.locked(out, Progress()):
        other = threading.Thread(target=lambda: found.append(tokenize(place, tokenizer, out, Listening())))
        other.start()
        while not said:
            time.sleep(0.01)
        assert not (out / "manifest.json").exists()
    other.join()
    assert said == [f"{out}: another process is writing the tokenized text; waiting for it."]
    assert ids(found[0]) == expected(place, tokenizer)


def test_text_without_text_is_refused(tmp_path, tokenizer):
    (tmp_path / "a.txt").write_text(" \n")
    place = TextSource(paths=(str(tmp_path / "a.txt"),))
    for _ in range(2):
        with pytest.raises(DataError, match="a.txt: there is no text in it"):
            tokenize(place, tokenizer, tmp_path / "out")


def test_data_sets_are_tokenised_once_too(tmp_path, tokenizer):
    import datasets

    datasets.Dataset.from_dict({"text": SENTENCES}).save_to_disk(str(tmp_path / "set"))
    place = TextSource(paths=(f"hf:{tmp_path / 'set'}",))
    assert ids(tokenize(place, tokenizer, tmp_path / "out")) == expected(place, tokenizer)
    again = Counting()
    tokenize(place, tokenizer, tmp_path / "out", again)
    assert again.read == 0


MEASURED = """
import sys
from pathlib import Path
from regard.data.feeds.sampler import Position
from regard.data.corpus.shards import tokenize
from regard.data.settings.text import TextSource
from regard.data.feeds.windows import WindowFeed
from regard.text.tokenizer import Tokenizer

def peak():
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) * 1024

text, tokenizer, out = map(Path, sys.argv[1:])
tokenizer, before = Tokenizer.load(tokenizer), peak()
corpus = tokenize(TextSource(paths=(str(text),)), tokenizer, out, shard_tokens=2**17)
next(WindowFeed(corpus, 512, 2**14, 2**14, 1).updates(Position(3, 5)))
print(len(corpus), peak() - before)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux says how much memory was taken")
def test_text_larger_than_the_memory_it_may_take(tmp_path):
    words = ["x" * 50 + f"{number}" for number in range(1000)]
    with (tmp_path / "large.txt").open("w") as file:
        for _ in range(1100):
            file.write(" ".join(words) + "\n")
    backend = tokenizers.Tokenizer(models.WordLevel({word: n for n, word in enumerate([*SPECIAL_TOKENS, *words])}))
    backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()  # as quick as can be
    backend.add_special_tokens(list(SPECIAL_TOKENS))
    Tokenizer(backend).save(tmp_path / "tokenizer.json")
    arguments = [str(tmp_path / name) for name in ("large.txt", "tokenizer.json", "out")]
    done = subprocess.run([sys.executable, "-c", MEASURED, *arguments], capture_output=True, text=True, check=True)
    size, peak = map(int, done.stdout.split())
    assert (tmp_path / "large.txt").stat().st_size > 50e6 and size == 1_100_001 and peak < 40e6
