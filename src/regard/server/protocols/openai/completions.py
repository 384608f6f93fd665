"""Completions and chat completions: answers as a whole, or as a stream of chunks."""

import math
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Sequence
from typing import Protocol, runtime_checkable
from uuid import uuid4

from regard.decoding.search.running import ListedToken
from regard.server.errors import RequestError
from regard.server.protocols.base import DONE, data
from regard.server.protocols.openai.bodies import ChatBody, CompletionBody, GenerationBody
from regard.server.protocols.openai.choices import FINISH, Prompt, SamplingPlan, TokenTexts
from regard.server.scheduling.units import Generated, StreamPiece

Json = dict[str, object]


@runtime_checkable
class Chats(Protocol):
    """A model whose checkpoint may hold a chat template."""

    @property
    def has_chat_template(self) -> bool:
        """True where the checkpoint has one."""

    def chat_prompt(self, messages: Sequence[dict[str, str]]) -> str:
        """Return the prompt of messages."""


def chat_prompt(pipeline: object, messages: Sequence[dict[str, str]]) -> str:
    """Return the prompt of messages; a model without a chat template is refused."""
    if not isinstance(pipeline, Chats) or not pipeline.has_chat_template:
        raise RequestError(
            "messages: this model's checkpoint has no chat template, so it takes no chat; send a prompt to "
            "/v1/completions.",
            "messages",
        )
    return pipeline.chat_prompt(messages)


