"""The cost of a model in training: parameters by unit, operations, and bytes that are kept for the backward pass."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import nn

from regard.models.base.family import Kind
from regard.models.base.settings import ModelSettings, Vocabularies
from regard.models.families import build_model, family
from regard.nn.blocks import BlockSettings, DecoderBlock, EncoderBlock
from regard.nn.layers.embedding import VocabularyHead
from regard.objectives.cross_entropy import MEMORY_FRACTION
from regard.tasks.settings import RunSettings
from regard.training.settings import TrainSettings

Shape = tuple[int, ...]
WIDE = 4
"""Bytes of a number in fp32, which weights, gradients, moments and sums between blocks have."""
PAIRED: tuple[Kind, ...] = ("seq2seq", "conditional-masked-lm")
"""Kinds of models with a source beside the target."""
SENTENCE = 48
"""Tokens of a sentence: what a position of a translator attends to."""


@dataclass(frozen=True)
class Workload:
    """A model in training."""

    kind: Kind
    width: int
    blocks: tuple[tuple[Shape, ...], ...]
    """Shapes of the parameters of each block, a unit of sharding."""
    rest: tuple[Shape, ...]
    """Those of all others, one unit."""
    products: int
    """Parameters that every token is multiplied with: all but tables and the projection to the vocabulary."""
    vocabulary: int
    labeled: float
    """Fraction of the tokens that are predicted over the vocabulary."""
    kept: tuple[float, float, float]
    """Numbers a token keeps for the backward pass: in fp32, in the precision of products, and single bytes."""
    heads: int
    attended: float
    """Positions that a token attends to, on average."""
    attentions: int
    state: int
    """Bytes of a parameter with its gradient, the optimizer's moments and its average."""

    @cached_property
    def parameters(self) -> int:
        """The number of parameters."""
        return sum(map(math.prod, (shape for unit in (*self.blocks, self.rest) for shape in unit)))

    @cached_property
    def block(self) -> int:
        """The parameters of the largest block; 0 without any."""
        return max((sum(map(math.prod, unit)) for unit in self.blocks), default=0)

    def share(self, ways: int) -> int:
        """Return the parameters that one of so many processes holds: each is cut along its rows (FSDP2)."""
        shapes = (shape for unit in (*self.blocks, self.rest) for shape in unit)
        return sum(-(-shape[0] // ways) * math.prod(shape[1:]) for shape in shapes)

    @property
    def operations(self) -> float:
        """Operations a target token in training: 6 a parameter it is multiplied with, and those of attention."""
        output = self.labeled * self.width * self.vocabulary
        return 6 * (self.products + output) + 12 * self.attentions * self.width * self.attended

    def activations(self, tokens: float, product: int, recomputes: bool, ways: int = 1) -> float:
        """Return the bytes kept for a pass over so many tokens, of `product` bytes a number in products.

        `ways`: processes that share each block (tensor parallel), which divides what is inside of it.
        """
        wide, narrow, single = self.kept
        each = wide * WIDE + (narrow / ways) * product + single
        count = max(1, len(self.blocks))
        if recomputes and self.blocks:
            return tokens * (each / count + count * self.width * WIDE)
        return tokens * each

    def logits(self, tokens: float, product: int, memory: int, is_cuda: bool) -> float:
        """Return the bytes of the logits that exist at once."""
        most = memory * MEMORY_FRACTION if is_cuda else 2**22 * WIDE
        return min(most, self.labeled * tokens * self.vocabulary * product)


def workload(settings: RunSettings[ModelSettings], vocabularies: Vocabularies) -> Workload:
    """Return what the model of a run costs, counted on one that has no memory."""
    with torch.device("meta"):
        model = build_model(settings.model, vocabularies)
    blocks = [each for each in model.modules() if isinstance(each, EncoderBlock | DecoderBlock)]
    inside = {id(parameter) for block in blocks for parameter in block.parameters()}
    tables = {id(each.weight) for each in model.modules() if isinstance(each, nn.Embedding | VocabularyHead)}
    kind, train = family(settings.model.family).kind, settings.train
    masking = getattr(settings, "masking", None)
    has_output = masking is not None or not hasattr(settings, "head_dropout")
    sequences = getattr(settings, "window", None) or getattr(getattr(settings, "sequences", None), "length", None)
    reach = SENTENCE if kind in PAIRED else sequences or getattr(model, "max_positions", None) or SENTENCE
    return Workload(
        kind=kind,
        width=settings.model.width,
        blocks=tuple(tuple(tuple(each.shape) for each in block.parameters()) for block in blocks),
        rest=tuple(tuple(each.shape) for each in model.parameters() if id(each) not in inside),
        products=sum(each.numel() for each in model.parameters() if id(each) not in tables),
        vocabulary=vocabularies.target,
        labeled=has_output * getattr(masking, "mask_fraction", 1.0),
        kept=_kept(model, blocks, settings.model, tables, inside),
        heads=getattr(settings.model, "heads", 1),
        attended=reach / 2 if kind == "causal-lm" else reach,
        attentions=sum(2 if isinstance(each, DecoderBlock) else 1 for each in blocks),
        state=_state(train) if isinstance(train, TrainSettings) else 2 * WIDE,
    )


def _state(train: TrainSettings) -> int:
    """Return the bytes of a parameter with all that training holds of it."""
    moments = 2 if train.optimizer != "sgd" else int(train.momentum > 0)
    return WIDE * (2 + moments + (train.ema_decay > 0))


def _kept(
    model: nn.Module, blocks: Sequence[nn.Module], settings: ModelSettings, tables: set[int], inside: set[int]
) -> tuple[float, float, float]:
    """Return the numbers that a token keeps: in fp32, in the precision of products, and masks of dropout.

    A block keeps the inputs of its norms (fp32), those of its products, queries, keys, values and the activation;
    other matrices keep their input and output. No kernel keeps attention weights.
    """
    matrices = [each for each in model.parameters() if each.dim() > 1 and id(each) not in tables | inside]
    narrow = float(sum(each.shape[0] + each.shape[1] for each in matrices))
    wide, single = float(settings.width), 0.0
    sizes: object = settings
    for block in blocks:
        assert isinstance(sizes, BlockSettings), "blocks are built from these"
        D, F = sizes.width, sizes.feed_forward_width
        halves = 2 if sizes.activation == "swiglu" else 1
        keys = 2 * sizes.groups * sizes.width_of_head
        crossed = isinstance(block, DecoderBlock)
        wide += (2 + crossed) * D
        narrow += (1 + crossed) * (3 * D + keys) + D + (1 + halves) * F
        single += (2 + crossed) * D * (sizes.dropout > 0) + F * (sizes.feed_forward_dropout > 0)
    return wide, narrow, single
