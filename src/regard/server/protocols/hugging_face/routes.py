"""Routes of Hugging Face inference: a model's URL, or that of one of its pipelines."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from fastapi import APIRouter
from pydantic import Field
from starlette.responses import Response

from regard.pipelines.inputs import as_row
from regard.server.errors import RequestError
from regard.server.faults import Fault, JsonResponse
from regard.server.guard import Asker
from regard.server.protocols.base import ANY_NAME, Body, From, Protocol, ServerState, State, event_stream, faults
from regard.server.protocols.hugging_face.answers import TAGS
from regard.server.protocols.hugging_face.generation import events, generation_options, whole
from regard.server.protocols.openai.bodies import ChatBody
from regard.server.protocols.openai.choices import Prompt, SamplingPlan
from regard.server.protocols.openai.routes import chat_completions
from regard.server.scheduling.units import GenerationCall
from regard.server.served import ServedModel
from regard.tasks.declarations import Operation

PREFIX = "huggingface:"
ERROR = {"type": "object", "required": ["error"], "properties": {"error": {"type": "string"}}}
FAULTS = faults(ERROR)
Texts = Annotated[list[str], Field(min_length=1)]
router = APIRouter(tags=["Hugging Face"])


class Fields(Body):
    """A row whose texts have names."""

    question: str | None = None
    context: str | None = None
    source_sentence: str | None = None
    sentences: Texts | None = None


class InferenceBody(Body):
    """The body that clients post to the URL of a model."""

    inputs: str | Texts | Fields
    """A text, a list of texts, {question, context} or {source_sentence, sentences}."""
    parameters: dict[str, object] | None = None
    """Parameters of the pipeline."""
    options: dict[str, object] | None = None
    """Options of a hosted service: without effect."""
    model: str | None = Field(None, json_schema_extra={ANY_NAME: True})
    """Without effect: the URL names the model."""
    stream: bool | None = None
    """Send text token by token."""
    normalize: bool | None = None
    truncate: bool | None = None
    truncation_direction: str | None = None
    prompt_name: str | None = None
    dimensions: int | None = None


def hugging_face_shape(fault: Fault) -> tuple[int, Mapping[str, object]]:
    """Return the shape of the errors of Hugging Face."""
    return 400 if fault.status == 422 else fault.status, {"error": fault.message}


HUGGING_FACE = Protocol(router, ("/models/", "/pipeline/"), hugging_face_shape)


@router.post("/models/{model}", responses=FAULTS)
async def infer(model: str, body: InferenceBody, state: State, asker: From) -> Response:
    """Answer with the pipeline that fits the inputs."""
    return await _answer(model, None, body, state, asker)


@router.post("/models/{model}/pipeline/{tag}", responses=FAULTS)
async def infer_by_tag(model: str, tag: str, body: InferenceBody, state: State, asker: From) -> Response:
    """Answer with the pipeline of a tag."""
    return await _answer(model, tag, body, state, asker)


@router.post("/pipeline/{tag}/{model}", responses=FAULTS)
async def infer_by_pipeline(tag: str, model: str, body: InferenceBody, state: State, asker: From) -> Response:
    """Answer with the pipeline of a tag."""
    return await _answer(model, tag, body, state, asker)


@router.post("/models/{model}/v1/chat/completions", responses=FAULTS)
async def chat(model: str, body: ChatBody, state: State, asker: From) -> Response:
    """Answer messages by the chat template of the checkpoint."""
    return await chat_completions(body.model_copy(update={"model": model}), state, asker)


async def _answer(model: str, tag: str | None, body: InferenceBody, state: ServerState, asker: Asker) -> Response:
    served = await state.store.model(model)
    named = _tag(served, body) if tag is None else tag
    if named != "text-generation" and named not in TAGS:
        raise RequestError(f'"{named}" is not one of text-generation, {", ".join(TAGS)}.')
    operation, parameters = served.for_protocol(PREFIX + named), dict(body.parameters or {})
    if named == "text-generation":
        return await _generated(served, operation, body, parameters, asker)
    if named == "feature-extraction":
        both = {
            "normalize": body.normalize,
            "truncate": body.truncate,
            "truncation_direction": body.truncation_direction,
        }
        parameters |= {name: value for name, value in both.items() if value is not None}
    spec = TAGS[named]
    more = parameters.get("generate_parameters")
    options = spec.given(parameters) | (dict(more) if isinstance(more, dict) else {})
    await _check_languages(state, model, parameters)
    rows = _rows(operation, body.inputs, state.settings.max_rows)
    results = await served.results(served.call(operation, options), rows, asker)
    return JsonResponse(spec.answer(results, parameters))


async def _generated(
    served: ServedModel, operation: Operation, body: InferenceBody, parameters: dict[str, object], asker: Asker
) -> Response:
    if isinstance(body.inputs, Fields):
        raise RequestError("inputs: give a text, or a list of texts.", "inputs")
    call = served.call(operation, generation_options(parameters))
    assert isinstance(call, GenerationCall), "texts are generated token by token"
    prompts = [Prompt(text) for text in ([body.inputs] if isinstance(body.inputs, str) else body.inputs)]
    is_detailed = bool(parameters.get("details") or body.stream)
    if body.stream and len(prompts) > 1:
        raise RequestError("stream: several texts cannot be streamed together; send one.", "stream")
    seed = parameters.get("seed")
    plan = SamplingPlan(
        served,
        call,
        operation,
        prompts,
        1,
        seed if isinstance(seed, int) else None,
        1 if is_detailed else None,
        asker,
        bool(body.stream),
    )
    if body.stream:
        return await event_stream(events(plan, parameters), hugging_face_shape)
    return JsonResponse(await whole(plan, parameters))


def _tag(served: ServedModel, body: InferenceBody) -> str:
    """Return the tag that fits a model and its inputs; the model's own comes first."""
    tags = [
        protocol.removeprefix(PREFIX)
        for operation in (*served.task.operations, *served.operations.values())
        for protocol in operation.protocols
        if protocol.startswith(PREFIX)
    ]
    if not tags:
        raise RequestError(f'"{served.name}" is {served.task.wording.noun}, which has no pipeline here.', "model")
    if isinstance(body.inputs, Fields):
        return "sentence-similarity" if body.inputs.source_sentence is not None else "question-answering"
    if "fill-mask" in tags and "[MASK]" not in str(body.inputs):
        return "feature-extraction"
    return tags[0]


