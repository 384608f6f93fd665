"""The schemas of a checkpoint's files: what is read from them is of the right types, or told in one sentence."""

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
"""What a tokenizer is for; the name of its file follows from it."""
Size = Annotated[int, Field(ge=1, lt=2**31)]

S = TypeVar("S", bound=Settings)


class IndexRecord(Record):
    """The index of a run's checkpoints: the value of each that is kept."""

    kept: dict[FileName, float | None]


class FileRecord(Record):
    """What a file was like when it was written."""

    bytes: Count
    sha256: str


class CheckpointManifest(Record):
    """The files of a checkpoint by their names."""

    __pydantic_extra__: dict[RelativePath, FileRecord]

    @property
    def files(self) -> dict[str, FileRecord]:
        """What is known of each file."""
        return dict(self.__pydantic_extra__)


class ModelRecord(Record):
    """The settings of a model, which its family knows."""

    family: str


class VocabulariesRecord(Record):
    """How many tokens each side has."""

    source: Size
    target: Size
    is_shared: bool


class ConfigRecord(Record):
    """The config.json of a checkpoint; what else its task remembers is checked by `facts`."""

    format: int
    regard: str = "?"
    task: str
    model: ModelRecord
    vocabularies: VocabulariesRecord
    tokenizers: list[Role]
    head: dict[str, Any] | None = None


class FormatRecord(Record):
    """The version of a layout, all that is sure of a file that a later version has written."""

    format: int
    regard: str = "?"


def read_manifest(folder: Path) -> dict[str, FileRecord]:
    """Return what the manifest of a checkpoint folder says of each file."""
    what = "the manifest of a checkpoint"
    return read_record(folder / MANIFEST, CheckpointManifest, CheckpointError, what, "copy it again").files


def check_settings(schema: type[S], values: Any, group: str, path: Path) -> S:
    """Return a group of settings that stands in a checkpoint's config."""
    try:
        return schema.model_validate_json(json.dumps(values), strict=True)
    except ValidationError as error:
        raise CheckpointError(
            f"{path}: this is not the config of a regard checkpoint ({first_problem(error, group)}); copy it again."
        ) from None
