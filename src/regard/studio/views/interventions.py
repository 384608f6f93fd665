"""Interventions: heads and layers off, weights overwritten, the output computed anew, and the same in Python."""

import json
import weakref

import numpy as np

from regard.errors import ConfigError
from regard.inspection.interventions import Edit
from regard.models.base.protocols import is_conditional_masked
from regard.pipelines.base import AnyPipeline
from regard.pipelines.encoder import Encoder
from regard.pipelines.generation import GeneratingPipeline
from regard.studio.messages import Floats, StudioMessage
from regard.studio.views.heads import row_of
from regard.studio.views.outputs import GREEDY, PARALLEL, EditedInput, EditedOutput, output_of
from regard.text.readable import readable

_plain: "weakref.WeakKeyDictionary[AnyPipeline, tuple[EditedInput, EditedOutput]]" = weakref.WeakKeyDictionary()
"""The newest input of each model, and its output without edits."""


class EditMessage(StudioMessage):
    """One change (see `inspection.interventions.Edit`)."""

    kind: str
    layer: int
    head: int | None = None
    query: int | None = None
    key: int | None = None
    weight: float | None = None


class InterventionRequest(EditedInput):
    """An input, edits in the order in which they were made, and the attention to show."""

    edits: tuple[EditMessage, ...] = ()
    kind: str = ""


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


def edits_of(request: InterventionRequest) -> list[Edit]:
    """Return the edits of a request, checked."""
    edits = [Edit(**each.model_dump()) for each in request.edits]
    for each in edits:
        if each.is_overwrite and (each.query is None or each.key is None or not 0 <= (each.weight or 0) <= 1):
            raise ConfigError("weight: an overwritten weight has a query, a key, and a value from 0 to 1.")
    return edits


def show_intervention(pipeline: AnyPipeline, request: InterventionRequest) -> InterventionView:
    """Return what the edits change: the output without and with them."""
    edits = edits_of(request)
    after, weighed = output_of(pipeline, request, edits)
    trace = weighed()
    if not trace.kinds:
        raise ConfigError(f"{request.model}: this model has no attention to change; choose another one.")
    given = EditedInput.model_validate(request.model_dump(include=set(EditedInput.model_fields)))
    before = _unedited(pipeline, given) if edits else after
    _plain[pipeline] = (given, before)
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
        code=code_of(pipeline, request),
    )


def _unedited(pipeline: AnyPipeline, given: EditedInput) -> EditedOutput:
    """Return the output without edits: each further edit of the same input compares with the same one."""
    known = _plain.get(pipeline)
    return known[1] if known is not None and known[0] == given else output_of(pipeline, given, [])[0]


def code_of(pipeline: AnyPipeline, request: InterventionRequest) -> str:
    """Return the edits as Python code that gives the same output."""
    model, call, more = _call(pipeline, request)
    words = []
    for each in request.edits:
        named = {name: value for name, value in each.model_dump().items() if value is not None}
        words.append(f"    Edit({', '.join(f'{name}={value!r}' for name, value in named.items())}),")
    return "\n".join(
        [
            "import regard",
            "from regard.inspection.interventions import Edit, edited",
            "",
            "edits = [",
            *words,
            "]",
            f"model = regard.load({request.model!r})",
            f"with edited({model}, edits{more}):",
            f"    print({call})",
            "",
        ]
    )


def _call(pipeline: AnyPipeline, request: InterventionRequest) -> tuple[str, str, str]:
    """Return what is edited, the call whose output is shown, and further arguments of the edits, as code."""
    text = json.dumps(request.text, ensure_ascii=False)
    if isinstance(pipeline, GeneratingPipeline):
        if is_conditional_masked(pipeline.model):
            return "model.model", f"model({text}, {_options(PARALLEL)}).text", ", is_repeated=True"
        length = {} if hasattr(pipeline, "source_tokenizer") else {"max_new_tokens": request.max_new_tokens}
        return "model.model", f"model({text}, {_options(GREEDY | length)}).text", ""
    if isinstance(pipeline, Encoder):
        return "model.model", f"model.fill({text}, top=1).filled", ""
    row = row_of(pipeline, request.fields, request.choices)
    return "model.model.body", f"model([{row!r}])[0].text", ""


def _options(options: "dict[str, str | int | float | bool | None]") -> str:
    return ", ".join(f"{name}={value!r}" for name, value in options.items())
