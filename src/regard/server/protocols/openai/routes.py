"""Routes of OpenAI's API, and its shape of errors."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from fastapi import APIRouter
from starlette.responses import Response

from regard.pipelines.encoder_results import Vectors
from regard.server.errors import RequestError
from regard.server.faults import Fault, JsonResponse
from regard.server.guard import Asker
from regard.server.protocols.base import From, Protocol, ServerState, State, event_stream, faults
from regard.server.protocols.openai.bodies import ChatBody, CompletionBody, EmbeddingBody, GenerationBody
from regard.server.protocols.openai.choices import Prompt, SamplingPlan
from regard.server.protocols.openai.completions import ChatReply, CompletionReply, Reply, chat_prompt
from regard.server.scheduling.units import GenerationCall
from regard.server.served import ServedModel
from regard.tasks.declarations import Operation
from regard.text.tokenizer import Tokenizer

COMPLETIONS, EMBEDDINGS = "openai:completions", "openai:embeddings"
TYPES = {
    401: "invalid_request_error",
    429: "rate_limit_error",
    500: "server_error",
    503: "server_error",
    504: "server_error",
}
TEXT = {"type": ["string", "null"]}
ERROR: Mapping[str, object] = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["message", "type", "param", "code"],
            "properties": {"message": {"type": "string"}, "type": {"type": "string"}, "param": TEXT, "code": TEXT},
        }
    },
}
FAULTS = faults(ERROR, 422)
STREAM: dict[int | str, dict[str, object]] = {
    200: {
        "description": "The answer, or a stream of its chunks.",
        "content": {
            "application/json": {"schema": {"type": "object", "required": ["id", "object", "choices"]}},
            "text/event-stream": {"schema": {}},
        },
    }
}
router = APIRouter(prefix="/v1", tags=["OpenAI"])


def openai_shape(fault: Fault) -> tuple[int, Mapping[str, object]]:
    """Return the shape of OpenAI's errors."""
    status = 400 if fault.status == 422 else fault.status
    kind = TYPES.get(status, "invalid_request_error")
    code = None if fault.code == "invalid_request" else fault.code
    return status, {"error": {"message": fault.message, "type": kind, "param": fault.parameter, "code": code}}


OPENAI = Protocol(router, ("/v1/", "/v1"), openai_shape)


@router.get("/models", responses=FAULTS)
async def models(state: State) -> JsonResponse:
    """List the models."""
    return JsonResponse({"object": "list", "data": [_model(name) for name in state.store.names()]})


@router.get("/models/{model}", responses=FAULTS)
async def model(model: str, state: State) -> JsonResponse:
    """Return a model."""
    state.store.path(model)
    return JsonResponse(_model(model))


@router.post("/completions", responses={**STREAM, **FAULTS})
async def completions(body: CompletionBody, state: State, asker: From) -> Response:
    """Continue texts."""
    body.check()
    limit = max(1, body.max_tokens) if body.max_tokens is not None else None
    ready = await _ready(body, state, limit)
    prompts = [Prompt.of(each, ready.pipeline_tokenizer, "prompt") for each in body.prompts]
    if len(prompts) > state.settings.max_rows:
        raise RequestError(f"prompt: {len(prompts):,} prompts are too many at a time; send fewer.", "prompt")
    plan = ready.plan(prompts, body.best_of or body.n or 1, body.logprobs, asker)
    answer = CompletionReply(plan, body, body.model)
    if body.max_tokens == 0:
        return JsonResponse(await answer.echoed())
    return await _sent(answer)


@router.post("/chat/completions", responses={**STREAM, **FAULTS})
async def chat_completions(body: ChatBody, state: State, asker: From) -> Response:
    """Answer messages by the chat template of the checkpoint."""
    body.check()
    ready = await _ready(body, state, body.max_completion_tokens or body.max_tokens, is_chat=True)
    prompt = Prompt(chat_prompt(ready.served.pipeline, [each.plain() for each in body.messages]))
    listed = (body.top_logprobs or 0) if body.logprobs else None
    return await _sent(ChatReply(ready.plan([prompt], body.n or 1, listed, asker), body, body.model))


@router.post("/embeddings", responses=FAULTS)
async def embeddings(body: EmbeddingBody, state: State, asker: From) -> JsonResponse:
    """Embed texts."""
    served = await state.store.model(body.model)
    operation = served.for_protocol(EMBEDDINGS)
    call = served.call(operation, {})
    tokenizer = call.pipeline.tokenizer  # type: ignore[attr-defined]  # of a text encoder
    texts = [Prompt.of(each, tokenizer, "input").text for each in body.inputs]
    if len(texts) > state.settings.max_rows:
        raise RequestError(f"input: {len(texts):,} texts are too many at a time; send fewer.", "input")
    results = await served.results(call, [operation.row(text) for text in texts], asker)
    vectors = [_shortened(each.vector, body.dimensions) for each in results]  # type: ignore[attr-defined]  # Embedding
    is_base64 = body.encoding_format == "base64"
    data = [
        {"object": "embedding", "index": index, "embedding": _base64(each) if is_base64 else each.tolist()}
        for index, each in enumerate(vectors)
    ]
    count = sum(map(len, tokenizer.encode_batch(texts)))
    usage = {"prompt_tokens": count, "total_tokens": count}
    return JsonResponse({"object": "list", "data": data, "model": body.model, "usage": usage})


@dataclass(frozen=True)
class _Ready:
    """A loaded model with the options of a request."""

    served: ServedModel
    operation: Operation
    call: GenerationCall
    body: GenerationBody

    @property
    def pipeline_tokenizer(self) -> Tokenizer:
        """The tokenizer of the model."""
        assert self.call.job.tokenizer is not None, "it generates text"
        return self.call.job.tokenizer

    def plan(self, prompts: list[Prompt], count: int, alternatives: int | None, asker: Asker) -> SamplingPlan:
        """Return what is to be generated."""
        is_streamed = bool(self.body.stream)
        return SamplingPlan(
            self.served, self.call, self.operation, prompts, count, self.body.seed, alternatives, asker, is_streamed
        )


async def _ready(body: GenerationBody, state: ServerState, limit: int | None, is_chat: bool = False) -> _Ready:
    served = await state.store.model(body.model)
    operation = served.for_protocol(COMPLETIONS)
    given = body.options(limit) | ({"add_bos": False} if is_chat else {})
    call = served.call(operation, given)
    assert isinstance(call, GenerationCall), "texts are generated token by token"
    return _Ready(served, operation, call, body)


async def _sent(answer: Reply) -> Response:
    if answer.body.stream:
        return await event_stream(answer.events(), openai_shape)
    return JsonResponse(await answer.whole())


def _model(name: str) -> dict[str, object]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "regard"}


def _shortened(vector: Vectors, dimensions: int | None) -> Vectors:
    """Return the first dimensions of a vector, normalized again."""
    if dimensions is None or dimensions == len(vector):
        return vector
    if dimensions > len(vector):
        raise RequestError(f"dimensions: {dimensions} is more than the {len(vector)} of this model.", "dimensions")
    first = vector[:dimensions]
    length = float(np.linalg.norm(first))
    return first / length if length else first


def _base64(vector: Vectors) -> str:
    return base64.b64encode(np.ascontiguousarray(vector, "<f4").tobytes()).decode()
