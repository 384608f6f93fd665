"""Pretrained models that a run starts from: their weights, settings and default learning rates."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch import Tensor

from regard.checkpoint.atomic import fingerprint
from regard.checkpoint.bundle import Bundle, read_bundle, read_config, weights_of
from regard.checkpoint.facts import TaskFacts
from regard.checkpoint.identity import HUGGING_FACE, checkpoint_path, model_hash
from regard.checkpoint.store import find_checkpoint
from regard.config.resolve import Layer
from regard.errors import ConfigError
from regard.interop.huggingface.read import read as read_hugging_face
from regard.models.base.family import KINDS
from regard.models.base.settings import ModelSettings
from regard.models.families import family
from regard.models.heads import load_matching_weights
from regard.pipelines.word_vectors import load_word_vectors, names_word_vectors
from regard.progress import SILENT, Progress
from regard.tasks.contract import find_task
from regard.tasks.declarations import Context, InitFrom
from regard.tasks.embedding_init import SAMPLE_ROWS
from regard.tasks.settings import FEATURE_RATE, FINE_TUNING_RATES, RunSettings
from regard.text.tokenizer import Tokenizer
from regard.training.device.machine import Machine

TABLES = (".csv", ".tsv", ".jsonl", ".json", ".conll")
BODY = "body."
"""Prefix of the weights of a model with a head, the head's own left out."""

REFERENCE_WIDTH = 768
LORA = 10
"""Factor on these rates for low-rank updates, which move weights less."""


def is_word_file(init_from: str) -> bool:
    """Return True for word vectors: a file of them, or a run of the task vectors."""
    if Path(init_from).is_file() and Path(init_from.removesuffix(".gz")).suffix.lower() in TABLES:
        raise ConfigError(
            f"init_from: {init_from} is a table of examples, not a model; name a run, a checkpoint, hf:DIR or a file "
            f"of word vectors, and give examples with --data."
        )
    return names_word_vectors(init_from)


def read_pretrained(init_from: str) -> Bundle:
    """Return a pretrained model, on the CPU."""
    if init_from.startswith(HUGGING_FACE):
        return read_hugging_face(Path(init_from.removeprefix(HUGGING_FACE)))
    return read_bundle(find_checkpoint(Path(init_from)))


def run_context(
    settings: RunSettings[ModelSettings],
    machine: Machine,
    progress: Progress = SILENT,
    resumed: Bundle | None = None,
) -> Context:
    """Return the context of preparing a run; the pretrained model of a new one is read."""
    init_from, rules = settings.init_from, find_task(settings.task).init_from
    if init_from is None or rules is None or resumed is not None or is_word_file(init_from):
        return Context(machine, progress, resumed)
    return Context(machine, progress, pretrained=read_pretrained(init_from))


def check_tokenizers(tokenizers: Mapping[str, Tokenizer], context: Context, init_from: str | None) -> None:
    """Refuse a pretrained model with other tokenizers than the data was tokenized with (for another run)."""
    if context.pretrained is None:
        return
    own = context.pretrained.tokenizers
    if any(name not in own or not _are_equal(own[name], each) for name, each in tokenizers.items()):
        raise ConfigError(
            f"init_from: {init_from} has another tokenizer than the data was tokenized with, so it cannot share the "
            f"data with other models; name a model with the same tokenizer."
        )


def _are_equal(one: Tokenizer, other: Tokenizer) -> bool:
    return one is other or one.to_json() == other.to_json()


def body_weights(pretrained: Bundle) -> dict[str, Tensor]:
    """Return the weights of a model without its head, by name."""
    weights = weights_of(pretrained.model)
    if pretrained.head is None:
        return weights
    return {name.removeprefix(BODY): each for name, each in weights.items() if name.startswith(BODY)}


def load_pretrained(model: Any, pretrained: Bundle, init_from: str | None) -> dict[str, Any]:
    """Copy the weights that both models have from a pretrained one; return the facts of their origin."""
    assert init_from is not None
    names = model.state_dict().keys()
    load_matching_weights(model, {name: each for name, each in body_weights(pretrained).items() if name in names})
    return {"init_from": {"path": init_from, "sha256": origin_hash(init_from)}}


