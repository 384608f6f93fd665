"""The API of LibreTranslate: translation of texts, their languages, in JSON or as a form."""

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Annotated, TypeVar

from fastapi import APIRouter, Request
from pydantic import Field, ValidationError
from starlette.responses import Response

from regard.config.parsing import ParseError, parse_integer, parse_json
from regard.server.errors import Forbidden, RequestError, WrongKey
from regard.server.faults import Fault, JsonResponse
from regard.server.guard import Asker
from regard.server.protocols.base import Body, From, Protocol, ServerState, State, faults
from regard.server.served import ServedModel
from regard.tasks.translate.paragraphs import rejoined, sentences_of

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

PROTOCOL = "libretranslate:translate"
NAMES = {
    "ar": "Arabic", "bg": "Bulgarian", "bn": "Bengali", "ca": "Catalan", "cs": "Czech", "da": "Danish",
    "de": "German", "el": "Greek", "en": "English", "eo": "Esperanto", "es": "Spanish", "et": "Estonian",
    "eu": "Basque", "fa": "Persian", "fi": "Finnish", "fr": "French", "ga": "Irish", "gl": "Galician",
    "he": "Hebrew", "hi": "Hindi", "hr": "Croatian", "hu": "Hungarian", "id": "Indonesian", "is": "Icelandic",
    "it": "Italian", "ja": "Japanese", "ko": "Korean", "la": "Latin", "lt": "Lithuanian", "lv": "Latvian",
    "ms": "Malay", "nb": "Norwegian", "nl": "Dutch", "no": "Norwegian", "pl": "Polish", "pt": "Portuguese",
    "ro": "Romanian", "ru": "Russian", "sk": "Slovak", "sl": "Slovenian", "sq": "Albanian", "sr": "Serbian",
    "sv": "Swedish", "sw": "Swahili", "ta": "Tamil", "th": "Thai", "tl": "Tagalog", "tr": "Turkish",
    "uk": "Ukrainian", "ur": "Urdu", "vi": "Vietnamese", "zh": "Chinese",
}  # fmt: skip
"""English names of languages; another one is named by its code."""
ERROR = {"type": "object", "required": ["error"], "properties": {"error": {"type": "string"}}}
FAULTS = faults(ERROR, 401, 422)
T = TypeVar("T", bound="KeyBody")
router = APIRouter(tags=["LibreTranslate"])


class KeyBody(Body):
    """The key that every body may have."""

    api_key: str | None = None


class TranslateBody(KeyBody):
    """Texts to translate."""

    q: str | Annotated[list[str], Field(min_length=1, max_length=1024)]
    """A text, or a list of them."""
    source: str
    """Language code of the texts, or auto."""
    target: str
    """Language code to translate to."""
    format: str | None = None
    """text; markup is not understood."""
    alternatives: int | None = Field(None, ge=0, le=50)
    """Further translations to list."""


class DetectBody(KeyBody):
    """A text whose language is asked for."""

    q: str


def libretranslate_shape(fault: Fault) -> tuple[int, Mapping[str, object]]:
    """Return the shape of LibreTranslate's errors."""
    return {401: 403, 422: 400, 413: 400}.get(fault.status, fault.status), {"error": fault.message}


LIBRETRANSLATE = Protocol(
    router, ("/translate", "/detect", "/languages", "/frontend/settings"), libretranslate_shape, has_own_keys=True
)


def _documented(schema: type[KeyBody]) -> dict[str, object]:
    """Return the documentation of a body in JSON or as a form, which the route reads by itself."""
    described = schema.model_json_schema()
    kinds = ("application/json", "application/x-www-form-urlencoded", "multipart/form-data")
    return {"requestBody": {"required": True, "content": {kind: {"schema": described} for kind in kinds}}}


@router.post("/translate", responses=FAULTS, openapi_extra=_documented(TranslateBody))
async def translate(request: Request, state: State, asker: From) -> Response:
    """Translate texts; those of several sentences are translated sentence by sentence."""
    body = await _read(request, TranslateBody)
    async with _known(state, asker, body.api_key) as known:
        if body.format not in (None, "text"):
            raise RequestError(f'Invalid request: format "{body.format}" is not supported; send text.', "format")
        texts, limit = [body.q] if isinstance(body.q, str) else body.q, state.settings.max_characters
        if (size := sum(map(len, texts))) > limit:
            raise RequestError(f"Invalid request: request ({size}) exceeds text limit ({limit})", "q")
        pairs = await _pairs(state)
        detected = [await _detected(text, pairs) for text in texts] if body.source == "auto" else []
        languages = [each["language"] for each in detected] or [body.source] * len(texts)
        names = [_model(pairs, str(language), body.target) for language in languages]
        asked = (_translated(state, *each, body.alternatives or 0, known) for each in zip(names, texts, strict=True))
        made = await asyncio.gather(*asked)
    answer: dict[str, object] = {"translatedText": [first for first, *_ in made]}
    if body.source == "auto":
        answer["detectedLanguage"] = detected
    if body.alternatives:
        answer["alternatives"] = [others for _, *others in made]
    return JsonResponse({name: values[0] for name, values in answer.items()} if isinstance(body.q, str) else answer)  # type: ignore[index]  # lists


@router.post("/detect", responses=FAULTS, openapi_extra=_documented(DetectBody))
async def detect(request: Request, state: State, asker: From) -> Response:
    """Return the languages of a text among those that can be translated, the most probable first."""
    body = await _read(request, DetectBody)
    async with _known(state, asker, body.api_key):
        return JsonResponse(await _ranked(body.q, await _pairs(state)))


