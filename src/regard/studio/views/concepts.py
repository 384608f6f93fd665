"""Concepts: position encodings, learning rates, label smoothing, BLEU, masks and cells, by the library itself."""

from math import log
from typing import Literal

import torch

from regard.errors import ConfigError
from regard.metrics.bleu import explain_bleu, matches
from regard.nn.attention.masks import causal_mask
from regard.nn.layers.positions import sinusoids
from regard.nn.layers.recurrent import gru_update, lstm_update
from regard.objectives.cross_entropy import cross_entropy
from regard.studio.messages import Floats, StudioMessage
from regard.training.schedules import learning_rate
from regard.training.settings import TrainSettings


class PositionsRequest(StudioMessage):
    """A number of positions, a width, and a shift."""

    length: int = 50
    width: int = 128
    shift: int = 4


class PositionsView(StudioMessage):
    """Sinusoids (T, D), the bits of a counter (T, B), and the matrix that shifts a position."""

    values: Floats
    bits: Floats
    shifted: Floats
    """PE(pos) times the shift matrix (T - shift, D): what a linear function makes of each row."""
    error: float
    """The largest difference from PE(pos + shift)."""
    rotation: Floats
    """The 2 × 2 block of the shift matrix for the first pair of features."""


class SchedulesRequest(StudioMessage):
    """Peak rate or factor, warm-up, length, and the width of the model."""

    warmup: int = 400
    steps: int = 4000
    width: int = 512
    peak: float = 0.001


class ScheduleCurve(StudioMessage):
    """The rate of a schedule at some steps."""

    schedule: str
    rates: list[float]


class SchedulesView(StudioMessage):
    """The curves of the schedules at the same steps."""

    steps: list[int]
    curves: list[ScheduleCurve]


class SmoothingRequest(StudioMessage):
    """Label smoothing, and the size of the vocabulary."""

    smoothing: float = 0.1
    vocabulary: int = 50


class SmoothingView(StudioMessage):
    """The loss as a function of the probability of the label, the rest spread evenly; with and without smoothing."""

    probabilities: list[float]
    smoothed: list[float]
    plain: list[float]
    target: list[float]
    """The target distribution of the label and of every other word."""
    best: float
    """The probability of the label at which the smoothed loss is least."""


class BleuRequest(StudioMessage):
    """A hypothesis and a reference, split at spaces."""

    hypothesis: str
    reference: str


class NgramMatch(StudioMessage):
    """An n-gram of the hypothesis, how often it is there, in the reference, and what counts."""

    ngram: str
    count: int
    in_reference: int
    clipped: int


class BleuOrder(StudioMessage):
    """The n-grams of one order."""

    n: int
    precision: float
    clipped: int
    total: int
    matches: list[NgramMatch]


class BleuView(StudioMessage):
    """BLEU with all that it is made of."""

    orders: list[BleuOrder]
    hypothesis_length: int
    reference_length: int
    brevity_penalty: float
    scores: list[float]
    """BLEU-1 to BLEU-4."""


class MasksRequest(StudioMessage):
    """Lengths of the sentences of a batch."""

    lengths: tuple[int, ...] = (6, 4, 2)


class MaskOf(StudioMessage):
    """The mask (T, S) of one sentence: 1 where a query attends."""

    name: str
    values: Floats


class MasksView(StudioMessage):
    """The causal mask, the padding masks, and both together."""

    masks: list[MaskOf]


class CellRequest(StudioMessage):
    """Gates set by hand: of an LSTM i, f, o and C~ on the state C; of a GRU z and n on the state h."""

    cell: Literal["lstm", "gru"] = "lstm"
    i: float = 0.5
    f: float = 0.9
    o: float = 0.5
    z: float = 0.9
    candidate: float = 0.8
    state: float = 1.0
    steps: int = 20


class CellView(StudioMessage):
    """The state over steps with these gates held."""

    cell: list[float]
    hidden: list[float]


def show_positions(request: PositionsRequest) -> PositionsView:
    """Return position encodings beside the binary counter, and what a shift makes of them."""
    length, width, shift = request.length, request.width, request.shift
    if not (2 <= length <= 512 and 2 <= width <= 512 and width % 2 == 0 and 0 <= shift < length):
        raise ConfigError("positions: give 2 to 512 positions, an even width up to 512, and a smaller shift.")
    values = sinusoids(torch.arange(length), width).double()
    at_shift = sinusoids(torch.tensor([shift]), width)[0].double()
    sine, cosine = at_shift[0::2], at_shift[1::2]
    # sin(a + b) = sin a cos b + cos a sin b; cos(a + b) = cos a cos b - sin a sin b: one rotation for each pair.
    s, c = values[:, 0::2], values[:, 1::2]
    shifted = torch.stack((s * cosine + c * sine, c * cosine - s * sine), -1).flatten(-2)[: length - shift]
    bits = (torch.arange(length)[:, None] >> torch.arange(9, -1, -1)) & 1
    rotation = torch.stack((torch.stack((cosine[0], sine[0])), torch.stack((-sine[0], cosine[0]))))
    return PositionsView(
        values=Floats.of(values),
        bits=Floats.of(bits.float()),
        shifted=Floats.of(shifted),
        error=float((shifted - values[shift:]).abs().max()),
        rotation=Floats.of(rotation),
    )


