"""From a path to something that answers."""

from pathlib import Path

from regard.checkpoint import find_checkpoint, read_bundle, read_config
from regard.errors import CheckpointError, ConfigError
from regard.interop import read as read_hugging_face
from regard.pipelines.translator import Translator
from regard.text import Tokenizer
from regard.training import choose_device

PIPELINES = {"translate": Translator}


def load(path: str | Path, device: str = "auto") -> Translator:
    """Return the pipeline of a run (its best checkpoint), a checkpoint folder, or hf: and a Hugging Face folder."""
    if str(path).startswith("hf:"):
        bundle = read_hugging_face(Path(str(path).removeprefix("hf:")))
        bundle.model.to(choose_device(device))
        return PIPELINES[bundle.task](bundle)
    folder = find_checkpoint(Path(path))
    bundle = read_bundle(folder, choose_device(device))
    if bundle.task not in PIPELINES:
        raise CheckpointError(f'{folder}: its task "{bundle.task}" is unknown to this version of regard; upgrade it.')
    return PIPELINES[bundle.task](bundle)


def load_tokenizer(path: Path, side: str = "source") -> Tokenizer:
    """Return the tokenizer of a tokenizer.json, or that of one side of a run or checkpoint."""
    if path.is_file():
        return Tokenizer.load(path)
    if side not in ("source", "target"):
        raise ConfigError(f'side: "{side}" is not one of source, target.')
    folder = find_checkpoint(path)
    is_shared = "tokenizer" in read_config(folder)["tokenizers"]
    return Tokenizer.load(folder / ("tokenizer.json" if is_shared else f"tokenizer.{side}.json"))
