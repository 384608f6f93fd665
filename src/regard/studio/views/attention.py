"""Attention of one input: weights by kind, layer and head, and what the output was."""

from regard.errors import ConfigError
from regard.models.families import family
from regard.nn.attention.attention import Attention
from regard.nn.probes.trace import Trace
from regard.pipelines.base import AnyPipeline
from regard.studio.messages import Floats, InputRequest, StudioMessage
from regard.studio.views.heads import row_of
from regard.tasks.finetune.pipeline import HeadPipeline
from regard.tasks.translate.pipeline import Translator
from regard.text.readable import readable

LARGEST = 2**24
"""Weights that one answer holds: 64 heads over 512 tokens."""


class AttentionRequest(InputRequest):
    """An input, and the target that a translator reads (default: its own output)."""

    target: str | None = None
    kind: str | None = None
    """cross, encoder, decoder or self (default: the first there is)."""


class AttentionKind(StudioMessage):
    """A kind of attention that a model has."""

    name: str
    layers: int
    heads: int


class AttentionView(StudioMessage):
    """The weights (layers, heads, queries, keys) of one kind of attention."""

    kinds: list[AttentionKind]
    kind: str
    queries: list[str]
    keys: list[str]
    weights: Floats
    output: str | None
    """The text of the target that was read."""
    score: float | None
    fields: list["ReceptiveField"]
    """Of a convolutional model: what each layer takes in."""


class ReceptiveField(StudioMessage):
    """The positions that one layer of a convolutional stack takes in around (encoder) or before (decoder) each."""

    side: str
    layer: int
    before: int
    after: int


def show_attention(pipeline: AnyPipeline, request: AttentionRequest) -> AttentionView:
    """Return the attention weights of one forward pass."""
    target, score = request.target, None
    _check_size(pipeline, [request.text, target or "", " ".join(request.fields.values())])
    if isinstance(pipeline, Translator) and target is None:
        best = pipeline(request.text)
        target, score = best.text, best.score
    trace = _traced(pipeline, request, target)
    if not trace.kinds:
        raise ConfigError(f"{request.model}: this model has no attention; its gates over time are in the same view.")
    kind = request.kind or trace.kinds[0]
    layers = [trace.layer(kind, layer) for layer in range(trace.layers(kind))]
    size = sum(each.weights.size for each in layers)
    if size > LARGEST:
        raise ConfigError(
            f"text: {size:,} attention weights are more than the {LARGEST:,} of one picture; shorten it."
        )
    return AttentionView(
        kinds=[
            AttentionKind(name=name, layers=trace.layers(name), heads=len(trace.layer(name, 0).weights))
            for name in trace.kinds
        ],
        kind=kind,
        queries=readable(layers[0].queries),
        keys=readable(layers[0].keys),
        weights=Floats.of([each.weights for each in layers]),
        output=target,
        score=score,
        fields=receptive_fields(pipeline),
    )


def _traced(pipeline: AnyPipeline, request: AttentionRequest, target: str | None) -> Trace:
    """Return the trace of a text, a pair of source and target, or a row."""
    trace: Trace
    if isinstance(pipeline, HeadPipeline):
        row = row_of(pipeline, request.fields or {"text": request.text}, request.choices)
        trace = pipeline.inspect([row])
    else:
        trace = pipeline.inspect(request.text) if target is None else pipeline.inspect(request.text, target)
    return trace


def _check_size(pipeline: AnyPipeline, texts: list[str]) -> None:
    """Refuse texts whose weights would fill the memory, before any is computed."""
    tokenizer = getattr(pipeline, "source_tokenizer", None) or getattr(pipeline, "tokenizer", None)
    model = getattr(pipeline, "model", None)
    if tokenizer is None or model is None:
        return
    heads = sum(module.head_count for module in model.modules() if isinstance(module, Attention))
    tokens = max(len(tokenizer.encode(text).ids) for text in texts)
    if heads * tokens**2 > 3 * LARGEST:
        raise ConfigError(f"text: {tokens:,} tokens have more attention weights than one picture holds; shorten it.")


def receptive_fields(pipeline: AnyPipeline) -> list[ReceptiveField]:
    """Return the receptive field of each convolution; empty for other models."""
    settings = pipeline.bundle.settings
    kernel = getattr(settings, "kernel", None)
    if kernel is None or family(settings.family).kind != "seq2seq":
        return []
    reach = int(kernel) // 2
    encoder = [
        ReceptiveField(side="encoder", layer=layer, before=reach * (layer + 1), after=reach * (layer + 1))
        for layer in range(int(getattr(settings, "encoder_layers", 0)))
    ]
    decoder = [
        ReceptiveField(side="decoder", layer=layer, before=(int(kernel) - 1) * (layer + 1), after=0)
        for layer in range(int(getattr(settings, "decoder_layers", 0)))
    ]
    return encoder + decoder