def show_schedules(request: SchedulesRequest) -> SchedulesView:
    """Return the curves of the learning rate schedules."""
    if not (
        1 <= request.warmup < request.steps <= 1_000_000 and 0 < request.peak <= 10 and 1 <= request.width <= 16384
    ):
        raise ConfigError("schedules: give a warm-up below the steps, up to 1,000,000, and a rate up to 10.")
    shown = sorted({1, *(max(1, request.steps * number // 200) for number in range(201)), request.warmup})
    curves = []
    for name in ("transformer", "inverse-sqrt", "cosine", "linear", "constant"):
        rate = 1.0 if name == "transformer" else request.peak
        settings = TrainSettings.model_validate(
            {"schedule": name, "warmup": request.warmup, "steps": request.steps, "learning_rate": rate}
        )
        curves.append(
            ScheduleCurve(schedule=name, rates=[learning_rate(settings, step, request.width) for step in shown])
        )
    return SchedulesView(steps=shown, curves=curves)


def show_smoothing(request: SmoothingRequest) -> SmoothingView:
    """Return the cross-entropy with and without label smoothing, by the probability of the label."""
    V, smoothing = request.vocabulary, request.smoothing
    if not (2 <= V <= 100_000 and 0 <= smoothing < 1):
        raise ConfigError("smoothing: give a smoothing below 1 and a vocabulary of 2 to 100,000.")
    probabilities = [*(number / 100 for number in range(1, 100)), 0.995, 0.999]
    label = torch.zeros(1, dtype=torch.long)
    smoothed, plain = [], []
    for p in probabilities:
        # Logits with this probability of the label: a hidden state of one feature, and the logits as its weight.
        logits = torch.full((V, 1), log((1 - p) / (V - 1)))
        logits[0] = log(p)
        loss = cross_entropy(torch.ones(1, 1), logits, None, label, smoothing)
        smoothed.append(float(loss.smoothed))
        plain.append(float(loss.plain))
    return SmoothingView(
        probabilities=probabilities,
        smoothed=smoothed,
        plain=plain,
        target=[1 - smoothing, smoothing / (V - 1)],
        best=probabilities[smoothed.index(min(smoothed))],
    )


def show_bleu(request: BleuRequest) -> BleuView:
    """Return BLEU of one sentence, with every n-gram."""
    hypothesis, reference = request.hypothesis.split(), request.reference.split()
    if not hypothesis or not reference or len(hypothesis) + len(reference) > 1000:
        raise ConfigError("bleu: give a hypothesis and a reference, of 1,000 words together at most.")
    explained = explain_bleu([hypothesis], [[reference]])
    orders = [
        BleuOrder(
            n=each.n,
            precision=each.value,
            clipped=each.clipped,
            total=each.total,
            matches=[
                NgramMatch(
                    ngram=" ".join(one.ngram), count=one.count, in_reference=one.in_references[0], clipped=one.clipped
                )
                for one in matches(hypothesis, [reference], each.n)
            ],
        )
        for each in explained.precisions
    ]
    return BleuView(
        orders=orders,
        hypothesis_length=explained.hypothesis_length,
        reference_length=explained.reference_length,
        brevity_penalty=explained.brevity_penalty,
        scores=[explained.score(n) for n in range(1, 5)],
    )


def show_masks(request: MasksRequest) -> MasksView:
    """Return the masks of a batch."""
    lengths = request.lengths
    if not lengths or len(lengths) > 8 or not all(1 <= each <= 64 for each in lengths):
        raise ConfigError("lengths: give 1 to 8 sentences of 1 to 64 tokens.")
    T = max(lengths)
    causal = causal_mask(T, T, torch.device("cpu"))
    masks = [MaskOf(name="causal", values=Floats.of(causal.float()))]
    for number, length in enumerate(lengths, start=1):
        padding = (torch.arange(T) < length).expand(T, T)
        masks.append(MaskOf(name=f"padding, sentence {number}", values=Floats.of(padding.float())))
        masks.append(MaskOf(name=f"both, sentence {number}", values=Floats.of((causal & padding).float())))
    return MasksView(masks=masks)


def show_cell(request: CellRequest) -> CellView:
    """Return the state of a cell whose gates are held."""
    if not 1 <= request.steps <= 200:
        raise ConfigError("steps: give 1 to 200.")
    number = lambda value: torch.tensor(value)
    state, cells, hidden = number(request.state), [], []
    for _ in range(request.steps):
        if request.cell == "lstm":
            gates = (number(request.i), number(request.f), number(request.candidate), number(request.o))
            h, state = lstm_update(gates, state)
        else:
            h = state = gru_update(number(request.z), number(request.candidate), state)
        cells.append(float(state))
        hidden.append(float(h))
    return CellView(cell=cells, hidden=hidden)
