"""Batch jobs in a shell: shards, kills, and what does not go with them."""

import gzip
import json
import signal
import subprocess
import sys
import time

import pytest

from commands import good, refused
from generators import language_bundle, tokenizer_of
from regard.checkpoint.bundle import write_bundle
from regard.cli.options import Given
from regard.cli.predict.jobs import check_job
from regard.errors import ConfigError
from regard.tasks.language_model.task import TASK

TOKENS = 60


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("language") / "model"
    write_bundle(folder, language_bundle(tokenizer_of("byte-level"), generate={"max_new_tokens": TOKENS}))
    return folder


@pytest.fixture
def words(run, tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    rows = [{"id": number, "prompt": f"Anna went {number}"} for number in range(12)]
    (folder / "a.jsonl.gz").write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in rows).encode()))
    (folder / "b.txt").write_text("The dog\n\nPeter\n")
    flags = ("--files", f"{folder}/*", "--part-rows", 2, "--prompt-column", "prompt")
    return ("generate", run, *flags, "--min-new-tokens", TOKENS, "-q")


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix in (".gz", ".txt")}


def test_a_job_writes_a_file_for_each_file_and_its_shards_write_the_same(words, tmp_path):
    printed = good(*words, "--out", tmp_path / "whole")
    assert printed == (
        f"{tmp_path / 'whole'}: 15 rows in 8 parts; 0 parts were complete before, 0 are left to other shards; 2 "
        "files are complete.\n"
    )
    whole = contents(tmp_path / "whole")
    rows = [json.loads(line) for line in gzip.decompress(whole["a.jsonl.gz"]).splitlines()]
    assert [row["id"] for row in rows] == list(range(12)) and all(row["completion"] for row in rows)
    for shard in ("2/3", "1/3", "3/3"):
        assert good(*words, "--out", tmp_path / "shards", "--shard", shard)
    assert contents(tmp_path / "shards") == whole
    assert json.loads(good(*words, "--out", tmp_path / "json", "--json"))["parts"] == 8
    lines = [json.loads(line) for line in contents(tmp_path / "json")["b.txt"].splitlines()]
    assert [line["prompt"] for line in lines] == ["The dog", "", "Peter"]


def test_a_job_that_is_killed_computes_nothing_twice(words, tmp_path):
    good(*words, "--out", tmp_path / "whole")
    command = [sys.executable, "-m", "regard", *map(str, words), "--out", str(tmp_path / "out")]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not list((tmp_path / "out").glob(".parts/*/*.part")) and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.002)
    assert process.poll() is None, "the job ended before it could be killed"
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").glob(".parts/*/*.part")}
    counts = good(*words, "--out", tmp_path / "out")
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")
    done = 8 - int(counts.split(" rows in ")[1].split(" ")[0])
    assert done >= len(kept) and f"; {done} parts were complete before" in counts
    again = good(*words, "--out", tmp_path / "out")
    assert " 0 rows in 0 parts; 8 parts were complete before" in again


def test_a_folder_of_another_job_is_refused(words, run, tmp_path):
    good(*words, "--out", tmp_path / "out")
    assert refused(*words, "--out", tmp_path / "out", "--seed", 9).startswith(
        f"{tmp_path / 'out'}: there is another batch job here already, with other options;"
    )


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        (("--shard", "1/2"), "--shard 1/2: this is for batch jobs; give their inputs with --files."),
        (("--part-rows", 5), "--part-rows 5: this is for batch jobs; give their inputs with --files."),
        (("--files", "x"), "--files: a batch job writes to a folder; name it with --out."),
        (("--files", "x", "Anna", "--out", "o"), "--files are all inputs of a batch job; leave out texts."),
        (("--files", "x", "--file", "y", "--out", "o"), "--files are all inputs of a batch job; leave out --file."),
        (("--files", "none*", "--out", "o"), "--files none*: there is no such file; correct the path or pattern."),
    ],
)
def test_what_does_not_go_with_a_batch_job_is_refused(run, flags, sentence):
    assert refused("generate", run, *flags) == sentence


def test_a_shard_is_a_number_of_a_count(words, tmp_path):
    assert refused(*words, "--out", tmp_path / "o", "--shard", "4/3").startswith('--shard: "4/3" is not a shard;')


def test_an_output_folder_is_no_file(tmp_path):
    (tmp_path / "o").touch()
    given = Given(files=["a"], shard=None, part_rows=None, file=None)
    with pytest.raises(ConfigError, match="this is a file, and a batch job writes to a folder; name another."):
        check_job(TASK.operations[0], None, given, tmp_path / "o")
