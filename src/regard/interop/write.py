"""A translation model as a folder for `from_pretrained`; `transformers` itself need not be installed."""

from pathlib import Path

import safetensors
import safetensors.torch

from regard.checkpoint import Bundle, write_json
from regard.checkpoint.atomic import write_folder
from regard.errors import CheckpointError, ConfigError
from regard.interop.forms import Form, config_for, form_for
from regard.interop.generation import generation_config, special_tokens
from regard.interop.tensors import to_theirs
from regard.interop.tokens import TARGET_FOLDER, write_tokenizer
from regard.models.transformer import TransformerSettings
from regard.progress import SILENT, Progress

CONFIG, GENERATION, WEIGHTS = "config.json", "generation_config.json", "model.safetensors"


def write(bundle: Bundle, folder: str | Path, progress: Progress = SILENT) -> Form:
    """Write a model with its tokenizers in the Hugging Face form that fits, and return that form."""
    folder, settings, vocabularies = Path(folder), bundle.settings, bundle.vocabularies
    if bundle.task != "translate" or not isinstance(settings, TransformerSettings):
        raise ConfigError(
            f'task, model.family: "{bundle.task}" with "{settings.family}" fits no Hugging Face form; "translate" '
            f'with "transformer" does.'
        )
    if folder.exists():
        raise CheckpointError(f"{folder}: it exists already; name a folder that does not.")
    form = form_for(settings, vocabularies)
    target = bundle.tokenizers["tokenizer" if vocabularies.is_shared else "target"]
    config = config_for(settings, vocabularies, form) | special_tokens(target)
    positions: int = config["max_position_embeddings"]
    generation = generation_config(bundle.facts.get("decode", {}), target, positions, progress)
    weights = {name: tensor.float().cpu() for name, tensor in bundle.model.state_dict().items()}
    tensors = to_theirs(weights, settings, form, positions)

    def fill(aside: Path) -> None:
        write_json(aside / CONFIG, config)
        write_json(aside / GENERATION, generation)
        safetensors.torch.save_file(tensors, aside / WEIGHTS, metadata={"format": "pt"})
        write_tokenizer(aside, bundle.tokenizers.get("source", target), positions)
        if not vocabularies.is_shared:
            write_tokenizer(aside / TARGET_FOLDER, target, positions)

    try:
        write_folder(folder, fill)
    except (OSError, safetensors.SafetensorError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise CheckpointError(
            f"{folder}: it could not be written ({reason}); free some space or name another folder."
        ) from None
    return form
