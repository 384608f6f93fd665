"""Attention step by step: the numbers of one word in one head, each with its formula and its function."""

import inspect
from collections.abc import Callable
from functools import partial
from pathlib import Path

import torch
from torch import Tensor

import regard
from regard.errors import ConfigError
from regard.inspection.attention_steps import AttentionSteps, record_steps
from regard.models.base.protocols import is_conditional_masked
from regard.nn.attention.attention import Attention, View, attention_weights
from regard.nn.attention.masks import causal_mask
from regard.nn.blocks import FeedForward, Residual
from regard.nn.layers.embedding import TokenEmbedding, VocabularyHead
from regard.nn.layers.positions import sinusoids
from regard.nn.layers.residual_norm import residual_and_norm
from regard.pipelines.base import AnyPipeline
from regard.studio.messages import Floats, InputRequest, StudioMessage, TokenCandidate
from regard.studio.views.gates import model_pass, sides_of
from regard.studio.views.models import tokenizer_of
from regard.studio.views.tree import candidates_of
from regard.tasks.translate.pipeline import Translator
from regard.text.readable import readable

PACKAGE = Path(regard.__file__).parent
TOP = 10
"""Tokens listed with their probabilities."""


class StepsRequest(InputRequest):
    """An input (with the target of a translator), and a kind, layer, head and position (0: the first)."""

    target: str | None = None
    kind: str = ""
    layer: int = 0
    head: int = 0
    position: int = 0


class Source(StudioMessage):
    """A function of the library: where it is and its code."""

    name: str
    file: str
    line: int
    code: str


class AttentionStage(StudioMessage):
    """One intermediate value: a vector of the word, or one number for each key."""

    name: str
    formula: str
    shape: str
    """Its shape for the whole sequence."""
    values: list[float | None]
    """None: minus infinity, where masked."""
    of: str
    """keys: a number for each key; features: a vector."""
    source: str
    """The name of the function that computes it."""
    matrix: Floats | None = None
    """Of keys and values, the vectors (S, K) themselves."""


class StepsView(StudioMessage):
    """All stages of one position, in order, and the functions."""

    kinds: list[str]
    kind: str
    layers: int
    heads: int
    queries: list[str]
    keys: list[str]
    stages: list[AttentionStage]
    candidates: list[TokenCandidate]
    """The most probable tokens after the last block; empty before it, or without an output layer."""
    sources: list[Source]


class ScaledExampleRequest(StudioMessage):
    """Scores q·k of one query, and the width of a head."""

    scores: tuple[float, ...] = (112.0, 96.0)
    width: int = 64


class ScaledExampleView(StudioMessage):
    """The scores divided by √K, and their softmax."""

    scores: list[float]
    scaled: list[float]
    weights: list[float]
    root: float


FUNCTIONS: dict[str, Callable[..., object]] = {
    "TokenEmbedding.forward": TokenEmbedding.forward,
    "sinusoids": sinusoids,
    "residual_and_norm": residual_and_norm,
    "Attention.split": Attention.split,
    "attention_weights": attention_weights,
    "causal_mask": causal_mask,
    "Attention.attend": Attention.attend,
    "Attention.join": Attention.join,
    "Residual.forward": Residual.forward,
    "FeedForward._activated": FeedForward._activated,
    "FeedForward.forward": FeedForward.forward,
    "VocabularyHead.forward": VocabularyHead.forward,
}


def source_of(name: str) -> Source:
    """Return the code of a function of the library."""
    function = FUNCTIONS[name]
    lines, first = inspect.getsourcelines(function)
    file = Path(inspect.getsourcefile(function) or "")
    return Source(name=name, file=str(Path("regard") / file.relative_to(PACKAGE)), line=first, code="".join(lines))


def show_steps(pipeline: AnyPipeline, request: StepsRequest) -> StepsView:
    """Return the stages of one position in one head."""
    target = request.target
    if isinstance(pipeline, Translator) and target is None:
        target = pipeline(request.text).text
    tokens, ids = sides_of(pipeline, request, target)
    kinds = ["encoder", "decoder", "cross"] if "source" in ids else ["self"]
    kind = request.kind or kinds[0]
    model = getattr(pipeline.model, "body", pipeline.model)
    hidden: list[Tensor] = []
    run = partial(_run, pipeline, ids, hidden)
    steps = record_steps(model, kind, request.layer, run)
    H, T, _ = steps.query.shape
    if not (0 <= request.head < H and 0 <= request.position < T):
        raise ConfigError(f"head: this layer has {H} heads and {T} positions; choose one of them.")
    sides = {"encoder": ("source", "source"), "decoder": ("target", "target"), "cross": ("target", "source")}
    queries, keys = sides.get(kind, ("text", "text"))
    layers = _layers(model, kind)
    candidates: list[TokenCandidate] = []
    if request.layer == layers - 1 and kind != "encoder" and hidden:
        with torch.inference_mode():
            logits = pipeline.model.project(hidden[-1][0, request.position]).float()
        candidates = candidates_of(logits.softmax(-1), tokenizer_of(pipeline), TOP)
    stages = stages_at(steps, request.head, request.position, kind == "cross")
    names = dict.fromkeys([*(each.source for each in stages), *(["VocabularyHead.forward"] if candidates else [])])
    return StepsView(
        kinds=kinds,
        kind=kind,
        layers=layers,
        heads=H,
        queries=readable(tokens[queries]),
        keys=readable(tokens[keys]),
        stages=stages,
        candidates=candidates,
        sources=[source_of(name) for name in names],
    )


