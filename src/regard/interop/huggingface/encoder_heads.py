"""Task heads over a BERT: mapping between regard's and those of `transformers`, weights and configs."""

from dataclasses import replace
from typing import Any

from regard import registry
from regard.checkpoint.bundle import Bundle
from regard.errors import CheckpointError, ConfigError
from regard.interop.huggingface.encoder_configs import HEADED_ARCHITECTURES, MASKED_WORDS, POOLER, EncoderArchitecture
from regard.interop.huggingface.seq2seq_weights import Weights, take
from regard.models.base.settings import HeadSettings

LAYERS = {"extractive-qa": "qa_outputs"}
"""Hugging Face name of the output layer, where it is not `classifier`."""

PAIR_WORDS = ("entail", "contradict", "neutral", "duplicate", "equivalent", "paraphrase", "similar", "next")
"""Words in labels that imply text pairs."""

MULTI_LABEL = "multi_label_classification"

TEXT_FACTS = ("texts", "pair_encoding", "max_length", "columns")
STORED_FACTS: dict[str | None, tuple[str, ...]] = {
    None: ("length", "embed"),
    "classification": (*TEXT_FACTS, "threshold"),
    "regression": TEXT_FACTS,
    "similarity": TEXT_FACTS,
    "token-classification": ("max_length", "columns"),
    "extractive-qa": ("max_length", "stride", "max_answer_tokens", "has_unanswerable", "threshold"),
    "multiple-choice": ("max_length", "columns"),
}
"""By the kind of head: facts that have no field in a config.json, and are written to a file of their own."""


def head_kind(form: EncoderArchitecture, config: dict[str, Any]) -> str | None:
    """Return the kind of head of a folder's model; None: none."""
    is_number = config.get("problem_type") == "regression" or (
        form.head == "classification" and len(_labels(config)) == 1 and config.get("problem_type") is None
    )
    return "regression" if form.head == "classification" and is_number else form.head


def task_of(form: EncoderArchitecture, config: dict[str, Any]) -> str:
    """Return the task of a folder's model."""
    kind = head_kind(form, config)
    return registry.task_of_model("encoder", kind)


def _labels(config: dict[str, Any]) -> list[str]:
    """Return the label names by id; the default of `transformers` is two labels."""
    names = config.get("id2label") or {number: f"LABEL_{number}" for number in range(config.get("num_labels") or 2)}
    return [str(names[number]) for number in sorted(names, key=int)]


def read_head(config: dict[str, Any], kind: str, where: str) -> tuple[HeadSettings, dict[str, Any]]:
    """Return the settings of a head, and the default facts of its task."""
    problem = config.get("problem_type")
    if problem == MULTI_LABEL and kind != "classification":
        raise CheckpointError(f"{where}: problem_type is {problem}, which no {kind} model has; correct config.json.")
    labels = _labels(config)
    outputs = {"regression": 1, "multiple-choice": 1, "extractive-qa": 2}.get(kind, len(labels))
    dropout = config.get("classifier_dropout")
    dropout = config.get("hidden_dropout_prob", 0.1) if dropout is None else dropout
    if kind == "extractive-qa":
        dropout = 0.0
    facts: dict[str, Any] = {"max_length": config["max_position_embeddings"]}
    if kind in ("classification", "token-classification"):
        facts |= {"labels": labels}
    if problem == MULTI_LABEL:
        facts |= {"problem_type": problem}
    if kind in ("classification", "regression"):
        has_pairs = kind == "regression" or any(word in label.lower() for label in labels for word in PAIR_WORDS)
        facts |= {"texts": 2 if has_pairs else 1, "pair_encoding": "cross-encoder"}
    if kind == "regression":
        facts |= {"center": 0.0, "spread": 1.0}
    if kind == "extractive-qa":
        facts |= {"stride": 128, "max_answer_tokens": 30, "has_unanswerable": False, "threshold": 0.0}
    return HeadSettings(kind=kind, outputs=outputs, dropout=dropout), facts


def head_to_ours(tensors: Weights, kind: str, where: str) -> Weights:
    """Return the weights of a head; a bias that shifts all candidates alike is left out."""
    name = LAYERS.get(kind, "classifier")
    parts = ("weight",) if kind in ("multiple-choice", "extractive-qa") else ("weight", "bias")
    return {f"output.{part}": take(tensors, f"{name}.{part}", where) for part in parts}


def head_to_theirs(weights: Weights, bundle: Bundle) -> Weights:
    """Return Hugging Face's tensors of a head; that of a regression is scaled to its targets' units."""
    assert bundle.head is not None
    name = LAYERS.get(bundle.head.kind, "classifier")
    weight = weights["output.weight"]
    bias = weights.get("output.bias", weight.new_zeros(weight.size(0)))
    if bundle.head.kind == "regression":
        center, spread = (float(bundle.facts[name]) for name in ("center", "spread"))
        weight, bias = weight * spread, bias * spread + center
    return {f"{name}.weight": weight.clone(), f"{name}.bias": bias.clone()}


def headed_architecture(bundle: Bundle) -> EncoderArchitecture:
    """Return the architecture of a model with a task head."""
    assert bundle.head is not None
    head = bundle.head
    if bundle.facts.get("pair_encoding") == "both-orders":
        raise ConfigError('pair_encoding: "both-orders" fits no Hugging Face architecture; "cross-encoder" does.')
    if head.pooling != "token":
        raise ConfigError(
            f'pooling: "{head.pooling}" of all tokens fits no Hugging Face architecture; "token" does: '
            f"train with pooling=token to write it."
        )
    if head.bilstm_width or head.is_mixed:
        raise ConfigError(
            f"bilstm_width: {head.bilstm_width} fits no Hugging Face architecture; train with "
            f"bilstm_width=0 to write it."
        )
    kind = "classification" if bundle.head.kind == "regression" else bundle.head.kind
    return next(form for form in HEADED_ARCHITECTURES if form.head == kind)


def as_sentence_encoder(bundle: Bundle) -> Bundle:
    """Return a similarity model as a sentence encoder, without its head."""
    assert bundle.head is not None
    embed = {
        "pooling": bundle.head.pooling,
        "is_normalized": True,
        "max_length": int(bundle.facts.get("max_length", 0)),
    }
    facts = {"embed": embed, "untrained": [POOLER, MASKED_WORDS]}
    return replace(bundle, task=registry.task_of_model("encoder"), model=bundle.model.body, facts=facts, head=None)


def head_config(bundle: Bundle) -> dict[str, Any]:
    """Return the keys of config.json that describe a head."""
    assert bundle.head is not None
    kind = bundle.head.kind
    config: dict[str, Any] = {"classifier_dropout": bundle.head.dropout}
    if kind == "regression":
        config |= {"id2label": {"0": "number"}, "label2id": {"number": 0}, "problem_type": "regression"}
    elif kind in ("classification", "token-classification"):
        labels = [str(label) for label in bundle.facts.get("labels", ())]
        config["id2label"] = {str(number): label for number, label in enumerate(labels)}
        config["label2id"] = {label: number for number, label in enumerate(labels)}
        if kind == "classification":
            config["problem_type"] = str(bundle.facts.get("problem_type", "single_label_classification"))
    return config


def remembered(bundle: Bundle) -> dict[str, Any]:
    """Return the facts that are written to a file of their own."""
    return {
        name: bundle.facts[name]
        for name in STORED_FACTS[bundle.head.kind if bundle.head else None]
        if name in bundle.facts
    }