class Reply(ABC):
    """The answer to a request, in the shape of one of the two routes."""

    kind: str
    chunk_kind: str
    prefix: str

    def __init__(self, plan: SamplingPlan, body: GenerationBody, name: str) -> None:
        self.plan, self.body, self.name = plan, body, name
        self.id, self.created = f"{self.prefix}-{uuid4().hex}", int(time.time())

    async def whole(self) -> Json:
        """Return the answer as a whole."""
        generated = await self.plan.generated()
        kept, choices = self.chosen(generated), []
        for index, number in enumerate(kept):
            choices.append(await self.choice(index, self.prompt(number), generated[number]))
        return self._envelope(self.kind, choices) | {"usage": self._usage(generated)}

    async def events(self) -> AsyncIterator[bytes]:
        """Yield the answer as server-sent events."""
        generated: list[Generated] = []
        texts = [self.texts(self.prompt(index)) for index in range(self.count)]
        for event in await self.opening(texts):
            yield data(self._chunk([event]))
        async for index, piece in self.plan.pieces():
            if isinstance(piece, StreamPiece):
                yield data(self._chunk([self.delta(index, piece, texts[index])]))
            else:
                generated.append(piece)
                reason = FINISH[piece.hypotheses[0].finish_reason]
                yield data(self._chunk([self.last(index, reason)]))
        if self.body.has_usage:
            yield data(self._envelope(self.chunk_kind, []) | {"usage": self._usage(generated)})
        yield DONE

    @property
    def count(self) -> int:
        """Choices of the answer."""
        return len(self.plan.prompts) * self.plan.count

    def prompt(self, number: int) -> Prompt:
        """Return the prompt of a choice."""
        return self.plan.prompts[number // self.plan.count]

    def texts(self, prompt: Prompt) -> TokenTexts:
        """Return what gives the texts of the tokens after a prompt."""
        ids = prompt.ids if prompt.ids is not None else self.plan.tokenizer.encode(prompt.text).ids
        return TokenTexts(self.plan.tokenizer, prompt.text, list(ids))

    def chosen(self, generated: Sequence[Generated]) -> list[int]:
        """Return the indices of the choices that are sent, in order."""
        return list(range(len(generated)))

    async def opening(self, texts: Sequence[TokenTexts]) -> list[Json]:
        """Return the deltas that come before all tokens."""
        return []

    @abstractmethod
    async def choice(self, index: int, prompt: Prompt, generated: Generated) -> Json:
        """Return a choice."""

    @abstractmethod
    def delta(self, index: int, piece: StreamPiece, texts: TokenTexts) -> Json:
        """Return a part of a choice."""

    @abstractmethod
    def last(self, index: int, reason: str) -> Json:
        """Return the end of a choice."""

    def _chunk(self, choices: Sequence[Json]) -> Json:
        return self._envelope(self.chunk_kind, choices) | ({"usage": None} if self.body.has_usage else {})

    def _envelope(self, kind: str, choices: Sequence[Json]) -> Json:
        return {"id": self.id, "object": kind, "created": self.created, "model": self.name, "choices": list(choices)}

    def _usage(self, generated: Sequence[Generated]) -> Json:
        """Return the numbers of tokens: a prompt counts once, whatever the number of its choices."""
        prompts = sum(len(each.request.ids) for each in generated[:: self.plan.count] if each.request)
        new = sum(len(each.hypotheses[0].token_log_probabilities) for each in generated)
        return {"prompt_tokens": prompts, "completion_tokens": new, "total_tokens": prompts + new}


class CompletionReply(Reply):
    """The answer to a completion."""

    kind = chunk_kind = "text_completion"
    prefix = "cmpl"
    body: CompletionBody

    def chosen(self, generated: Sequence[Generated]) -> list[int]:
        """Return the best of each prompt's samples, by the mean log probability of a token."""
        wanted, count = self.body.n or 1, self.plan.count
        if wanted == count:
            return super().chosen(generated)
        mean = lambda number: _mean(generated[number].hypotheses[0].token_log_probabilities)
        starts = range(0, len(generated), count)
        return [each for start in starts for each in sorted(range(start, start + count), key=mean)[::-1][:wanted]]

    async def choice(self, index: int, prompt: Prompt, generated: Generated) -> Json:
        """Return the text, after that of the prompt if it is to be echoed."""
        text, logprobs = generated.result.text, None
        if self.body.logprobs is not None:
            logprobs, texts = _Logprobs(self.body.logprobs), self.texts(prompt)
            if self.body.echo:
                await self._echo(logprobs, prompt)
            logprobs.extend(texts, generated.tokens)
        reason = FINISH[generated.hypotheses[0].finish_reason]
        return {
            "text": prompt.text + text if self.body.echo else text,
            "index": index,
            "logprobs": None if logprobs is None else logprobs.plain(),
            "finish_reason": reason,
        }

    async def echoed(self) -> Json:
        """Return the prompts with their log probabilities, and nothing new."""
        choices: list[Json] = []
        for index, prompt in enumerate(each for each in self.plan.prompts for _ in range(self.plan.count)):
            logprobs = _Logprobs(self.body.logprobs or 0)
            if self.body.logprobs is not None:
                await self._echo(logprobs, prompt)
            shown = logprobs.plain() if self.body.logprobs is not None else None
            choices.append({"text": prompt.text, "index": index, "logprobs": shown, "finish_reason": "length"})
        ids = [each.ids or self.plan.tokenizer.encode(each.text).ids for each in self.plan.prompts]
        count = sum(map(len, ids))
        usage = {"prompt_tokens": count, "completion_tokens": 0, "total_tokens": count}
        return self._envelope(self.kind, choices) | {"usage": usage}

    async def opening(self, texts: Sequence[TokenTexts]) -> list[Json]:
        """Return the echoed prompts."""
        if not self.body.echo:
            return []
        deltas = []
        for index in range(self.count):
            logprobs, prompt = _Logprobs(self.body.logprobs or 0), self.prompt(index)
            if self.body.logprobs is not None:
                await self._echo(logprobs, prompt)
            deltas.append(self._delta(index, prompt.text, logprobs))
        return deltas

    def delta(self, index: int, piece: StreamPiece, texts: TokenTexts) -> Json:
        """Return a part of the text."""
        begin = len(texts.text) + (len(texts.prompt) if self.body.echo else 0)
        logprobs = _Logprobs(self.body.logprobs or 0, begin)
        if self.body.logprobs is not None:
            logprobs.extend(texts, piece.tokens)
        return self._delta(index, piece.text, logprobs)

    def last(self, index: int, reason: str) -> Json:
        """Return the end of a text."""
        return {"text": "", "index": index, "logprobs": None, "finish_reason": reason}

    def _delta(self, index: int, text: str, logprobs: "_Logprobs") -> Json:
        shown = logprobs.plain() if self.body.logprobs is not None else None
        return {"text": text, "index": index, "logprobs": shown, "finish_reason": None}

    async def _echo(self, logprobs: "_Logprobs", prompt: Prompt) -> None:
        """Add the tokens of a prompt; nothing comes before the first, so it has no log probability."""
        logprobs.extend(TokenTexts(self.plan.tokenizer, "", []), await self.plan.scored(prompt))
        if logprobs.values:
            logprobs.values[0], logprobs.tops[0] = None, None


class _Logprobs:
    """Log probabilities as completions have them."""

    def __init__(self, count: int, begin: int = 0) -> None:
        self.count, self.end = count, begin
        self.tokens: list[str] = []
        self.values: list[float | None] = []
        self.tops: list[dict[str, float] | None] = []
        self.offsets: list[int] = []

    def extend(self, texts: TokenTexts, tokens: Sequence[ListedToken]) -> None:
        """Add tokens."""
        for token in tokens:
            own, listed = texts.add(token)
            self.tokens.append(own)
            self.values.append(token.log_probability)
            top: dict[str, float] = {}
            for text, _, value in listed[: self.count]:
                top.setdefault(text, value)
            self.tops.append(top)
            self.offsets.append(self.end)
            self.end += len(own)

    def plain(self) -> Json:
        """Return them as JSON has them."""
        tops = self.tops if self.count else None
        return {
            "tokens": self.tokens,
            "token_logprobs": self.values,
            "top_logprobs": tops,
            "text_offset": self.offsets,
        }


class ChatReply(Reply):
    """The answer to a chat."""

    kind, chunk_kind, prefix = "chat.completion", "chat.completion.chunk", "chatcmpl"
    body: ChatBody

    async def choice(self, index: int, prompt: Prompt, generated: Generated) -> Json:
        """Return the message."""
        message = {"role": "assistant", "content": generated.result.text, "refusal": None}
        reason = FINISH[generated.hypotheses[0].finish_reason]
        logprobs = self._logprobs(self.texts(prompt), generated.tokens)
        return {"index": index, "message": message, "logprobs": logprobs, "finish_reason": reason}

    async def opening(self, texts: Sequence[TokenTexts]) -> list[Json]:
        """Return the role of each message."""
        role = {"role": "assistant", "content": "", "refusal": None}
        return [
            {"index": index, "delta": role, "logprobs": None, "finish_reason": None} for index in range(self.count)
        ]

    def delta(self, index: int, piece: StreamPiece, texts: TokenTexts) -> Json:
        """Return a part of the message."""
        logprobs = self._logprobs(texts, piece.tokens)
        return {"index": index, "delta": {"content": piece.text}, "logprobs": logprobs, "finish_reason": None}

    def last(self, index: int, reason: str) -> Json:
        """Return the end of a message."""
        return {"index": index, "delta": {}, "logprobs": None, "finish_reason": reason}

    def _logprobs(self, texts: TokenTexts, tokens: Sequence[ListedToken]) -> Json | None:
        if not self.body.logprobs:
            return None
        count, content = self.body.top_logprobs or 0, list[Json]()
        for token in tokens:
            own, listed = texts.add(token)
            tops = [_entry(text, value) for text, _, value in listed[:count]]
            content.append(_entry(own, token.log_probability) | {"top_logprobs": tops})
        return {"content": content, "refusal": None}


def _entry(text: str, value: float) -> Json:
    return {"token": text, "logprob": value, "bytes": list(text.encode())}


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / max(1, len(values))