def _run(pipeline: AnyPipeline, ids: dict[str, list[int]], hidden: list[Tensor]) -> None:
    states = model_pass(pipeline, ids)
    has_output = not is_conditional_masked(pipeline.model) and hasattr(pipeline.model, "project")
    if has_output or "source" in ids:
        hidden.append(states)


def _layers(model: torch.nn.Module, kind: str) -> int:
    side = {"encoder": "encoder.blocks", "decoder": "decoder.blocks", "cross": "decoder.blocks"}.get(kind, "blocks")
    return sum(1 for _ in model.get_submodule(side).children())


def stages_at(steps: AttentionSteps, head: int, position: int, is_cross: bool) -> list[AttentionStage]:
    """Return the stages of a position and head in the order in which they are computed.

    In formulas x is the input of a sublayer, n its norm, m the output of the encoder, R(t) a position's rotation.
    """
    h, t = head, position
    (H, T, K), S = steps.query.shape, steps.key.size(1)
    D, F = steps.given.size(1), steps.inner.size(1)
    made: list[AttentionStage] = []

    def add(
        name: str, formula: str, shape: str, values: Tensor | None, of: str, source: str, matrix: Tensor | None = None
    ) -> None:
        if values is not None:
            plain = [value if value != float("-inf") else None for value in values.tolist()]
            made.append(
                AttentionStage(
                    name=name,
                    formula=formula,
                    shape=shape,
                    values=plain,
                    of=of,
                    source=source,
                    matrix=None if matrix is None else Floats.of(matrix),
                )
            )

    at = lambda value: None if value is None else value[t]
    if steps.embedded is not None and steps.embedded.size(0) == T:
        add("embedding", "x = E[token] · √D", f"({T}, {D})", at(steps.embedded), "features", "TokenEmbedding.forward")
        add("position", "PE(t)", f"({T}, {D})", at(steps.positions), "features", "sinusoids")
    add("input of the block", "x", f"({T}, {D})", at(steps.given), "features", "Residual.forward")
    add("norm", "n = LayerNorm(x)", f"({T}, {D})", at(steps.normed), "features", "residual_and_norm")
    read = "n" if steps.normed is not None else "x"
    keys_of = "m" if is_cross else read
    turned = "R(t) · " if steps.is_rotated else ""
    add("query q", f"q = {turned}{read} W_Q", f"({H}, {T}, {K})", steps.query[h, t], "features", "Attention.split")
    add(
        "keys k",
        f"|k| of k = {turned}{keys_of} W_K",
        f"({H}, {S}, {K})",
        steps.key[h].norm(dim=-1),
        "keys",
        "Attention.split",
        steps.key[h],
    )
    add(
        "values v",
        f"|v| of v = {keys_of} W_V",
        f"({H}, {S}, {K})",
        steps.value[h].norm(dim=-1),
        "keys",
        "Attention.split",
        steps.value[h],
    )
    add("scores", "q · k", f"({H}, {T}, {S})", steps.products[h, t], "keys", "attention_weights")
    add("scaled", f"q · k / √{K}", f"({H}, {T}, {S})", steps.scores[h, t], "keys", "attention_weights")
    if steps.mask is not None:
        add("masked", "−∞ where the mask is False", f"({T}, {S})", steps.masked[h, t], "keys", "causal_mask")
    add("weights", "softmax over the keys", f"({H}, {T}, {S})", steps.weights[h, t], "keys", "attention_weights")
    add("weighted sum z", "z = Σ weight · v", f"({H}, {T}, {K})", steps.heads[h, t], "features", "Attention.attend")
    heads = steps.heads[:, t].flatten()
    add("heads side by side", "[z₁; …; z_H]", f"({T}, {H * K})", heads, "features", "Attention.join")
    add("output", "[z₁; …; z_H] W_O", f"({T}, {D})", steps.output[t], "features", "Attention.join")
    norm = "x + output" if steps.normed is not None else "LayerNorm(x + output)"
    add("add & norm", norm, f"({T}, {D})", steps.attended[t], "features", "Residual.forward")
    add("feed-forward, inside", "act(x W₁ + b₁)", f"({T}, {F})", steps.inner[t], "features", "FeedForward._activated")
    add("feed-forward", "act(x W₁ + b₁) W₂ + b₂", f"({T}, {D})", steps.outer[t], "features", "FeedForward.forward")
    norm = "x + feed-forward" if steps.normed is not None else "LayerNorm(x + feed-forward)"
    add("output of the block", norm, f"({T}, {D})", steps.result[t], "features", "Residual.forward")
    return made


def show_scaled_example(request: ScaledExampleRequest) -> ScaledExampleView:
    """Return scaled dot-product attention of one query whose products with the keys are given."""
    if not request.scores or len(request.scores) > 64 or not 1 <= request.width <= 4096:
        raise ConfigError("scores: give 1 to 64 scores, and a width of 1 to 4,096.")
    query = torch.zeros(1, 1, 1, request.width)
    query[..., 0] = 1
    key = torch.zeros(1, 1, len(request.scores), request.width)
    key[0, 0, :, 0] = torch.tensor(request.scores)
    weights = attention_weights(query, key, View())[0, 0, 0]
    root = request.width**0.5
    return ScaledExampleView(
        scores=list(request.scores),
        scaled=[score / root for score in request.scores],
        weights=weights.tolist(),
        root=root,
    )
