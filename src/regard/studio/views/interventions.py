"""Interventions: heads and layers off, weights overwritten, the output decoded anew; heads ranked by their effect."""

import json

import numpy as np
import torch

from regard.data.settings.pairs import PairData
from regard.decoding.distribution import generate_steps
from regard.decoding.scoring import target_log_probabilities
from regard.errors import ConfigError
from regard.inspection.interventions import Edit, attention_path, edited
from regard.nn.attention.attention import Attention
from regard.nn.probes.trace import KINDS, Trace
from regard.pipelines.base import AnyPipeline
from regard.progress import SILENT
from regard.runs.store.folder import read_record
from regard.studio.messages import Floats, ModelRequest, StudioMessage
from regard.studio.views.gates import model_pass, sides_of
from regard.studio.views.models import generating, source_tokenizer_of, tokenizer_of
from regard.studio.views.tree import OptionValue, prepared
from regard.tasks.translate.evaluate import encode_pairs
from regard.tasks.translate.pipeline import Translator
from regard.tasks.translate.prepare import validation_pairs
from regard.text.readable import readable

MOST_SENTENCES = 64
"""Sentences of validation that a ranking may use."""
GREEDY: dict[str, OptionValue] = {"method": "beam", "beam_size": 1}


class EditMessage(StudioMessage):
    """One change (see `inspection.interventions.Edit`)."""

    kind: str
    layer: int
    head: int | None = None
    query: int | None = None
    key: int | None = None
    weight: float | None = None


class InterventionRequest(ModelRequest):
    """A text, edits in the order in which they were made, and the attention to show."""

    text: str
    edits: tuple[EditMessage, ...] = ()
    kind: str = ""
    max_new_tokens: int = 40


class EditedOutput(StudioMessage):
    """An output of greedy search."""

    text: str
    tokens: list[str]
    probabilities: list[float]


class InterventionView(StudioMessage):
    """The output without and with the edits, the edited attention, and Python code that does the same."""

    before: EditedOutput
    after: EditedOutput
    kinds: list[str]
    kind: str
    queries: list[str]
    keys: list[str]
    weights: Floats
    """(layers, heads, queries, keys) of the edited model over its own output."""
    code: str


class RankingRequest(ModelRequest):
    """A number of sentences of validation."""

    sentences: int = 16


class HeadEffect(StudioMessage):
    """A head, and the change of the mean loss of a target token without it."""

    kind: str
    layer: int
    head: int
    effect: float


class RankingView(StudioMessage):
    """All heads, the most important first."""

    loss: float
    sentences: int
    heads: list[HeadEffect]


def edits_of(request: InterventionRequest) -> list[Edit]:
    """Return the edits of a request, checked."""
    edits = [Edit(**each.model_dump()) for each in request.edits]
    for each in edits:
        if each.is_overwrite and (each.query is None or each.key is None or not 0 <= (each.weight or 0) <= 1):
            raise ConfigError("weight: an overwritten weight has a query, a key, and a value from 0 to 1.")
    return edits


def show_intervention(pipeline: AnyPipeline, request: InterventionRequest) -> InterventionView:
    """Return what the edits change: greedy search without and with them."""
    generating(pipeline)
    edits = edits_of(request)
    before, _ = _output(pipeline, request, [])
    after, trace = _output(pipeline, request, edits)
    if not trace.kinds:
        raise ConfigError(f"{request.model}: this model has no attention to change; choose another one.")
    kind = request.kind or trace.kinds[0]
    layers = [trace.layer(kind, layer) for layer in range(trace.layers(kind))]
    return InterventionView(
        before=before,
        after=after,
        kinds=list(trace.kinds),
        kind=kind,
        queries=readable(layers[0].queries),
        keys=readable(layers[0].keys),
        weights=Floats.of(np.stack([each.weights for each in layers])),
        code=code_of(request, isinstance(pipeline, Translator)),
    )


def _output(pipeline: AnyPipeline, request: InterventionRequest, edits: list[Edit]) -> tuple[EditedOutput, Trace]:
    """Return the greedy output of the edited model, and a trace of its forward pass over it."""
    is_translator = isinstance(pipeline, Translator)
    limit: dict[str, OptionValue] = {} if is_translator else {"max_new_tokens": request.max_new_tokens}
    job, one = prepared(pipeline, request.text, GREEDY | limit, [])
    with edited(pipeline.model, edits):
        made = list(generate_steps(job, one))
    ids = [each.id for each in made]
    tokenizer = tokenizer_of(pipeline)
    content = [number for number in ids if number != tokenizer.eos_id]
    text = tokenizer.decode(content)
    output = EditedOutput(
        text=text, tokens=readable(tokenizer.tokens(ids)), probabilities=[each.probability for each in made]
    )
    return output, _traced(pipeline, request.text, ids, edits)


