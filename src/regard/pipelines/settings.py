"""Settings of batch jobs, and of what is scored and inspected."""

from pydantic import Field

from regard.config.settings import Settings

PART = 1024
"""Rows of a part of a batch job, which is what is lost when it is killed."""


class JobSettings(Settings):
    """The files of a batch job, and the part of it that a process does."""

    files: tuple[str, ...] = ()
    """Input files, or a quoted pattern such as 'in/**/*.jsonl.gz'; --out is the folder of the outputs; repeatable."""
    shard: str | None = None
    """The parts that this process does, such as 3/16 (default: all)."""
    part_rows: int | None = Field(None, ge=1)
    """Rows of a part, which is what a killed job loses (default: 1024)."""


class ScoredInputs(Settings):
    """The texts to score."""

    inline: bool = False
    """Treat the arguments as texts, not files."""
    as_one_text: bool = False
    """Score the file as one text, not line by line (language models)."""
