"""Generation: text as it is made, each token with its candidates before and after what acts on the distribution."""

from collections.abc import Iterator

from pydantic import Field

from regard.decoding.distribution import GeneratedToken, generate_steps
from regard.errors import ConfigError
from regard.pipelines.base import AnyPipeline
from regard.studio.messages import ModelRequest, StudioMessage, TokenCandidate
from regard.studio.views.models import tokenizer_of
from regard.studio.views.tree import OptionValue, prepared
from regard.text.readable import readable
from regard.text.tokenizer import Tokenizer

TOP = 12
"""Candidates listed at each position."""


class GenerationRequest(ModelRequest):
    """A prompt (or source), and options of the call by name."""

    text: str
    options: dict[str, OptionValue] = Field(default_factory=dict)


class StageValue(StudioMessage):
    """The probabilities of the listed candidates after one stage: 0 where it is filtered out."""

    stage: str
    probabilities: list[float]
    kept: int
    """Tokens with a probability above 0."""


class GenerationEvent(StudioMessage):
    """One generated token."""

    id: int
    token: str
    text: str
    """The text of all new tokens so far."""
    probability: float
    candidates: list[TokenCandidate]
    stages: list[StageValue]
    is_last: bool


class LensRequest(ModelRequest):
    """A text (and a second one), and the number of candidates a position."""

    text: str
    second: str | None = None
    top: int = 3


class LensLayer(StudioMessage):
    """Predictions of one block at every position: the best tokens and their probabilities, best first."""

    tokens: list[list[str]]
    probabilities: list[list[float]]


class LogitLensView(StudioMessage):
    """The logit lens of a text."""

    tokens: list[str]
    layers: list[LensLayer]


def generation_events(pipeline: AnyPipeline, request: GenerationRequest) -> Iterator[GenerationEvent]:
    """Yield each token as it is generated."""
    options = request.options if "method" in request.options else {"method": "sample", **request.options}
    sampled = {"num_samples": 1} if options["method"] == "sample" else {"beam_size": 1}
    job, one = prepared(pipeline, request.text, {**options, **sampled}, [])
    tokenizer, ids = tokenizer_of(pipeline), list[int]()
    for each in generate_steps(job, one):
        ids.append(each.id)
        yield _event(each, ids, tokenizer)


def _event(made: GeneratedToken, ids: list[int], tokenizer: Tokenizer) -> GenerationEvent:
    best = made.stages["model"].topk(min(TOP, made.stages["model"].size(0))).indices.tolist()
    listed = [number for number in dict.fromkeys([*best, made.id]) if number < tokenizer.id_limit]
    tokens = readable(tokenizer.tokens(listed))
    first = made.stages["model"]
    content = [number for number in ids if number != tokenizer.eos_id]
    return GenerationEvent(
        id=made.id,
        token=readable(tokenizer.tokens([made.id]))[0],
        text=tokenizer.decode(content),
        probability=made.probability,
        candidates=[
            TokenCandidate(id=number, token=token, probability=float(first[number]))
            for number, token in zip(listed, tokens, strict=True)
        ],
        stages=[
            StageValue(
                stage=name, probabilities=[float(each[number]) for number in listed], kept=int((each > 0).sum())
            )
            for name, each in made.stages.items()
        ],
        is_last=made.is_last,
    )


def show_lens(pipeline: AnyPipeline, request: LensRequest) -> LogitLensView:
    """Return each block's prediction at every position."""
    lens = getattr(pipeline, "logit_lens", None)
    if lens is None:
        raise ConfigError("lens: this model has no logit lens; choose a language model or a text encoder.")
    count = max(1, min(request.top, TOP))
    second = {} if request.second is None else {"second": request.second}
    trace = lens(request.text, count=count, **second)
    numbers = sum(1 for name in trace.arrays if name.endswith(".ids"))
    tokenizer = tokenizer_of(pipeline)
    return LogitLensView(
        tokens=readable(trace.tokens["text"]),
        layers=[
            LensLayer(
                tokens=[
                    readable(tokenizer.tokens(map(int, row))) for row in trace.arrays[f"blocks.{number}.ids"].tolist()
                ],
                probabilities=trace.arrays[f"blocks.{number}.probabilities"].tolist(),
            )
            for number in range(numbers)
        ],
    )
