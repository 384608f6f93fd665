"""Choices of an answer: what is generated for each prompt, and the log probabilities of its tokens."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from random import getrandbits

from regard.decoding.search.running import ListedToken
from regard.pipelines.generation import AnyGeneratingPipeline
from regard.pipelines.inputs import SingleText
from regard.server.errors import Loose, RequestError
from regard.server.guard import Asker
from regard.server.scheduling.units import Generated, GenerationCall, StreamPiece, Wanted
from regard.server.served import ServedModel
from regard.tasks.declarations import Operation
from regard.text.detokenizer import text_after
from regard.text.tokenizer import Tokenizer

FINISH = {"eos": "stop", "stop": "stop", "length": "length"}


@dataclass(frozen=True)
class Prompt:
    """A prompt as text, and as ids where it was given so."""

    text: str
    ids: tuple[int, ...] | None = None

    @classmethod
    def of(cls, given: str | Sequence[int], tokenizer: Tokenizer, name: str) -> "Prompt":
        """Return the prompt of a text or of token ids; unknown ids are refused."""
        if isinstance(given, str):
            return cls(given)
        if wrong := next((each for each in given if each >= tokenizer.size), None):
            raise RequestError(f"{name}: {wrong} is no token of this model, which has {tokenizer.size:,}.", name)
        return cls(tokenizer.decode(given), tuple(given))


@dataclass(frozen=True)
class SamplingPlan:
    """A plan of generation: `count` samples of each prompt, in one session with all other requests."""

    served: ServedModel
    call: GenerationCall
    operation: Operation
    prompts: Sequence[Prompt]
    count: int
    seed: int | None
    alternatives: int | None
    """Most probable tokens to list; None: no log probabilities."""
    asker: Asker
    is_streamed: bool = False

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer of the model."""
        tokenizer = self.call.job.tokenizer
        assert tokenizer is not None, "it generates text"
        return tokenizer

    @property
    def pipeline(self) -> AnyGeneratingPipeline:
        """The pipeline of the model."""
        return self.call.pipeline

    def wanted(self) -> list[tuple[Prompt, Wanted]]:
        """Return each prompt with what is wanted of it, the samples of one after another.

        Without a seed there is a new one for each request; with one, the first is that of a call in Python.
        """
        seed = getrandbits(32) if self.seed is None else self.seed % 2**32
        listed = 0 if self.alternatives is None else max(1, self.alternatives)
        return [
            (prompt, Wanted(number, seed, self.is_streamed, listed, prompt.ids))
            for number, prompt in enumerate((each for each in self.prompts for _ in range(self.count)), 1)
        ]

    def row(self, prompt: Prompt) -> object:
        """Return the row of a prompt."""
        return self.operation.row(prompt.text)

    async def generated(self) -> list[Generated]:
        """Return what is generated."""
        wanted = self.wanted()
        rows = [self.row(prompt) for prompt, _ in wanted]
        return await self.served.generate(self.call, rows, [each for _, each in wanted], self.asker)

    async def pieces(self) -> AsyncIterator[tuple[int, StreamPiece | Generated]]:
        """Yield the parts of all choices as they come, each with the index of its choice."""
        queue: asyncio.Queue[tuple[int, StreamPiece | Generated | Exception]] = asyncio.Queue()

        async def follow(index: int, prompt: Prompt, wanted: Wanted) -> None:
            try:
                async for piece in self.served.stream(self.call, self.row(prompt), wanted, self.asker):
                    queue.put_nowait((index, piece))
            except Exception as error:
                queue.put_nowait((index, error))

        wanted = self.wanted()
        tasks = [asyncio.create_task(follow(index, *each)) for index, each in enumerate(wanted)]
        try:
            remaining = len(tasks)
            while remaining:
                index, piece = await queue.get()
                if isinstance(piece, Exception):
                    raise piece
                remaining -= isinstance(piece, Generated)
                yield index, piece
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def scored(self, prompt: Prompt) -> list[ListedToken]:
        """Return the tokens of a prompt, each with its log probability after those before it."""
        operation = next(each for each in self.served.operations.values() if each.row is SingleText)
        scorer: Loose = operation.pipeline(self.served.pipeline)
        options = scorer.options(None, alternatives=max(1, self.alternatives or 0))
        ids = prompt.ids
        if ids is None:
            ids = tuple(self.tokenizer.encode(prompt.text).ids)
        (values,) = await self.served.run(scorer.scored, [[self.tokenizer.eos_id, *ids]], options)
        return [ListedToken(token, value, tuple(best)) for token, (value, best) in zip(ids, values, strict=True)]


@dataclass
class TokenTexts:
    """The texts of tokens, one after another: what each adds to those before it."""

    tokenizer: Tokenizer
    prompt: str
    ids: list[int]
    """Those before, the prompt's first."""
    text: str = field(default="", init=False)

    def add(self, token: ListedToken) -> tuple[str, list[tuple[str, int, float]]]:
        """Return the text of one more token, and its alternatives: text, id, log probability."""
        before = self.ids[-24:]
        of = lambda number: text_after(self.tokenizer, self.prompt + self.text, before, [number])
        own = of(token.id)
        listed = [(of(number), number, value) for number, value in token.alternatives]
        self.ids.append(token.id)
        self.text += own
        return own, listed