def _rows(operation: Operation, inputs: str | Sequence[str] | Fields, most: int) -> list[object]:
    """Return the rows of inputs."""
    if isinstance(inputs, Fields):
        given = inputs.model_dump(exclude_none=True)
        if {"source_sentence", "sentences"} == set(given):
            return [operation.row(given["source_sentence"], each) for each in given["sentences"][:most]]
        if "question" in given:
            return [as_row(operation.row, operation.inputs, given, "inputs")]
        raise RequestError("inputs: give {source_sentence, sentences} or {question, context}.", "inputs")
    texts = [inputs] if isinstance(inputs, str) else list(inputs)
    if len(texts) > most:
        raise RequestError(f"inputs: {len(texts):,} texts are more than {most:,}; send fewer at a time.", "inputs")
    return [as_row(operation.row, operation.inputs, {operation.inputs[0]: each}, "inputs") for each in texts]


async def _check_languages(state: ServerState, model: str, parameters: Mapping[str, object]) -> None:
    """Refuse languages that are not those of a translator."""
    known = (await state.store.card(model)).languages
    for name, language in zip(("src_lang", "tgt_lang"), known, strict=False):
        if parameters.get(name) not in (None, language):
            raise RequestError(f"{name}: this model's is {language}; choose another model.", name)
