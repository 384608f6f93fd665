"""Recurrent models unrolled: the gates and states of every layer over time."""

import torch

from regard.errors import ConfigError
from regard.inspection.gates import recording_gates, recurrent_layers
from regard.models.base.protocols import is_conditional_masked
from regard.models.families import family
from regard.pipelines.base import AnyPipeline
from regard.pipelines.encoder import Encoder
from regard.studio.messages import Floats, InputRequest, StudioMessage
from regard.studio.views.heads import row_of
from regard.studio.views.models import tokenizer_of
from regard.tasks.finetune.pipeline import HeadPipeline
from regard.tasks.language_model.pipeline import Generator
from regard.tasks.translate.pipeline import Translator
from regard.text.char_tokenizer import WORD_START_LIMIT
from regard.text.mask_tokens import encode_masked
from regard.text.readable import readable
from regard.text.tokenizer import MASK

MOST_TOKENS = 2048
"""Tokens of one picture."""


class GatesRequest(InputRequest):
    """An input, and the target that a translator reads (default: its own output)."""

    target: str | None = None


class Gate(StudioMessage):
    """A gate or state of a layer over time."""

    name: str
    values: Floats
    """(T, D)"""
    means: list[float]
    """The mean of its features at each step."""


class GatesLayer(StudioMessage):
    """A recurrent layer over the tokens of one side."""

    path: str
    cell: str
    is_backward: bool
    tokens: list[str]
    gates: list[Gate]


class GatesView(StudioMessage):
    """The recurrent layers of a model; empty: it has none."""

    layers: list[GatesLayer]
    output: str | None


def show_gates(pipeline: AnyPipeline, request: GatesRequest) -> GatesView:
    """Return the gates of a forward pass, step by step."""
    model = pipeline.model
    if not recurrent_layers(model):
        return GatesView(layers=[], output=None)
    target = request.target
    if isinstance(pipeline, Translator) and target is None:
        target = pipeline(request.text).text
    sides, ids = sides_of(pipeline, request, target)
    with recording_gates(model) as traces:
        model_pass(pipeline, ids)
    layers = []
    for path, trace in traces.items():
        if not trace.hidden:
            continue
        side = "target" if path.startswith("decoder") else "source"
        tokens = sides.get(side, sides.get("text", []))
        names = [*trace.names, *(["cell"] if trace.cells else []), *(["hidden"] if trace.names != ("h",) else [])]
        rows = {name: trace.rows(name) for name in names}
        gates = [Gate(name=name, values=Floats.of(each), means=each.mean(1).tolist()) for name, each in rows.items()]
        cell = model.get_submodule(path).fused.mode.lower().replace("rnn_tanh", "rnn")
        shown = steps_of(pipeline, ids["text"], tokens) if "text" in ids else tokens
        layers.append(
            GatesLayer(path=path, cell=cell, is_backward=trace.is_backward, tokens=readable(shown), gates=gates)
        )
    return GatesView(layers=layers, output=target)


def steps_of(pipeline: AnyPipeline, ids: list[int], tokens: list[str]) -> list[str]:
    """Return what the steps of a recurrent layer over a text are named: its tokens, or an ELMo's words."""
    if not is_bidirectional_lm(pipeline):
        return tokens
    tokenizer = tokenizer_of(pipeline)
    starts = [place for place, number in enumerate(ids) if number < WORD_START_LIMIT]
    bounds = zip(starts, [*starts[1:], len(ids)], strict=True)
    return [tokenizer.decode(ids[begin:end]).strip() or tokens[begin] for begin, end in bounds]


def is_bidirectional_lm(pipeline: AnyPipeline) -> bool:
    """Return True for a model whose tokens are bytes and whose steps are words."""
    return family(pipeline.bundle.settings.family).kind == "bidirectional-lm"


def sides_of(
    pipeline: AnyPipeline, given: InputRequest, target: str | None
) -> tuple[dict[str, list[str]], dict[str, list[int]]]:
    """Return the tokens and ids that the encoder and the decoder of a model read, special tokens included."""
    text = given.text
    if isinstance(pipeline, Translator):
        own, other = pipeline.source_tokenizer, pipeline.target_tokenizer
        ids = {
            "source": [*own.encode(text).ids, own.eos_id],
            "target": [other.bos_id, *other.encode(target or "").ids],
        }
        return {"source": own.tokens(ids["source"]), "target": other.tokens(ids["target"])}, _bounded(ids)
    if isinstance(pipeline, Generator):
        ids = {"text": [pipeline.tokenizer.eos_id, *pipeline.tokenizer.encode(text).ids]}
    elif isinstance(pipeline, Encoder):
        masked = encode_masked(pipeline.tokenizer, text) if MASK in text else pipeline.tokenizer.encode(text).ids
        ids = {"text": pipeline.with_specials(masked)}
    elif isinstance(pipeline, HeadPipeline):
        read, segments = pipeline.first_sequence(row_of(pipeline, given.fields or {"text": text}, given.choices))
        ids = {"text": read.tolist()} | ({} if segments is None else {"segments": segments.tolist()})
    else:
        raise ConfigError("gates: this view is for translators, language models and text encoders.")
    return {"text": pipeline.tokenizer.tokens(ids["text"])}, _bounded(ids)


def _bounded(ids: dict[str, list[int]]) -> dict[str, list[int]]:
    """Return ids; more of them than one picture holds are refused."""
    most = max(len(each) for each in ids.values())
    if most > MOST_TOKENS:
        raise ConfigError(f"text: {most:,} tokens are more than the {MOST_TOKENS:,} of one picture; shorten it.")
    return ids


def model_pass(pipeline: AnyPipeline, ids: dict[str, list[int]]) -> torch.Tensor:
    """Return the hidden states (1, T, D) of the model, or of the body under a head, over these ids."""
    model = getattr(pipeline.model, "body", pipeline.model)
    rows = {name: torch.tensor([each], device=pipeline.device) for name, each in ids.items()}
    with torch.inference_mode():
        if "source" not in rows:
            states: torch.Tensor = model.hidden_states(*rows.values())
            return states
        source, target = rows["source"], rows["target"]
        memory = model.encode(source, torch.ones_like(source, dtype=torch.bool))
        if is_conditional_masked(model):
            decoded: torch.Tensor = model.decode(target, memory, torch.ones_like(target, dtype=torch.bool))
            return decoded
        return model.decode(target, memory)
