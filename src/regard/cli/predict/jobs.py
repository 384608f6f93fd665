"""Batch jobs of an operation: `--files 'in/*.jsonl.gz' --out DIR --shard 3/16`."""

from pathlib import Path

from regard.cli.console import print_json, print_line
from regard.cli.loading import chosen
from regard.cli.options import Given, flag_name
from regard.cli.predict.answers import Call, is_table
from regard.errors import ConfigError
from regard.pipelines.settings import PART, JobSettings
from regard.tasks.declarations import Operation


def check_job(operation: Operation, inputs: list[str] | None, given: Given, out: Path | None) -> JobSettings | None:
    """Return the settings of a batch job (None: there is none); raise for what does not go with it."""
    job = given.settings(JobSettings)
    if not job.files:
        for name in ("shard", "part_rows"):
            if (value := getattr(job, name)) is not None:
                raise ConfigError(
                    f"{flag_name(name)} {value}: this is for batch jobs; give their inputs with --files."
                )
        return None
    others = ["file", *operation.shared, *(each.name for each in operation.views)]
    if inputs or any(given[name] is not None for name in others):
        names = " and ".join(flag_name(name) for name in others if given[name] is not None) or "texts"
        raise ConfigError(f"--files are all inputs of a batch job; leave out {names}.")
    if out is None:
        raise ConfigError("--files: a batch job writes to a folder; name it with --out.")
    if out.exists() and not out.is_dir():
        raise ConfigError(f"--out {out}: this is a file, and a batch job writes to a folder; name another.")
    return job


def run_job(call: Call, run: str, job: JobSettings, out: Path | None) -> None:
    """Do the parts of a shard of a batch job, and print what is done and what is left."""
    from regard.checkpoint.identity import checkpoint_path, model_hash
    from regard.pipelines.batch_jobs import BatchJob, JobInput, Shard, input_files

    assert out is not None
    pipeline = call.pipeline

    def read(path: Path) -> JobInput:
        if is_table(call.operation, path):
            table, rows = pipeline.read_table(str(path), call.columns, call.reporter)
            return JobInput(rows, table.where, table)
        rows = [row for chunk in call.chunks(None, path) for row in chunk]
        return JobInput(rows, [f"{path}: line {number:,}" for number in range(1, len(rows) + 1)])

    models = [run, *chosen(call.given).get("ensemble", ())]
    options = pipeline.options(**call.chosen)
    request = {
        "operation": call.operation.name,
        "model": [model_hash(checkpoint_path(each)) for each in models],
        "loading": {name: value for name, value in chosen(call.given).items() if name != "ensemble"},
        "options": options.model_dump(mode="json"),
        "columns": call.columns,
        "json": call.is_json,
    }
    counts = BatchJob(
        pipeline,
        options,
        input_files(job.files),
        out,
        read,
        request,
        Shard.parse(job.shard or "1/1"),
        job.part_rows or PART,
        call.is_json,
    ).run(call.reporter)
    if call.is_json:
        print_json(vars(counts))
        return
    print_line(
        f"{out}: {counts.rows:,} rows in {counts.parts:,} parts; {counts.done_before:,} parts were complete before, "
        f"{counts.elsewhere:,} are left to other shards; {len(counts.files):,} files are complete."
    )