@router.get("/languages", responses=FAULTS)
async def languages(state: State) -> Response:
    """List the languages, each with those it is translated to."""
    pairs = await _pairs(state)
    codes = sorted({code for pair in pairs for code in pair})
    return JsonResponse(
        [
            {
                "code": code,
                "name": NAMES.get(code, code),
                "targets": sorted(to for source, to in pairs if source == code),
            }
            for code in codes
        ]
    )


@router.get("/frontend/settings", responses=FAULTS)
async def settings(state: State) -> Response:
    """Return the settings that web pages ask for."""
    pairs = await _pairs(state)
    entry = lambda code: {"code": code, "name": NAMES.get(code, code)}
    source, target = next(iter(pairs), ("", ""))
    return JsonResponse(
        {
            "apiKeys": state.clients.has_keys,
            "charLimit": state.settings.max_characters,
            "frontendTimeout": 500,
            "keyRequired": state.clients.has_keys,
            "language": {"source": entry(source), "target": entry(target)},
            "suggestions": False,
            "filesTranslation": False,
            "supportedFilesFormat": [],
        }
    )


async def _read(request: Request, schema: type[T]) -> T:
    """Return the body of a request: JSON, or a form."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind in ("application/x-www-form-urlencoded", "multipart/form-data"):
        form = await request.form(max_files=0, max_fields=2000)
        values: dict[str, object] = {}
        for name in form:
            every = form.getlist(name)
            values[name] = every[0] if len(every) == 1 else every
        if isinstance(number := values.get("alternatives"), str):
            values["alternatives"] = parse_integer(number) if number else None
    else:
        try:
            values = parse_json((await request.body()).decode())
        except (ParseError, UnicodeDecodeError) as error:
            raise RequestError(f"Invalid request: the body is not JSON in UTF-8 ({error})") from None
    try:
        return schema.model_validate(values)
    except ValidationError as error:
        detail = error.errors()[0]
        name = ".".join(str(part) for part in detail["loc"][:1])
        reason = f"missing {name} parameter" if detail["type"] == "missing" else f"{name}: {detail['msg']}"
        raise RequestError(f"Invalid request: {reason}", name or None) from None


@asynccontextmanager
async def _known(state: ServerState, asker: Asker, key: str | None) -> AsyncIterator[Asker]:
    """Yield who asks, by the key in the body where there are keys."""
    if not state.clients.has_keys or asker.client.limits is not None:
        yield asker
        return
    try:
        client = state.clients.find(key, asker.client.name)
    except WrongKey:
        raise Forbidden(
            "Invalid API key" if key else "Please contact the server operator to get an API key"
        ) from None
    client.enter()
    try:
        yield replace(asker, client=client, priority=client.priority(asker.priority))
    finally:
        client.leave()


async def _pairs(state: ServerState) -> dict[tuple[str, str], str]:
    """Return the models by source and target language."""
    pairs: dict[tuple[str, str], str] = {}
    for name in await state.store.for_protocol(PROTOCOL):
        card = await state.store.card(name)
        if len(card.languages) == 2:
            pairs.setdefault((card.languages[0], card.languages[1]), name)
    return pairs


def _model(pairs: Mapping[tuple[str, str], str], source: str, target: str) -> str:
    if (source, target) in pairs:
        return pairs[source, target]
    known = {code for pair in pairs for code in pair}
    for code in (source, target):
        if code not in known:
            raise RequestError(f"{code} is not supported", "source" if code == source else "target")
    raise RequestError(f"{target} is not available as a target language from {source}", "target")


async def _translated(state: ServerState, name: str, text: str, alternatives: int, asker: Asker) -> list[str]:
    """Return the translation of a text, and alternatives: the next best translations of its sentences."""
    served = await state.store.model(name)
    operation, wanted = served.for_protocol(PROTOCOL), alternatives + 1
    call = served.call(operation, _options(served, wanted))
    parts = list(sentences_of(text))
    rows = [operation.row(sentence) for _, sentence, _ in parts if sentence]
    results = await served.results(call, rows, asker) if rows else []
    candidates = [[each.text for each in result.candidates] or [""] for result in results]  # type: ignore[attr-defined]
    every = [rejoined(parts, [each[min(rank, len(each) - 1)] for each in candidates]) for rank in range(wanted)]
    return list(dict.fromkeys(every))


def _options(served: ServedModel, wanted: int) -> dict[str, object]:
    """Return the options for so many translations of each sentence, with a larger beam if they need one."""
    if wanted == 1:
        return {}
    usual = served.pipeline.options()
    size = getattr(usual, "beam_size", None)
    options: dict[str, object] = {"n_best": wanted}
    return options | ({"beam_size": wanted} if size is not None and size < wanted else {})


@cache
def _identifier(codes: Sequence[str]) -> "LanguageIdentifier | None":
    """Return the identifier of these languages; None where it supports none of them."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    known = [code for code in codes if code in identifier.labels]
    if not known:
        return None
    identifier.set_languages(known)
    return identifier


async def _ranked(text: str, pairs: Collection[tuple[str, str]]) -> list[dict[str, object]]:
    """Return the source languages with their probability in percent, the most probable first."""
    codes = sorted({source for source, _ in pairs})
    identifier = await asyncio.to_thread(_identifier, tuple(codes))
    ranked = [] if identifier is None else identifier.rank(text)
    rest = [(code, 0.0) for code in codes if code not in {each for each, _ in ranked}]
    return [{"confidence": round(100 * float(value), 1), "language": code} for code, value in [*ranked, *rest]]


async def _detected(text: str, pairs: Collection[tuple[str, str]]) -> dict[str, object]:
    return next(iter(await _ranked(text, pairs)), {"confidence": 0.0, "language": ""})
