"""Batch jobs: outputs that depend on neither shards nor kills, and parts that are done once."""

import gzip
import json
import random
from pathlib import Path

import pytest

from generators import small_generator, tokenizer_of
from regard.errors import ConfigError, DataError, RunError
from regard.pipelines import batch_jobs
from regard.pipelines.batch_jobs import BatchJob, JobInput, Shard, output_names
from regard.progress import SILENT

ROWS = {"a.jsonl": 13, "deep/b.jsonl.gz": 8, "deep/c.jsonl": 0, "d.txt": 5}


@pytest.fixture(scope="module")
def generator():
    generate = {"max_new_tokens": 4, "method": "sample", "seed": 7}
    return small_generator(tokenizer_of("byte-level"), generate=generate)


@pytest.fixture
def files(tmp_path):
    paths = []
    for name, rows in ROWS.items():
        path = tmp_path / "in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        prompts = [f"Anna went {number}" if number % 5 else "" for number in range(1, rows + 1)]
        if name.endswith(".txt"):
            text = "".join(f"{prompt}\n" for prompt in prompts)
        else:
            text = "".join(json.dumps({"id": number, "prompt": each}) + "\n" for number, each in enumerate(prompts))
        path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
        paths.append(path)
    return paths


def read(generator):
    def reader(path):
        if path.suffix == ".txt":
            rows = [line or None for line in path.read_text().splitlines()]
            return JobInput(rows, [f"line {number}" for number in range(1, len(rows) + 1)])
        if not path.stat().st_size:
            return JobInput([], [])
        table, rows = generator.read_table(str(path), {"prompt": "prompt"}, SILENT)
        return JobInput(rows, table.where, table)

    return reader


def job(generator, files, out, shard="1/1", **request):
    return BatchJob(
        generator,
        generator.options(),
        files,
        out,
        read(generator),
        {"model": "abc"} | request,
        Shard.parse(shard),
        4,
    )


def contents(folder: Path):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != batch_jobs.RECORD
    }


@pytest.fixture
def whole(generator, files, tmp_path):
    counts = job(generator, files, tmp_path / "whole").run()
    assert (counts.parts, counts.rows, counts.done_before, counts.elsewhere) == (4 + 2 + 1 + 2, 26, 0, 0)
    return contents(tmp_path / "whole")


def test_each_file_has_an_output_with_a_row_for_each_of_its_rows(whole, generator):
    assert sorted(whole) == sorted(ROWS)
    rows = [json.loads(line) for line in whole["a.jsonl"].splitlines()]
    assert [row["id"] for row in rows] == list(range(13)) and len(whole["d.txt"].splitlines()) == 5
    packed = gzip.decompress(whole["deep/b.jsonl.gz"]).splitlines()
    assert len(packed) == 8 and whole["deep/c.jsonl"] == b""
    (alone,) = generator([rows[6]["prompt"]], first_row=7)  # as a call gives it, random numbers included
    assert rows[6]["completion"] == alone.text


def test_shards_write_what_one_job_writes(whole, generator, files, tmp_path):
    done = [job(generator, files, tmp_path / "shards", f"{number}/3").run() for number in (2, 3, 1)]
    assert sum(counts.parts for counts in done) == 9 and done[0].elsewhere > 0
    assert contents(tmp_path / "shards") == whole
    again = job(generator, files, tmp_path / "shards", "2/3").run()
    assert again.parts == again.elsewhere == 0 and again.done_before == 9 and len(again.files) == 4


def test_a_job_that_is_killed_again_and_again_ends_as_one_that_is_not(whole, generator, files, tmp_path, monkeypatch):
    out, chance, answered = tmp_path / "killed", random.Random(3), []
    write, predict = batch_jobs.write_chunks, BatchJob._answered

    def answer(self, given, some, progress):
        answered.append((id(given), some.start))
        return predict(self, given, some, progress)

    def killed(path, chunks):
        if chance.random() < 0.7:
            if chance.random() < 0.5:  # after some bytes of a temporary file
                path.with_name(f".{path.name}.0badf00d").write_bytes(b"half")
            raise KeyboardInterrupt
        write(path, chunks)

    monkeypatch.setattr(batch_jobs, "write_chunks", killed)
    monkeypatch.setattr(BatchJob, "_answered", answer)
    kills = 0
    while True:
        try:
            job(generator, files, out).run()
            break
        except KeyboardInterrupt:
            kills += 1
    assert kills >= 10 and contents(out) == whole
    assert len(answered) <= 9 + kills  # only what a kill has lost was computed again


def test_another_job_in_the_same_folder_is_refused(generator, files, tmp_path):
    out = tmp_path / "out"
    job(generator, files, out).run()
    with pytest.raises(RunError) as error:
        job(generator, files, out, model="def").run()
    assert str(error.value) == (
        f"{out}: there is another batch job here already, with other model; choose another folder with --out."
    )
    files[0].write_text('{"prompt": "new"}\n')
    with pytest.raises(RunError, match="with other inputs; choose another folder"):
        job(generator, files, out).run()
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "d.txt").touch()
    with pytest.raises(RunError, match=r"taken/d\.txt: the file exists"):
        job(generator, files, tmp_path / "taken").run()


@pytest.mark.parametrize("text", ["", "3", "0/4", "5/4", "a/b", "1/0", "-1/2", "1/2/3"])
def test_a_shard_is_a_number_of_a_count(text):
    with pytest.raises(ConfigError, match="is not a shard; write it as K/N"):
        Shard.parse(text)


def test_outputs_are_named_after_their_inputs(tmp_path):
    names = ["x/a.csv", "x/b.jsonl.gz", "y/c.txt.gz", "y/d.tsv.gz"]
    found = output_names([tmp_path / name for name in names])
    assert list(found.values()) == ["x/a.csv.jsonl", "x/b.jsonl.gz", "y/c.txt.gz", "y/d.tsv.jsonl.gz"]
    with pytest.raises(DataError, match=r"two of them would be written to a\.csv\.jsonl"):
        output_names([tmp_path / "a.csv", tmp_path / "a.csv.jsonl"])
    with pytest.raises(DataError, match="no file is named so"):
        output_names([])
