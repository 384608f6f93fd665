"""Our own routes: one for each operation of each task, typed by its row and its options."""

from collections.abc import AsyncIterator, Sequence
from types import NoneType, UnionType
from typing import Annotated, Union, get_args, get_origin

from fastapi import APIRouter
from pydantic import Field, create_model
from starlette.responses import Response

from regard import registry
from regard.config.schema import FieldSpec, fields_of
from regard.pipelines.inputs import as_row
from regard.server.errors import Loose, RequestError
from regard.server.faults import JsonResponse, own_shape
from regard.server.guard import Asker
from regard.server.protocols.base import DONE, Body, From, Protocol, ServerState, State, data, event_stream, faults
from regard.server.scheduling.units import GenerationCall, StreamPiece, Wanted
from regard.tasks.contract import AnyTask
from regard.tasks.declarations import Operation

FAULT = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["code", "message", "parameter"],
            "properties": {
                "code": {"type": "string"},
                "message": {"type": "string"},
                "parameter": {"type": ["string", "null"]},
            },
        }
    },
}
FAULTS = faults(FAULT)


class ModelEntry(Body):
    """A model that is served."""

    name: str
    task: str | None
    """Its task; null where the files cannot be read."""
    languages: list[str]
    """Language codes of its texts: a translator's source first."""
    loaded: bool
    operations: list[str]
    """Its operations: POST /api/TASK/OPERATION."""


class OperationBody(Body):
    """The fields of every operation, beside its rows and options."""

    model: str | None = None
    """The model (default: the only one of the task)."""


def own_protocol(max_rows: int, max_characters: int) -> Protocol:
    """Return the routes of all tasks."""
    router = APIRouter(prefix="/api", tags=["models"])
    router.add_api_route("/models", models, response_model=dict[str, list[ModelEntry]], responses=FAULTS)
    for task in registry.TASKS:
        for operation in task.operations:
            _add(router, task, operation, max_rows, max_characters)
    return Protocol(router, ("/api/",), own_shape)


async def models(state: State) -> JsonResponse:
    """List the models and what each can be asked."""
    entries = []
    for name in state.store.names():
        card = await state.store.card(name)
        loaded = state.store.loaded.get(name)
        offered = card.operations if loaded is None else list(loaded.operations)
        entries.append(
            ModelEntry(
                name=name,
                task=card.task,
                languages=list(card.languages),
                loaded=loaded is not None,
                operations=offered,
            )
        )
    return JsonResponse({"models": [each.model_dump() for each in entries]})


def _add(router: APIRouter, task: AnyTask, operation: Operation, max_rows: int, max_characters: int) -> None:
    """Add the route of an operation."""
    name = operation.name.split()[-1]
    row: Loose = _row_schema(operation, max_characters)
    options = _options_schema(operation)
    fields: dict[str, Loose] = {
        "inputs": (
            row | Annotated[list[row], Field(min_length=1, max_length=max_rows)],
            Field(description=f"A row, or up to {max_rows:,} of them. {operation.summary}"),
        ),
        "options": (options, Field(default_factory=options, description="Options (default: the model's own).")),
    }
    if operation.streams:
        fields["stream"] = (bool, Field(False, description="Send the text of one row as it is generated."))
    schema: Loose = create_model(f"{_camel(task.name)}{name.title()}Body", __base__=OperationBody, **fields)

    async def route(body: schema, state: State, asker: From) -> Response:
        return await _answer(task, operation, body, state, asker)

    route.__doc__ = f"{operation.summary} {operation.details}".strip()
    router.add_api_route(
        f"/{task.name}/{name}",
        route,
        methods=["POST"],
        name=f"{name} ({task.wording.noun})",
        operation_id=f"{task.name}-{name}".replace("-", "_"),
        response_model=None,
        responses={200: _answers(operation), **FAULTS},
    )


