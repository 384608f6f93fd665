"""Causal language models from and to Hugging Face folders (GPT-2, the first GPT, Llama)."""

from contextlib import suppress
from pathlib import Path
from typing import Any

from regard import registry
from regard.checkpoint.atomic import write_json
from regard.checkpoint.bundle import Bundle
from regard.config.records import read_text_file
from regard.decoding.settings import TextDecoding
from regard.errors import CheckpointError
from regard.interop.huggingface.causal_configs import (
    CausalArchitecture,
    language_config,
    language_form_for,
    language_settings,
    lost_rates,
)
from regard.interop.huggingface.causal_weights import language_to_ours, language_to_theirs
from regard.interop.huggingface.folder import (
    CONFIG,
    GENERATION,
    check_shapes,
    fill,
    read_object,
    read_tensors,
    write_new_folder,
    write_tensors,
)
from regard.interop.huggingface.generation_config import (
    DECODER_START,
    NO_CONTINUATION,
    generating_of,
    language_generation,
    special_tokens,
)
from regard.interop.huggingface.schemas import ChatConfig, Generation
from regard.interop.huggingface.seq2seq_configs import checked
from regard.interop.huggingface.tokenizers import (
    CHAT_TEMPLATE,
    TOKENIZER_CONFIG,
    check_token_ids,
    read_language_tokenizer,
    write_tokenizer,
)
from regard.models.base.settings import Vocabularies
from regard.models.families import build_model
from regard.models.gpt.model import GptSettings
from regard.progress import Progress
from regard.text.tokenizer import Tokenizer


def read_language_model(folder: Path, config: dict[str, Any], form: CausalArchitecture) -> Bundle:
    """Read a model of an architecture, with its tokenizer; it is in eval mode."""
    where = str(folder / CONFIG)
    settings = checked(GptSettings, language_settings(config, form, where), where)
    weights = language_to_ours(read_tensors(folder), settings, form, str(folder))
    tokenizer, add_bos = read_language_tokenizer(folder, form.model_type, _eos_id(config))
    tokens = len(weights["embedding.table.weight"])
    check_token_ids(tokenizer, tokens, where)
    vocabularies = Vocabularies(tokens, tokens, is_shared=True)
    check_shapes(settings, vocabularies, weights, folder)
    model = build_model(settings, vocabularies).eval()
    fill(model, weights)
    generate = generating_of(read_object(folder / GENERATION, Generation)) | {"add_bos": add_bos}
    checked(TextDecoding, generate, str(folder / GENERATION), NO_CONTINUATION)
    facts: dict[str, Any] = {"window": settings.max_positions, "generate": generate}
    facts |= _chat_facts(folder, tokenizer)
    return Bundle(registry.task_of_model("causal-lm"), model, settings, vocabularies, {"tokenizer": tokenizer}, facts)


def _chat_facts(folder: Path, tokenizer: Tokenizer) -> dict[str, str]:
    """Return the chat template of a folder, which is checked when it is used."""
    values = read_object(folder / TOKENIZER_CONFIG, ChatConfig)
    source, end = values.get("chat_template"), values.get("eos_token")
    with suppress(FileNotFoundError):
        source = read_text_file(folder / CHAT_TEMPLATE, CheckpointError, "a chat template")
    if not isinstance(source, str) or not source.strip():
        return {}
    end = end.get("content") if isinstance(end, dict) else end
    if isinstance(end, str):  # regard may have renamed it
        source = source.replace(end, tokenizer.tokens([tokenizer.eos_id])[0])
    return {"chat_template": source}


def _eos_id(config: dict[str, Any]) -> Any:
    """Return the id of EOS; of several, the first."""
    end = config.get("eos_token_id")
    return (end[0] if end else None) if isinstance(end, list) else end


def write_language_model(
    bundle: Bundle, settings: GptSettings, folder: Path, progress: Progress
) -> CausalArchitecture:
    """Write a model with its tokenizer, and return its Hugging Face architecture."""
    form = language_form_for(settings)
    tokenizer = bundle.tokenizers["tokenizer"]
    window = settings.max_positions if settings.positions == "learned" else _window(bundle, settings)
    config = language_config(settings, bundle.vocabularies.target, window, form)
    config |= {name: number for name, number in special_tokens(tokenizer).items() if name != DECODER_START}
    generate: dict[str, Any] = bundle.facts.get("generate", {})
    generation = language_generation(generate, tokenizer, progress)
    for name in lost_rates(settings, form):
        progress.warn(f"model.{name}: {getattr(settings, name)} is not written, {form.name} has no such setting.")
    weights = {name: tensor.float().cpu() for name, tensor in bundle.model.state_dict().items()}
    tensors = language_to_theirs(weights, settings, form)

    def write(temporary: Path) -> None:
        write_json(temporary / CONFIG, config)
        write_json(temporary / GENERATION, generation)
        write_tensors(temporary, tensors)
        prefix = [tokenizer.eos_id] if TextDecoding(**generate).add_bos else []
        write_tokenizer(temporary, tokenizer, window, prefix, bundle.facts.get("chat_template"))

    write_new_folder(folder, write)
    return form


def _window(bundle: Bundle, settings: GptSettings) -> int:
    """Return the context window in tokens of a model without learned positions."""
    return int(bundle.facts.get("window", settings.max_positions))
