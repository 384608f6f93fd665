"""Pipelines that generate text: rows become requests, hypotheses become results; calls, streams and servers alike."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
from pydantic import Field

from regard.config.settings import Settings
from regard.data.feeds.sampler import micro_batches
from regard.decoding.settings import GenerationSettings, with_overrides
from regard.pipelines.base import Options, Pipeline, Result
from regard.pipelines.inputs import as_row, lines, split_rows
from regard.progress import SILENT, Progress

if TYPE_CHECKING:
    from regard.checkpoint.bundle import Bundle
    from regard.decoding.session import GenerationJob
    from regard.decoding.steppers.interface import Hypothesis, Request

R = TypeVar("R")
A = TypeVar("A", bound=Result)
G = TypeVar("G", bound=GenerationSettings)
D = TypeVar("D", bound=Settings)


class GenerationOptions(Options):
    """Options of every call that generates text, beside its decoding settings."""

    is_checked_alone: ClassVar[bool] = False

    n_best: int | None = Field(None, ge=1)
    """Outputs to list for each input (n-best): the best hypotheses of a search, or samples (default: 1)."""

    @property
    def streams(self) -> bool:
        """True where a call has one output, which can be shown while it is generated."""
        return (self.n_best or 1) == 1


O = TypeVar("O", bound=GenerationOptions)  # noqa: E741


class GeneratingPipeline(Pipeline[R, O, A]):
    """A model that generates text: a call, `stream` and a server make the same requests and results.

    A server builds the `job` of some options, the `request` of each row (`check` refuses a bad one), lets a
    `GenerationSession` of that job work on them under `locked`, and turns the hypotheses of each into a `result`.
    Requests of jobs with equal `settings` may share a session; one of a job that is not `is_stepwise` is left to
    `decoding.generate`.
    """

    bar: ClassVar[str] = "generate"
    """The title of its progress bar."""
    batch_tokens: int
    """Padded tokens that a batch may have, those of all hypotheses together."""

    def __init__(self, bundle: "Bundle", others: "Sequence[Bundle]" = ()) -> None:
        from regard.nn.inference.prepacked import drop_prepacked

        super().__init__(bundle)
        self.models: list[Any] = [bundle.model, *(other.model for other in others)]
        for model in self.models:
            drop_prepacked(model)

    @abstractmethod
    def job(self, options: O) -> "GenerationJob":
        """Return the models, settings and tokenizer that requests with these options are answered with."""

    @abstractmethod
    def requests(
        self, rows: Sequence[R], options: O, numbers: Sequence[int], where: Sequence[str]
    ) -> "list[Request | None]":
        """Return the request of each row, refusing a bad row by its `where`; None: a row whose output is empty.

        Random numbers depend on a row's number.
        """

    @abstractmethod
    def results(
        self,
        rows: Sequence[R],
        options: O,
        job: "GenerationJob",
        requests: "Sequence[Request | None]",
        hypotheses: "Sequence[Sequence[Hypothesis]]",
    ) -> list[A]:
        """Return the result of each row from the hypotheses of its request: none where there was no request."""

    def request(self, row: R, options: O, number: int = 1, where: str = "line 1") -> "Request | None":
        """Return the request of one row (see `requests`)."""
        return self.requests([row], options, [number], [where])[0]

    def result(
        self, row: R, options: O, job: "GenerationJob", request: "Request | None", hypotheses: "Sequence[Hypothesis]"
    ) -> A:
        """Return the result of one row (see `results`)."""
        return self.results([row], options, job, [request], [hypotheses])[0]

    def check(self, row: R, options: O, where: str) -> None:
        """Refuse a row that no request can be made of."""
        self.request(row, options, 1, where)

    def sizes(self, job: "GenerationJob", request: "Request") -> tuple[int, int]:
        """Return the tokens of a request that a batch pads: those read, and new ones that are counted in advance."""
        return len(request.ids), 0

    def batches(self, job: "GenerationJob", requests: "Sequence[Request]") -> Iterator[list[int]]:
        """Yield the indices of requests of similar length that make up a batch."""
        if not requests:
            return
        read, new = np.array([self.sizes(job, each) for each in requests], np.int64).T
        limit = max(1, self.batch_tokens // job.settings.hypotheses)
        yield from (each.tolist() for each in micro_batches(np.arange(len(requests)), read, new, limit))

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the models: probes record every thread that runs them."""
        from regard.inspection.record import exclusive

        with ExitStack() as locks:
            for model in sorted(set(self.models), key=id):  # always in the same order: no deadlock
                locks.enter_context(exclusive(model))
            yield

    def predict(
        self,
        rows: Sequence[R],
        options: O,
        progress: Progress = SILENT,
        numbers: Sequence[int] | None = None,
    ) -> list[A]:
        """Return the results of rows; `numbers` are those of the rows (default: 1, 2, ...)."""
        counted = range(1, len(rows) + 1) if numbers is None else numbers
        return self._generated(rows, options, counted, lines(1, rows), progress)

    def _results(
        self,
        given: Sequence[object],
        options: O,
        where: Sequence[str],
        progress: Progress,
        numbers: Sequence[int],
    ) -> list[A]:
        rows = [as_row(self.row, self.inputs, each, origin) for each, origin in zip(given, where, strict=True)]
        return self._generated(rows, options, numbers, where, progress)

    def _generated(
        self, rows: Sequence[R], options: O, numbers: Sequence[int], where: Sequence[str], progress: Progress
    ) -> list[A]:
        from regard.decoding.generate import generate

        job, requests = self.job(options), self.requests(rows, options, numbers, where)
        kept = [index for index, request in enumerate(requests) if request is not None]
        known = [request for request in requests if request is not None]
        results = (
            self.results(rows, options, job, [None] * len(rows), [()] * len(rows)) if len(kept) < len(rows) else []
        )
        by_row = dict(enumerate(results))
        with progress.bar(self.bar, len(kept)) as bar:
            for batch in self.batches(job, known):
                with self.locked():
                    hypotheses = generate(job, [known[index] for index in batch])
                places = [kept[index] for index in batch]
                chosen = [rows[place] for place in places]
                answers = self.results(chosen, options, job, [requests[place] for place in places], hypotheses)
                by_row |= dict(zip(places, answers, strict=True))
                bar.advance(len(batch))
        return [by_row[index] for index in range(len(rows))]

    def stream(
        self, *inputs: object, options: O | None = None, first_row: int = 1, **overrides: object
    ) -> Iterator[str]:
        """Yield the output for one row in chunks as it is generated; joined, they are the text of a call.

        No character is split; a possible stop string, and text that a beam search may still change, are withheld. A
        model that predicts all tokens in parallel yields its output as a whole.
        """
        from regard.decoding.generate import stream

        chosen, (given, is_many) = self.options(options, **overrides), split_rows(inputs)
        if is_many or len(given) != 1:
            self._refuse("stream", "generates one output at a time as a stream; give one row")
        (where,) = lines(first_row, given)
        row = as_row(self.row, self.inputs, given[0], where)
        job, request = self.job(chosen), self.request(row, chosen, first_row, where)
        if request is None:
            return iter(())
        if not job.is_stepwise:
            return self._whole(row, chosen, job, request)
        return stream(job, request, self.locked)

    def _whole(self, row: R, options: O, job: "GenerationJob", request: "Request") -> Iterator[str]:
        from regard.decoding.generate import generate

        with self.locked():
            (hypotheses,) = generate(job, [request])
        yield self.result(row, options, job, request, hypotheses).text


AnyGeneratingPipeline = GeneratingPipeline[Any, Any, Any]


def decoding_part(schema: type[D], options: Options) -> D:
    """Return the decoding settings among the options of a call, which requests that decode together share."""
    return schema.model_validate(options.model_dump(include=set(schema.model_fields)))


def decoding_options(
    schema: type[G], defaults: Mapping[str, object], given: Options | None, overrides: Mapping[str, object]
) -> G:
    """Return the options of a call: a checkpoint's, then those given, then those by name (see `with_overrides`)."""
    if given is not None:
        defaults = _chosen(with_overrides(schema, defaults, _chosen(given)))
    return with_overrides(schema, defaults, overrides)


def _chosen(options: Options | GenerationSettings) -> dict[str, object]:
    """Return what options set, their method always among it: a beam size alone would ask for a search."""
    method = {"method": options.method} if isinstance(options, GenerationSettings) else {}
    return options.model_dump(mode="json", exclude_unset=True) | method
