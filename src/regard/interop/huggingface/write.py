"""Writer of folders for `from_pretrained`, translators in this module; works without `transformers`."""

from pathlib import Path

from regard.checkpoint.atomic import write_json
from regard.checkpoint.bundle import Bundle
from regard.errors import ConfigError
from regard.interop.huggingface.causal_configs import CausalArchitecture
from regard.interop.huggingface.causal_models import write_language_model
from regard.interop.huggingface.encoder_configs import EncoderArchitecture
from regard.interop.huggingface.encoders import write_encoder
from regard.interop.huggingface.folder import CONFIG, GENERATION, write_new_folder, write_tensors
from regard.interop.huggingface.generation_config import generation_config, special_tokens
from regard.interop.huggingface.seq2seq_configs import Form, config_for, form_for
from regard.interop.huggingface.seq2seq_weights import to_theirs
from regard.interop.huggingface.tokenizers import TARGET_FOLDER, write_tokenizer
from regard.models.bert import BertSettings
from regard.models.gpt.model import GptSettings
from regard.models.transformer.model import TransformerSettings
from regard.progress import SILENT, Progress


def write(
    bundle: Bundle, folder: str | Path, progress: Progress = SILENT
) -> Form | CausalArchitecture | EncoderArchitecture:
    """Write a model with its tokenizers, and return its Hugging Face architecture."""
    folder, settings, vocabularies = Path(folder), bundle.settings, bundle.vocabularies
    if isinstance(settings, GptSettings) and bundle.head is None:
        return write_language_model(bundle, settings, folder, progress)
    if isinstance(settings, BertSettings):
        return write_encoder(bundle, settings, folder, progress)
    if not isinstance(settings, TransformerSettings):
        raise ConfigError(
            f'task, model.family: "{bundle.task}" with "{settings.family}" has no Hugging Face architecture; '
            f"translators of the family transformer, language models of the family gpt and models of the family bert "
            f"have one."
        )
    form = form_for(settings, vocabularies)
    target = bundle.tokenizers["tokenizer" if vocabularies.is_shared else "target"]
    config = config_for(settings, vocabularies, form) | special_tokens(target)
    positions: int = config["max_position_embeddings"]
    generation = generation_config(bundle.facts.get("decode", {}), target, positions, progress)
    weights = {name: tensor.float().cpu() for name, tensor in bundle.model.state_dict().items()}
    tensors = to_theirs(weights, settings, form, positions)

    def fill(temporary: Path) -> None:
        write_json(temporary / CONFIG, config)
        write_json(temporary / GENERATION, generation)
        write_tensors(temporary, tensors)
        write_tokenizer(temporary, bundle.tokenizers.get("source", target), positions)
        if not vocabularies.is_shared:
            write_tokenizer(temporary / TARGET_FOLDER, target, positions)

    write_new_folder(folder, fill)
    return form
