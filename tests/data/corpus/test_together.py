"""Many processes tokenize one text: the bytes of one, whenever they are killed, and nothing twice."""

import json
import os
import subprocess
import sys
from collections import Counter

import pytest

from regard import miniature
from regard.data.corpus.encoders import ChunkEncoder
from regard.data.corpus.shards import tokenize
from regard.data.corpus.together import WORK, SharedWork
from regard.data.settings.text import TextSource
from regard.data.sources.text_files import find_inputs
from regard.errors import DataError
from regard.text.settings import TokenizerSettings
from regard.text.tokenizer import Tokenizer
from regard.text.training import train_tokenizer

SENTENCES = [pair.target for pair in miniature.pairs("train", 400)]
SHARD = 1500
HOSTS = """
import os, random, signal, sys, time
from pathlib import Path
from regard.data.corpus import together
from regard.data.corpus.shards import tokenize
from regard.data.settings.text import TextSource
from regard.text.tokenizer import Tokenizer

text, tokenizer, folder, kills, shard = *sys.argv[1:4], *map(int, sys.argv[4:])
plain, draw = together.write_array, random.Random(7)
together.write_array = lambda *parts: (time.sleep(0.03), plain(*parts))

def start():
    host = os.fork()
    if host == 0:
        words = TextSource(paths=(text,)), Tokenizer.load(Path(tokenizer)), Path(folder)
        tokenize(*words, shard_tokens=shard, share=True)
        os._exit(0)
    return host

hosts = [start(), start()]
for _ in range(kills):
    time.sleep(draw.uniform(0.02, 0.2))
    number = draw.randrange(2)
    os.kill(hosts[number], signal.SIGKILL)
    ended = os.waitpid(hosts[number], 0)[1]
    assert os.WIFSIGNALED(ended), "it had ended before it was killed"
    hosts[number] = start()
assert all(os.waitpid(host, 0)[1] == 0 for host in hosts)
"""
"""Starts two processes, each a host of its own, and kills and restarts them at random."""


@pytest.fixture(scope="module")
def scene(tmp_path_factory):
    """A folder of texts, a tokenizer, and the corpus that one process makes of them together with nobody."""
    folder = tmp_path_factory.mktemp("scene")
    (folder / "text").mkdir()
    for number in range(8):
        lines = SENTENCES[number * 50 : (number + 1) * 50] * (1 + number % 3 * 4)
        (folder / "text" / f"{number}.txt").write_text("\n".join(lines), encoding="utf-8")
    train_tokenizer(SENTENCES, TokenizerSettings(size=400)).save(folder / "tokenizer.json")
    return folder


def alone(scene, folder, **options):
    tokenizer = Tokenizer.load(scene / "tokenizer.json")
    return tokenize(TextSource(paths=(str(scene / "text"),)), tokenizer, folder, shard_tokens=SHARD, **options)


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file() and path.name != ".lock"}


def logged(folder):
    return [json.loads(line) for path in (folder / WORK).glob("*.log") for line in path.read_text().splitlines()]


def run_hosts(scene, folder, kills):
    words = [scene / "text", scene / "tokenizer.json", folder, kills, SHARD]
    quiet = os.environ | {"TOKENIZERS_PARALLELISM": "false"}
    subprocess.run([sys.executable, "-c", HOSTS, *map(str, words)], env=quiet, check=True, timeout=200)


def test_the_text_is_the_one_that_a_single_process_makes(scene, tmp_path):
    plain, shared = alone(scene, tmp_path / "plain", share=False), alone(scene, tmp_path / "shared", share=True)
    assert len(shared.segments) > 8  # some inputs have several shards
    assert shared.read(0, len(shared)).tolist() == plain.read(0, len(plain)).tolist()
    assert (shared.fingerprint, shared.counts, shared.text_hash) == (plain.fingerprint, plain.counts, plain.text_hash)
    before = contents(tmp_path / "shared")
    alone(scene, tmp_path / "shared", share=True)
    assert contents(tmp_path / "shared") == before  # nothing is done again


@pytest.mark.parametrize("kills", [0, 10])
def test_two_hosts_make_the_bytes_of_one_and_nothing_twice(scene, tmp_path, kills):
    alone(scene, tmp_path / "one", share=True)
    folder = tmp_path / "two"
    run_hosts(scene, folder, kills)
    assert contents(folder) == contents(tmp_path / "one")
    shards = Counter(line["shard"] for line in logged(folder))
    assert shards and set(shards.values()) == {1}
    if not kills:
        assert len({line["by"] for line in logged(folder)}) == 2
        assert set(shards) == {path.name.partition(".")[0] for path in folder.glob("*.ids.npy")}


def test_a_process_that_takes_over_goes_on_after_the_last_shard(scene, tmp_path):
    tokenizer = Tokenizer.load(scene / "tokenizer.json")
    inputs = find_inputs(TextSource(paths=(str(scene / "text"),)))
    reading = {"documents": "file", "field": "text"}

    class Broken(ChunkEncoder):
        def __call__(self, chunks):
            if (seen := getattr(self, "seen", 0)) == 1:
                raise DataError("stopped")
            self.seen = seen + 1
            return super().__call__(chunks)

    import regard.data.corpus.together as module

    before, module.BATCH = module.BATCH, 2
    try:
        with pytest.raises(DataError, match="stopped"):
            SharedWork(tmp_path / "two", Broken(tokenizer), reading, SHARD).run(inputs)
        done = len(logged(tmp_path / "two"))
        SharedWork(tmp_path / "two", ChunkEncoder(tokenizer), reading, SHARD).run(inputs)
    finally:
        module.BATCH = before
    assert done and set(Counter(line["shard"] for line in logged(tmp_path / "two")).values()) == {1}
    alone(scene, tmp_path / "one", share=True)
    assert contents(tmp_path / "two") == contents(tmp_path / "one")


def test_a_text_that_grows_afterwards_is_added_by_one_process(scene, tmp_path):
    text = tmp_path / "text"
    text.mkdir()
    (text / "a.txt").write_text("\n".join(SENTENCES[:100]))
    tokenizer = Tokenizer.load(scene / "tokenizer.json")
    source = TextSource(paths=(str(text),))
    first = tokenize(source, tokenizer, tmp_path / "corpus", share=True)
    (text / "b.txt").write_text("\n".join(SENTENCES[100:200]))
    second = tokenize(source, tokenizer, tmp_path / "corpus", share=True)
    plain = tokenize(source, tokenizer, tmp_path / "plain")
    assert len(second) > len(first) and second.read(0, len(second)).tolist() == plain.read(0, len(plain)).tolist()