def _traced(pipeline: AnyPipeline, text: str, ids: list[int], edits: list[Edit]) -> Trace:
    """Return the weights that the edited model attends with, over an output of it."""
    tokenizer = tokenizer_of(pipeline)
    _, read = sides_of(pipeline, text, "")
    content = ids[:-1] if ids and ids[-1] == tokenizer.eos_id else ids
    if "source" in read:
        read["target"] = [tokenizer.bos_id, *content]
        tokens = {
            "source": source_tokenizer_of(pipeline).tokens(read["source"]),
            "target": tokenizer.tokens([*content, tokenizer.eos_id]),
            "input": tokenizer.tokens(read["target"]),
        }
    else:
        read["text"] = [*read["text"], *content]
        tokens = {"text": tokenizer.tokens(read["text"])}
    recorded: dict[str, torch.Tensor] = {}
    with edited(pipeline.model, edits, recorded):
        model_pass(pipeline, read)
    return Trace(tokens, {name: each.numpy() for name, each in recorded.items()})


def code_of(request: InterventionRequest, is_translator: bool) -> str:
    """Return lines of Python that apply the same edits and print the output."""
    words = []
    for each in request.edits:
        named = {name: value for name, value in each.model_dump().items() if value is not None}
        words.append(f"    Edit({', '.join(f'{name}={value!r}' for name, value in named.items())}),")
    options = 'method="beam", beam_size=1' + ("" if is_translator else f", max_new_tokens={request.max_new_tokens}")
    return "\n".join(
        [
            "import regard",
            "from regard.decoding.distribution import generate_steps",
            "from regard.inspection.interventions import Edit, edited",
            "",
            "edits = [",
            *words,
            "]",
            f"model = regard.load({request.model!r})",
            f"options = model.options({options})",
            f"job, one = model.job(options), model.request(model.row({json.dumps(request.text)}), options)",
            "with edited(model.model, edits):",
            "    ids = [each.id for each in generate_steps(job, one)]",
            "print(model.tokenizer.decode(ids))",
            "",
        ]
    )


def rank_heads(pipeline: AnyPipeline, request: RankingRequest) -> RankingView:
    """Return the heads of a translator by the loss without each of them, over a sample of validation."""
    if not isinstance(pipeline, Translator) or len(pipeline.models) > 1:
        raise ConfigError("rank: heads are ranked over sentence pairs of validation; choose a translator.")
    if not 1 <= request.sentences <= MOST_SENTENCES:
        raise ConfigError(f"sentences: {request.sentences} is out of range; choose 1 to {MOST_SENTENCES}.")
    record = read_record(pipeline.origin)
    if record is None:
        raise ConfigError(f"{pipeline.origin}: this model has no run, and so no validation data; choose a run.")
    pairs = validation_pairs(record.data_settings(PairData), SILENT)
    rows = np.linspace(0, len(pairs) - 1, min(request.sentences, len(pairs))).astype(int)
    encoded = encode_pairs(pipeline, [pairs[row] for row in rows])
    batch = encoded.batch(np.arange(len(rows))).to(pipeline.device)
    loss = lambda: -float(target_log_probabilities([pipeline.model], batch).mean())
    with edited(pipeline.model, []):
        before = loss()
    effects = []
    for kind, layer, head in _heads(pipeline.model):
        with edited(pipeline.model, [Edit(kind, layer, head)]):
            effects.append(HeadEffect(kind=kind, layer=layer, head=head, effect=loss() - before))
    effects.sort(key=lambda each: -each.effect)
    return RankingView(loss=before, sentences=len(rows), heads=effects)


def _heads(model: torch.nn.Module) -> list[tuple[str, int, int]]:
    """Return kind, layer and number of every head that can be switched off."""
    heads = []
    for kind in KINDS:
        for layer in range(1024):
            try:
                attention = model.get_submodule(attention_path(model, kind, layer))
            except ConfigError:
                break
            if not isinstance(attention, Attention):
                break
            heads += [(kind, layer, head) for head in range(attention.head_count)]
    return heads
