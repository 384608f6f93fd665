"""What is measured on a model, whatever its family."""

from itertools import pairwise

import numpy as np
import pytest
import torch
from torch import nn

from regard.data.encoding.batches import EncodedPairs
from regard.data.encoding.sequences import Sequences
from regard.data.sources.pair import Pair
from regard.inspection.record import record_translation
from regard.models.base.settings import Vocabularies
from regard.models.families import build_model
from regard.models.recurrent.seq2seq import RecurrentSettings
from regard.nn.layers.embedding import VocabularyHead
from regard.studies.race.figures import timing
from regard.studies.race.figures.alignment import alignment, pick_sentence
from regard.studies.race.figures.bleu_by_length import bleu_by_length
from regard.studies.race.figures.gradient_reach import embedded, gradient_reach
from regard.tasks.translate.pipeline import Translator
from small import VOCABULARY, random_pairs, small_transformer

CPU = torch.device("cpu")
VOCABULARIES = Vocabularies(VOCABULARY, VOCABULARY, True)


class Forgetful(nn.Module):
    """Two plain recurrent layers whose states halve at each step: the decoder knows the encoder's last one only."""

    max_positions = None

    def __init__(self, width: int = 8) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.table = nn.Embedding(VOCABULARY, width)
        self.head = VocabularyHead(self.table)

    def read(self, tokens, state):
        for vector in self.table(tokens).unbind(1):
            state = torch.tanh(0.5 * state + vector)
            yield state

    def encode(self, source, token_mask):
        return list(self.read(source, torch.zeros(len(source), self.table.embedding_dim)))[-1]

    def decode(self, target, memory, state=None):
        return torch.stack(list(self.read(target, memory)), 1)

    def project(self, hidden):
        return self.head(hidden)


def falls(found) -> float:
    """Return how much less arrives far back than near by."""
    return found["gradient"][0] / max(found["gradient"][-1], 1e-12)


@pytest.mark.parametrize("side", ["source", "target"])
def test_gradients_vanish_where_a_state_forgets_and_not_where_attention_leads_back(side):
    pairs = random_pairs(300)
    recurrent = gradient_reach(Forgetful(), pairs, CPU)[side]
    attentive = gradient_reach(small_transformer(), pairs, CPU)[side]
    assert falls(recurrent) > 10 > falls(attentive)
    assert recurrent["distance"] == attentive["distance"]


def test_measuring_gradients_leaves_the_model_as_it_was():
    model = small_transformer().train()
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    gradient_reach(model, random_pairs(30), CPU)
    assert model.training and all(parameter.grad is None for parameter in model.parameters())
    assert all(torch.equal(before[name], tensor) for name, tensor in model.state_dict().items())
    assert not any(module._forward_hooks for module in model.modules())


def test_only_the_source_is_listened_to():
    model = small_transformer(positions="learned", max_positions=20)
    batch = random_pairs(5).batch(np.arange(1))
    with embedded(model, batch.source) as leaves:
        model.decode(batch.target, model.encode(batch.source, batch.source_mask))
    assert [tuple(leaf.shape) for leaf in leaves] == [(1, batch.source.size(1), 16)]


def test_a_model_without_an_embedding_table_has_no_reach():
    class Bare(Forgetful):
        def read(self, tokens, state):
            for vector in nn.functional.embedding(tokens, self.table.weight).unbind(1):
                yield state + vector

    assert gradient_reach(Bare(), random_pairs(20), CPU) == {"source": None, "target": None}


def test_buckets_hold_every_sentence_once_and_score_themselves():
    lengths = [3] * 20 + [5] * 20 + [9] * 20
    references = [[f"a b c d e f {number}"] for number in range(60)]
    said = [choices[0] if length < 9 else "x y z" for choices, length in zip(references, lengths, strict=True)]
    buckets = bleu_by_length(lengths, said, references)
    assert [(each.shortest, each.longest, each.sentences) for each in buckets] == [(3, 3, 20), (5, 5, 20), (9, 9, 20)]
    assert buckets[0].bleu == pytest.approx(100) and buckets[-1].bleu < 5


@pytest.mark.parametrize("count", [1, 7, 25, 500])
def test_buckets_are_never_tiny(count):
    draw = np.random.default_rng(count)
    lengths = draw.integers(1, 40, count).tolist()
    buckets = bleu_by_length(lengths, ["a"] * count, [["a"]] * count)
    assert sum(each.sentences for each in buckets) == count and len(buckets) <= 6
    assert all(one.longest < other.shortest for one, other in pairwise(buckets))


def test_times_stop_at_the_longest_sequence_a_model_takes(monkeypatch):
    monkeypatch.setattr(timing, "LENGTHS", (4, 8, 16))
    model = small_transformer(positions="learned", max_positions=10)
    found = timing.time_by_length(model, Vocabularies(VOCABULARY, VOCABULARY, True), CPU)
    assert found["lengths"] == [4, 8]
    assert all(value > 0 for value in found["training_ms"] + found["decoding_ms"])
    assert all(parameter.grad is None for parameter in model.parameters())


def encoded(source, target):
    """Return pairs of which only the lengths are told."""
    sides = [Sequences.of([[5] * length for length in lengths]) for lengths in (source, target)]
    return EncodedPairs(*sides, 0, 0, 2)


def test_the_sentence_can_be_read_as_a_picture():
    pairs = [Pair(str(number), "") for number in range(4)]
    assert pick_sentence(pairs, encoded([1, 9, 9, 8], [9, 40, 10, 8])).source == "2"  # the first that fits
    assert pick_sentence(pairs, encoded([1, 90, 20, 30], [1, 90, 25, 20])).source == "0"  # the nearest
    assert pick_sentence(pairs[:2], encoded([90, 30], [80, 30])).source == "1"


class Looking(Translator):
    """A translator of given ids, without a tokenizer."""

    def __init__(self, model, ids):
        self.model, self.ids = model, ids

    def inspect(self, source, target=None, probes=("*.weights",)):
        tokens = {"source": ["▁a", "▁b", "▁"], "target": ["x", "y", "</s>"], "input": ["<s>", "x", "y"]}
        return record_translation(self.model, *self.ids, tokens, probes)


@pytest.mark.parametrize("kind", ["transformer", "gru"])
def test_sides_of_one_length_are_not_confused(kind):
    """Source and target have three tokens, and so has what looks at its own side."""
    recurrent = RecurrentSettings(width=8, alignment="dot")
    model = small_transformer() if kind == "transformer" else build_model(recurrent, VOCABULARIES).eval()
    ids = torch.tensor([5, 6, 3]), torch.tensor([2, 7, 8])
    found = alignment(Looking(model, ids), Pair("a b", "x y"))
    assert found["source"] == ["a", "b", "␣"] and found["target"] == ["x", "y", "</s>"]
    assert ".cross." in found["probe"] and np.shape(found["weights"]) == (3, 3)
    assert min(found["weights"][0]) > 0  # what looks at its own side sees nothing ahead


def test_without_attention_or_room_there_is_no_alignment():
    ids = torch.tensor([5, 6, 3]), torch.tensor([2, 7, 8])
    for settings in (RecurrentSettings(width=8), RecurrentSettings(width=8, alignment="location", max_positions=2)):
        assert alignment(Looking(build_model(settings, VOCABULARIES).eval(), ids), Pair("a b", "x y")) is None
