"""Batch jobs of an operation: `--files 'in/*.jsonl.gz' --out DIR --shard 3/16`."""

from pathlib import Path

from regard.cli.options import Given, flag_name
from regard.cli.predict.answers import Call
from regard.errors import ConfigError
from regard.pipelines.settings import JobSettings
from regard.tasks.declarations import Operation
from regard.tasks.settings import LoadSettings


def check_job(operation: Operation, inputs: list[str] | None, given: Given, out: Path | None) -> JobSettings | None:
    """Return the settings of a batch job (None: there is none); raise for what does not go with it."""
    job = given.settings(JobSettings)
    if not job.files:
        for name, value in given.values_of(("shard", "part_rows")).items():
            raise ConfigError(f"{flag_name(name)} {value}: this is for batch jobs; give their inputs with --files.")
        return None
    others = given.values_of(["file", *operation.shared, *(each.name for each in operation.views)])
    if inputs or others:
        names = " and ".join(map(flag_name, others)) or "texts"
        raise ConfigError(f"--files are all inputs of a batch job; leave out {names}.")
    if out is None:
        raise ConfigError("--files: a batch job writes to a folder; name it with --out.")
    if out.exists() and not out.is_dir():
        raise ConfigError(f"--out {out}: this is a file, and a batch job writes to a folder; name another.")
    return job


def run_job(call: Call, run: str, job: JobSettings, out: Path) -> None:
    """Do the parts of a shard of a batch job, and print what is done and what is left."""
    from regard.checkpoint.identity import checkpoint_path, model_hash
    from regard.pipelines.batch_jobs import BatchJob, JobInput

    given, pipeline, options = call.given, call.pipeline, call.pipeline.options(**call.chosen)

    def read(path: Path) -> JobInput:
        if call.is_table(path):
            table, rows = pipeline.read_table(str(path), call.columns, given.progress)
            return JobInput(rows, table.where, table)
        rows = [row for chunk in call.chunks(None, path) for row in chunk]
        return JobInput(rows, [f"{path}: line {number:,}" for number in range(1, len(rows) + 1)])

    loading = given.values_of(LoadSettings.model_fields)
    models = [run, *loading.pop("ensemble", ())]
    request = {
        "operation": call.operation.name,
        "model": [model_hash(checkpoint_path(each)) for each in models],
        "loading": loading,
        "options": options.model_dump(mode="json"),
        "columns": call.columns,
        "json": bool(given["json"]),
    }
    fields = {"pipeline": pipeline, "options": options, "out": out, "read": read, "request": request}
    counts = BatchJob.of(job, **fields, is_json=bool(given["json"])).run(given.progress)
    given.show(vars(counts), f"{out}: {counts}")
