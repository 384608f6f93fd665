"""The measurements of a race's members as charts: those of its report, from the same files."""

from collections.abc import Iterable, Mapping, Sequence

from regard.studies.race.records import MeasuredRecord, MeasuredText, MeasuredTranslator, PointRecord
from regard.studio.messages import StudioMessage
from regard.studio.views.runs import Line

FLOOR = 1e-12
"""The least value on a logarithmic axis, in place of a gradient of 0."""


class MeasuredPanel(StudioMessage):
    """A chart of measurements, a line for each member that has them."""

    title: str
    about: str
    """The measurement in a sentence."""
    x: str
    y: str
    """The titles of the axes, with units."""
    ranges: list[str]
    """Names of the steps 0, 1, ... of a horizontal axis of ranges; empty: it is one of numbers."""
    is_logarithmic: bool
    lines: list[Line]


def measured_panels(measured: Mapping[str, MeasuredRecord | None]) -> list[MeasuredPanel]:
    """Return the charts for which there are measurements."""
    known = {name: each for name, each in measured.items() if each is not None}
    translators = {name: each for name, each in known.items() if isinstance(each, MeasuredTranslator)}
    texts = {name: each for name, each in known.items() if isinstance(each, MeasuredText)}
    made = [
        _by_range(
            "BLEU by source length",
            "BLEU of the test sentences in buckets of about equal size by source length.",
            ("source length in tokens", "BLEU"),
            {name: [(b.shortest, b.longest, b.bleu) for b in each.lengths] for name, each in translators.items()},
        ),
        _by_range(
            "loss by position in the window",
            "Mean loss of the tokens in windows of the held-out text, by the number of tokens before them.",
            ("tokens of context", "loss of a token in nats"),
            {name: [(b.shortest, b.longest, b.loss) for b in each.positions] for name, each in texts.items()},
        ),
        *(_reach(side, known) for side in ("target", "source", "text")),
        _by_length("training", "milliseconds of a training step", translators),
        _by_length("decoding", "milliseconds of a decoded sentence", translators),
    ]
    return [each for each in made if each.lines]


def panels_over_time(curves: Mapping[str, Sequence[PointRecord]]) -> list[MeasuredPanel]:
    """Return the charts of validation by training time, which a race gives to all members alike."""
    made = [
        _over_time("BLEU", "BLEU of the first validation sentences, decoded greedily", "BLEU", "bleu", curves),
        _over_time("validation loss", "Mean loss of a token", "loss of a token in nats", "loss", curves),
    ]
    return [each for each in made if each.lines]


def _over_time(what: str, about: str, y: str, key: str, curves: Mapping[str, Sequence[PointRecord]]) -> MeasuredPanel:
    points = {
        name: [(each.seconds, value) for each in curve if (value := getattr(each, key)) is not None]
        for name, curve in curves.items()
    }
    return MeasuredPanel(
        title=f"{what} over training time",
        about=f"{about}, at each validation; the time of validation is excluded.",
        x="training time in seconds",
        y=y,
        ranges=[],
        is_logarithmic=False,
        lines=[
            Line(name=name, steps=[seconds for seconds, _ in own], values=[value for _, value in own])
            for name, own in points.items()
            if own
        ],
    )


def _by_range(
    title: str, about: str, axes: tuple[str, str], buckets: Mapping[str, Sequence[tuple[int, int, float]]]
) -> MeasuredPanel:
    """Return values by ranges of lengths, which are the same for all members."""
    ranges = next((list(each) for each in buckets.values()), [])
    return MeasuredPanel(
        title=title,
        about=about,
        x=axes[0],
        y=axes[1],
        ranges=[str(low) if low == high else f"{low}–{high}" for low, high, _ in ranges],
        is_logarithmic=False,
        lines=[
            Line(name=name, steps=[*map(float, range(len(each)))], values=[value for _, _, value in each])
            for name, each in buckets.items()
            if each
        ],
    )


def _reach(side: str, known: Mapping[str, MeasuredRecord]) -> MeasuredPanel:
    """Return how the gradient of one token's loss falls with the distance to the tokens that it reaches."""
    where = {"target": "preceding target tokens", "source": "source tokens", "text": "preceding tokens"}[side]
    curves = ((name, each.reach.get(side)) for name, each in known.items())
    return MeasuredPanel(
        title=f"gradient reach in the {side}",
        about=f"Gradient norm of one token's loss at the embeddings of the {where}, divided by the mean of all.",
        x="distance in tokens",
        y="gradient norm / mean",
        ranges=[],
        is_logarithmic=True,
        lines=[
            Line(name=name, steps=curve["distance"], values=[max(value, FLOOR) for value in curve["gradient"]])
            for name, curve in curves
            if curve
        ],
    )


def _by_length(which: str, what: str, translators: Mapping[str, MeasuredTranslator]) -> MeasuredPanel:
    """Return the times of steps by the length of sentences."""

    def times(each: MeasuredTranslator) -> Iterable[tuple[int, float]]:
        values = each.step_times.training_ms if which == "training" else each.step_times.decoding_ms
        return zip(each.step_times.lengths, values, strict=False)

    measured = {name: list(times(each)) for name, each in translators.items()}
    return MeasuredPanel(
        title=f"{what} by length",
        about="Measured on random sentence pairs of each length, on the machine of the race.",
        x="source and target length in tokens",
        y="milliseconds",
        ranges=[],
        is_logarithmic=True,
        lines=[
            Line(name=name, steps=[float(n) for n, _ in each], values=[value for _, value in each])
            for name, each in measured.items()
            if each
        ],
    )
