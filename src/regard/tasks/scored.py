"""The texts to score with a model: lines of files, whole files, or the arguments of a call."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from regard import registry
from regard.data.sources.lines import read_lines, read_text
from regard.data.sources.pairs import read_aligned
from regard.errors import ConfigError, DataError
from regard.pipelines.settings import ScoredInputs
from regard.tasks.contract import AnyTask


def scored_rows(task: AnyTask, model: str, files: Sequence[str], inputs: ScoredInputs) -> list[Any]:
    """Return the rows that files (or texts) give a model of a task; `model` is its name in messages."""
    operation, noun = task.operation("score"), task.wording.noun
    if operation is None:
        known = " nor ".join(each.wording.noun for each in registry.tasks() if each.operation("score"))
        raise ConfigError(f"{model}: this is neither {known}, so texts have no probability; use regard evaluate.")
    if len(operation.inputs) == 2:
        if len(files) != 2:
            raise ConfigError(f"{model}: this is {noun}; give a source file and a target file.")
        if inputs.as_one_text:
            raise ConfigError(f"--as-one-text: {model} is {noun}, which scores line by line; leave it out.")
        return [tuple(files)] if inputs.inline else list(read_aligned(Path(files[0]), Path(files[1])))
    if len(files) != 1:
        raise ConfigError(f"{model}: this is {noun}, not a translator; leave out TARGET.")
    (name,) = files
    if inputs.inline:
        texts, where, way_out = [name], f'"{name}"', "give some with --inline"
    else:
        texts = [read_text(Path(name))] if inputs.as_one_text else read_lines(Path(name))
        where, way_out = name, "write one text per line"
    if not any(text.strip() for text in texts):
        raise DataError(f"{where}: there is no text to score; {way_out}.")
    return texts