async def _answer(task: AnyTask, operation: Operation, body: Loose, state: ServerState, asker: Asker) -> Response:
    """Return the results of the rows of a body, or a stream of one."""
    given = body.options.model_dump(exclude_none=True)
    rows: Sequence[Loose] = body.inputs if isinstance(body.inputs, list) else [body.inputs]
    served = await state.store.model(body.model or await state.store.only(task.name))
    own = served.operation(operation.name.split()[-1])
    if own.row is not operation.row:
        raise RequestError(
            f'"{served.name}" is {served.task.wording.noun}; ask it at /api/{served.task.name}.', "model"
        )
    made: list[Loose] = [
        as_row(operation.row, operation.inputs, each.model_dump(exclude_none=True), "inputs") for each in rows
    ]
    call = served.call(own, given)
    if getattr(body, "stream", False):
        if len(rows) != 1:
            raise RequestError(f"stream: {len(rows)} rows cannot be streamed together; send one.", "stream")
        if isinstance(call, GenerationCall):
            pieces = served.stream(call, made[0], Wanted(is_streamed=True), asker)
            return await event_stream(_events(pieces), own_shape)
    results = [each.to_dict() for each in await served.results(call, made, asker)]
    return JsonResponse({"model": served.name, "results": results})


async def _events(pieces: AsyncIterator[Loose]) -> AsyncIterator[bytes]:
    async for piece in pieces:
        yield data({"text": piece.text} if isinstance(piece, StreamPiece) else {"result": piece.result.to_dict()})
    yield DONE


def _row_schema(operation: Operation, max_characters: int) -> Loose:
    """Return the schema of a row in JSON."""
    fields: dict[str, Loose] = {}
    for spec in fields_of(operation.row):
        kind = _json_type(spec.type, max_characters)
        fields[spec.name] = (kind, Field(... if spec.is_required else spec.default, description=spec.doc))
        if not spec.is_required:
            fields[spec.name] = (kind | None, Field(None, description=spec.doc))
    return create_model(f"{operation.row.__name__}Json", __base__=Body, **fields)


def _options_schema(operation: Operation) -> Loose:
    """Return the schema of the options: none is required, and what is not given is up to the model."""
    fields: dict[str, Loose] = {}
    for spec in fields_of(operation.options):
        if spec.name in operation.options.only_here:  # type: ignore[attr-defined]
            continue
        bounds: dict[str, Loose] = {name: value for name, value in spec.bounds if name in ("ge", "gt", "le", "lt")}
        kind = _json_type(spec.type, None)
        fields[spec.name] = (Annotated[kind, Field(**bounds)] | None, Field(None, description=_documented(spec)))
    return create_model(f"{operation.options.__name__}Json", __base__=Body, **fields)


def _json_type(annotation: Loose, max_characters: int | None) -> Loose:
    """Return a type as JSON has it: tuples and sequences are lists, texts have a largest length."""
    outer: Loose = get_origin(annotation)
    kind: Loose = annotation.__origin__ if outer is Annotated else annotation
    origin: Loose = get_origin(kind)
    if origin in (Union, UnionType):
        made: list[Loose] = [_json_type(part, max_characters) for part in get_args(kind) if part is not NoneType]
        return Union[tuple(made)]  # noqa: UP007
    if origin in (tuple, list) or "Sequence" in str(origin):
        return list[_json_type(get_args(kind)[0], max_characters)]  # type: ignore[misc]
    if kind is str and max_characters is not None:
        return Annotated[str, Field(max_length=max_characters)]
    return kind


def _documented(spec: FieldSpec) -> str:
    has_default = spec.default not in (None, (), "", False) and "(default" not in spec.doc and not spec.is_required
    return f"{spec.doc.rstrip('.')} (default: {spec.default})." if has_default else spec.doc


def _answers(operation: Operation) -> dict[str, Loose]:
    """Return the documentation of the answer."""
    properties = {each.name: {"description": each.doc} for each in fields_of(operation.result) if each.name != "row"}
    results = {
        "type": "array",
        "items": {"type": "object", "description": operation.result.__doc__, "properties": properties},
    }
    schema = {
        "type": "object",
        "required": ["model", "results"],
        "properties": {"model": {"type": "string"}, "results": results},
    }
    content: dict[str, Loose] = {"application/json": {"schema": schema}}
    if operation.streams:
        content["text/event-stream"] = {"schema": {}}
    return {"description": "A result for each row, in order.", "content": content}


def _camel(name: str) -> str:
    return "".join(part.title() for part in name.split("-"))
