"""Schemas of a checkpoint's files: values of a wrong type are refused in one sentence."""

import json
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field, ValidationError

from regard.config.names import FileName, RelativePath
from regard.config.records import Count, Record, first_problem, read_record
from regard.config.settings import Settings
from regard.errors import CheckpointError

MANIFEST = "manifest.json"
CONFIG = "config.json"

Role = Literal["tokenizer", "source", "target", "words"]
"""Role of a tokenizer, which determines its file name."""
Size = Annotated[int, Field(ge=1, lt=2**31)]

S = TypeVar("S", bound=Settings)


class IndexRecord(Record):
    """The index of a run's checkpoints: the validation value of each kept checkpoint."""

    kept: dict[FileName, float | None]


class FileRecord(Record):
    """Size and hash of a file when it was written."""

    bytes: Count
    sha256: str


class CheckpointManifest(Record):
    """The files of a checkpoint by their names."""

    __pydantic_extra__: dict[RelativePath, FileRecord]

    @property
    def files(self) -> dict[str, FileRecord]:
        """Record of each file, by relative path."""
        return dict(self.__pydantic_extra__)


class ModelRecord(Record):
    """The settings of a model; the schema of its family checks all but the family."""

    family: str


class VocabulariesRecord(Record):
    """Vocabulary sizes of source and target, in tokens."""

    source: Size
    target: Size
    is_shared: bool


class ConfigRecord(Record):
    """The config.json of a checkpoint; `facts` checks the keys of its task."""

    format: int
    regard: str = "?"
    task: str
    model: ModelRecord
    vocabularies: VocabulariesRecord
    tokenizers: list[Role]
    head: dict[str, Any] | None = None
    packages: dict[str, str] = Field(default_factory=dict)
    """The packages that its task and family come from, by name; none for what is built in."""


class FormatRecord(Record):
    """Format version: the only keys that every version of the format has."""

    format: int
    regard: str = "?"


def read_manifest(folder: Path) -> dict[str, FileRecord]:
    """Return the records in the manifest of a checkpoint folder, by relative path."""
    what = "the manifest of a checkpoint"
    return read_record(folder / MANIFEST, CheckpointManifest, CheckpointError, what, "copy it again").files


def check_settings(schema: type[S], values: Any, group: str, path: Path) -> S:
    """Return a group of settings of a checkpoint's config, validated."""
    try:
        return schema.model_validate_json(json.dumps(values), strict=True)
    except ValidationError as error:
        raise CheckpointError(
            f"{path}: this is not the config of a regard checkpoint ({first_problem(error, group)}); copy it again."
        ) from None