def pretrained_embeds(pretrained: Bundle | None) -> bool:
    """Return whether a pretrained model embeds texts (mean pooling)."""
    embed = TaskFacts.read(pretrained).embed if pretrained is not None else None
    return embed is not None and embed.pooling == "mean"


def origin_facts(bundle: Bundle) -> dict[str, Any]:
    """Return the facts on a model's pretrained weights and extra word vectors, where it has them."""
    return {name: bundle.facts[name] for name in ("init_from", "extra_vectors") if name in bundle.facts}


def origin_hash(init_from: str) -> str:
    """Return a hash of a pretrained model."""
    if is_word_file(init_from) and Path(init_from).is_file():
        return str(fingerprint(Path(init_from))["sha256"])
    return model_hash(checkpoint_path(init_from))


def pretrained_settings(init_from: str) -> dict[str, Any]:
    """Return the model settings of a pretrained model, without loading its weights where possible."""
    if init_from.startswith(HUGGING_FACE):
        return read_pretrained(init_from).settings.model_dump(mode="json")
    if is_word_file(init_from):
        return {"family": "words", "width": load_word_vectors(init_from, SAMPLE_ROWS).width}
    return dict(read_config(find_checkpoint(Path(init_from)))["model"])


def init_layer(task: str, rules: InitFrom, values: dict[str, Any], changes: Mapping[str, Any]) -> Layer | None:
    """Return the layer of settings that a pretrained model implies, if there is one; contradictions are refused.

    A pretrained model named on the command line replaces a recipe's own model and tokenizer and, where its training
    continues, the recipe's learning rate for training from scratch.
    """
    init_from = changes.get("init_from", values.get("init_from"))
    if not isinstance(init_from, str) or (rules.takes_word_vectors and is_word_file(init_from)):
        return None
    pretrained = pretrained_settings(init_from)
    kind = family(pretrained["family"]).kind
    if kind not in rules.rates:
        needed = " or a ".join(KINDS[each] for each in rules.rates)
        raise ConfigError(
            f"init_from: {init_from} is a {KINDS[kind]}, but the task {task} starts from a {needed}; name one."
        )
    if "init_from" in changes:
        for part in ("text", "model"):
            values[part] = {name: value for name, value in _table(values, part).items() if name.endswith("dropout")}
        if not rules.has_new_head:
            _table(values, "train").pop("learning_rate", None)
    for name, value in (*_table(values, "model").items(), *_table(changes, "model").items()):
        if name == "preset" and value != pretrained.get("preset"):
            raise ConfigError(
                f'model.preset: "{value}" cannot be chosen, the model comes from {init_from}; leave it out.'
            )
        may_change = name in rules.may_change or name.endswith("dropout")
        if name in pretrained and not may_change and value != pretrained[name]:
            raise ConfigError(
                f"model.{name}: {value} contradicts {init_from}, where it is {pretrained[name]}; leave it out."
            )
    is_tuned = rules.rates[kind] != FEATURE_RATE and not changes.get("freeze_body", values.get("freeze_body"))
    scaled_rate = float(f"{rules.rates[kind] * REFERENCE_WIDTH / pretrained['width']:.3g}")
    adapter = _table(changes, "train").get("adapter", _table(values, "train").get("adapter"))
    scaled_rate *= LORA if adapter == "lora" else 1
    rate = scaled_rate if is_tuned else FEATURE_RATE
    return Layer(f"pretrained model {init_from}", {"model": pretrained, "train": {"learning_rate": rate}})


def prefer_tokens(values: dict[str, Any], changes: Mapping[str, Any]) -> None:
    """Let a user's tokens_per_update replace a recipe's examples_per_update."""
    recipe, given = _table(values, "train"), _table(changes, "train")
    if "tokens_per_update" in given and "examples_per_update" not in given:
        recipe.pop("examples_per_update", None)


def is_tuned(settings: RunSettings[ModelSettings]) -> bool:
    """Return True if a pretrained model is trained on, and not layers above features or word vectors."""
    if settings.init_from is None or getattr(settings, "freeze_body", None):
        return False
    return FINE_TUNING_RATES[family(settings.model.family).kind] != FEATURE_RATE


def _table(values: Mapping[str, Any], name: str) -> dict[str, Any]:
    table = values.get(name)
    return table if isinstance(table, dict) else {}
