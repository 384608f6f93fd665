"""Bodies of requests as OpenAI's clients send them; what has no effect here is refused where it is set."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from regard.server.errors import RequestError
from regard.server.protocols.base import Body

Ids = Annotated[list[Annotated[int, Field(ge=0, lt=2**31)]], Field(min_length=1)]
Stops = str | Annotated[list[str], Field(max_length=16)]
SeedNumber = Annotated[int, Field(ge=-(2**63), lt=2**63)]
UNSUPPORTED = "this server does not support it; leave it out"


class StreamOptions(Body):
    """Options of a stream."""

    include_usage: bool | None = None
    include_obfuscation: bool | None = None


class GenerationBody(Body):
    """The fields that completions and chat completions have in common."""

    model: str
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    n: int | None = Field(None, ge=1, le=128)
    seed: SeedNumber | None = None
    stop: Stops | None = None
    temperature: float | None = Field(None, ge=0, le=100)
    top_p: float | None = Field(None, gt=0, le=1)
    frequency_penalty: float | None = Field(None, ge=-2, le=2)
    presence_penalty: float | None = Field(None, ge=-2, le=2)
    logit_bias: dict[str, float] | None = None
    user: str | None = None
    metadata: dict[str, str] | None = None
    store: bool | None = None
    service_tier: str | None = None
    top_k: int | None = Field(None, ge=1)
    """Sample from the k most probable tokens (not of OpenAI)."""
    min_p: float | None = Field(None, gt=0, le=1)
    """Sample from tokens with this fraction of the most probable one's probability (not of OpenAI)."""
    repetition_penalty: float | None = Field(None, ge=1, le=100)
    """Factor on the log probability of tokens that are there already (not of OpenAI)."""

    @property
    def stops(self) -> list[str]:
        """The stop strings as a list."""
        return [self.stop] if isinstance(self.stop, str) else list(self.stop or ())

    @property
    def has_usage(self) -> bool:
        """The stream ends with the numbers of tokens."""
        return bool(self.stream_options and self.stream_options.include_usage)

    def check(self) -> None:
        """Refuse what has no effect here."""
        for name in ("frequency_penalty", "presence_penalty", "logit_bias"):
            if getattr(self, name):
                raise RequestError(f"{name}: {UNSUPPORTED}.", name)
        if self.stream_options is not None and not self.stream:
            raise RequestError(
                "stream_options: only for streams; set stream to true, or leave it out.", "stream_options"
            )
        if any(not each for each in self.stops):
            raise RequestError('stop: "" matches everywhere; give other strings.', "stop")

    def options(self, max_new_tokens: int | None) -> dict[str, object]:
        """Return the options of generation: sampling, greedy at temperature 0."""
        options: dict[str, object] = {"method": "sample", "num_samples": 1}
        values = {
            "temperature": self.temperature,
            "stop": self.stops or None,
            "max_new_tokens": max_new_tokens,
            "repetition_penalty": self.repetition_penalty,
        }
        if self.temperature != 0:
            values |= {"top_p": None if self.top_p == 1 else self.top_p, "top_k": self.top_k, "min_p": self.min_p}
        return options | {name: value for name, value in values.items() if value is not None}


class CompletionBody(GenerationBody):
    """Text to continue."""

    prompt: str | Ids | Annotated[list[str | Ids], Field(min_length=1)] = ""
    """A text, its token ids, or a list of either."""
    best_of: int | None = Field(None, ge=1, le=128)
    echo: bool | None = None
    logprobs: int | None = Field(None, ge=0, le=20)
    max_tokens: int | None = Field(16, ge=0)
    suffix: str | None = None

    @property
    def prompts(self) -> list[str | list[int]]:
        """The prompts as a list."""
        if isinstance(self.prompt, str) or all(isinstance(each, int) for each in self.prompt):
            return [self.prompt]  # type: ignore[list-item]  # a text, or its ids
        return list(self.prompt)  # type: ignore[arg-type]  # texts or ids

    def check(self) -> None:
        """Refuse what does not fit together."""
        super().check()
        if self.suffix:
            raise RequestError(f"suffix: {UNSUPPORTED}.", "suffix")
        if self.best_of is not None and self.best_of < (self.n or 1):
            raise RequestError(f"best_of: {self.best_of} is less than n {self.n}; raise it.", "best_of")
        if self.best_of is not None and self.best_of > (self.n or 1) and self.stream:
            raise RequestError(
                "best_of: the best are not known while a stream runs; leave one of them out.", "best_of"
            )
        if self.max_tokens == 0 and not self.echo:
            raise RequestError("max_tokens: 0 is for echo alone; give 1 or more.", "max_tokens")


class TextPart(Body):
    """A part of a message."""

    type: Literal["text"]
    text: str


class ChatMessage(Body):
    """A message of a chat."""

    model_config = ConfigDict(extra="forbid", strict=True)

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[TextPart] | None = None
    name: str | None = None

    def plain(self) -> dict[str, str]:
        """Return the message as a chat template takes it."""
        content = self.content
        text = "".join(part.text for part in content) if isinstance(content, list) else content or ""
        return {"role": "system" if self.role == "developer" else self.role, "content": text}


class ChatBody(GenerationBody):
    """Messages to answer."""

    messages: list[ChatMessage] = Field(min_length=1, max_length=1024)
    max_tokens: int | None = Field(None, ge=1)
    max_completion_tokens: int | None = Field(None, ge=1)
    logprobs: bool | None = None
    top_logprobs: int | None = Field(None, ge=0, le=20)
    response_format: dict[str, object] | None = None
    tools: list[dict[str, object]] | None = None
    tool_choice: str | dict[str, object] | None = None
    parallel_tool_calls: bool | None = None

    def check(self) -> None:
        """Refuse what has no effect here."""
        super().check()
        if self.tools or (self.response_format and self.response_format.get("type") != "text"):
            name = "tools" if self.tools else "response_format"
            raise RequestError(f"{name}: {UNSUPPORTED}.", name)
        if self.top_logprobs is not None and not self.logprobs:
            raise RequestError("top_logprobs: only with logprobs; set that to true.", "top_logprobs")


class EmbeddingBody(Body):
    """Texts to embed."""

    model: str
    input: str | Ids | Annotated[list[str | Ids], Field(min_length=1)]
    """A text, its token ids, or a list of either."""
    encoding_format: Literal["float", "base64"] | None = None
    dimensions: int | None = Field(None, ge=1)
    user: str | None = None

    @property
    def inputs(self) -> list[str | list[int]]:
        """The texts as a list."""
        if isinstance(self.input, str) or all(isinstance(each, int) for each in self.input):
            return [self.input]  # type: ignore[list-item]  # a text, or its ids
        return list(self.input)  # type: ignore[arg-type]  # texts or ids
