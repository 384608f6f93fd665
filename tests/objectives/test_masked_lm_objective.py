"""The loss of masked words and next sentences: packed or padded, whole or in parts, it is the same."""

import pytest
import torch
from torch.nn import functional as F
from torch.testing import assert_close

from marked import drawn_sizes, told_apart
from regard.data.encoding.batches import NO_LABEL
from regard.data.feeds.masked_lm import MaskedFeed, Stage
from regard.data.feeds.masking import Masker
from regard.data.feeds.sampler import Position
from regard.data.feeds.sentence_pairs import Marks, SentencePairSampler
from regard.data.settings.masking import MaskingSettings
from regard.models.base.settings import Vocabularies
from regard.models.bert import BertSettings
from regard.models.families import build_model
from regard.objectives.loss import scaled_total
from regard.objectives.masked_lm import MaskedObjective
from regard.training.device.gradients import build_gradients
from regard.training.device.machine import prepare_machine
from regard.training.settings import MachineSettings

needs_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")

SIZES = {"width": 16, "heads": 2, "feed_forward_width": 32, "layers": 2, "max_positions": 64}


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    return told_apart(tmp_path_factory.mktemp("objective"), drawn_sizes(40), 10**7)


def model(told, **changes):
    torch.manual_seed(0)
    dropouts = dict.fromkeys(("dropout", "attention_dropout", "embedding_dropout"), 0.0)
    settings = BertSettings(**SIZES | dropouts | changes)
    found = build_model(settings, Vocabularies(told[1].size, told[1].size, True)).double()
    with torch.no_grad():
        for parameter in found.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.1)
    return found


def update(told, limit=10**9, has_pairs=True):
    corpus, tokenizer = told
    maker = SentencePairSampler(corpus, Marks.of(tokenizer), 40, has_pairs)
    feed = MaskedFeed([Stage(maker)], Masker(MaskingSettings(), tokenizer), 1000, limit, 1)
    return next(feed.updates(Position())).micro_batches


def padded(batch):
    """Return tokens, segments, real and the labels of every place, a sequence a row."""
    sizes = batch.cu_seqlens.diff().tolist()
    rows = lambda flat: torch.nn.utils.rnn.pad_sequence(flat.split(sizes), batch_first=True)
    labels = torch.full_like(batch.tokens, NO_LABEL)
    labels[batch.label_positions] = batch.labels
    token_mask = rows(torch.ones_like(batch.tokens)).bool()
    return rows(batch.tokens), rows(batch.segments), token_mask, rows(labels).masked_fill(~token_mask, NO_LABEL)


def test_packed_sequences_have_the_loss_of_padded_ones(told):
    bert, (batch,) = model(told), update(told)
    assert len(set(batch.cu_seqlens.diff().tolist())) > 5
    tokens, segments, token_mask, labels = padded(batch)
    hidden = bert.hidden_states(tokens, segments, token_mask)
    masked = F.cross_entropy(bert.project(hidden).flatten(0, 1), labels.flatten(), ignore_index=-1, reduction="sum")
    scores = bert.next_sentence(bert.pool(hidden[:, 0]))
    following = F.cross_entropy(scores, batch.is_next, ignore_index=-1, reduction="sum")
    found = MaskedObjective()(bert, batch)
    assert_close(found["mlm"].sum, masked, atol=1e-8, rtol=0)
    assert_close(found["nsp"].sum, following, atol=1e-8, rtol=0)
    assert found["mlm"].count == int((labels != NO_LABEL).sum())
    assert found["nsp"].count == int((batch.is_next != NO_LABEL).sum())


def test_what_fills_up_a_shape_changes_nothing(told):
    bert, (batch,), objective = model(told), update(told), MaskedObjective()
    grid = batch.padded_to_bucket(64)
    assert grid.shape[0] > batch.shape[0] and grid.shape[1] > batch.shape[1] and grid.shape[2] > batch.shape[2]
    counts = objective.counts(batch)
    assert objective.counts(grid) == counts
    assert_close(gradients(bert, [grid], counts), gradients(bert, [batch], counts), atol=1e-9, rtol=0)


def gradients(bert, batches, counts):
    bert.zero_grad()
    for batch in batches:
        scaled_total(MaskedObjective()(bert, batch), counts).backward()
    return [parameter.grad.clone() for parameter in bert.parameters()]


@pytest.mark.parametrize("limit", [250, 100])
def test_an_update_is_the_same_however_it_is_cut(told, limit):
    """4 x 8 = 32: each part of the loss has its own count, over all micro-batches."""
    bert, objective = model(told), MaskedObjective()
    (whole,), parts = update(told), update(told, limit)
    assert len(parts) > 3 and len({batch.pair_count / batch.label_count for batch in parts}) > 1
    counts = objective.counts(whole)
    assert counts == {name: sum(objective.counts(batch)[name] for batch in parts) for name in ("mlm", "nsp")}
    assert_close(gradients(bert, parts, counts), gradients(bert, [whole], counts), atol=1e-10, rtol=0)


def test_every_parameter_learns(told):
    bert, (batch,) = model(told), update(told)
    assert all(bool(gradient.any()) for gradient in gradients(bert, [batch], MaskedObjective().counts(batch)))


def test_a_model_without_next_sentences_learns_words_alone(told):
    bert, (batch,) = model(told, next_sentence_head=False), update(told, has_pairs=False)
    objective = MaskedObjective(nsp_weight=0.0)
    assert objective.parts == ("mlm",) and objective.counts(batch) == {"mlm": batch.label_count}
    assert list(objective(bert, batch)) == ["mlm"] and batch.pair_count == 0


def test_the_weight_of_next_sentences_is_a_setting(told):
    bert, (batch,) = model(told), update(told)
    counts = MaskedObjective().counts(batch)
    one, two = (scaled_total(MaskedObjective(weight)(bert, batch), counts) for weight in (1.0, 3.0))
    part = MaskedObjective()(bert, batch)["nsp"]
    assert_close(two - one, 2 * part.sum / part.count)


@needs_cuda
@pytest.mark.filterwarnings("ignore")  # what torch warns of while it compiles is its own affair
@pytest.mark.parametrize("is_compiled", [False, True])
@pytest.mark.parametrize("precision, error", [("fp32", 1e-4), ("bf16", 0.05)])
def test_a_gpu_finds_the_same_gradients(told, precision, error, is_compiled):
    """Padded, in fp64 and on a CPU, they are what they are end to end on a grid, recorded and replayed."""
    parts, objective = update(told, 250), MaskedObjective()
    counts = {name: sum(objective.counts(batch)[name] for batch in parts) for name in objective.parts}
    wanted = gradients(model(told), parts, counts)
    settings = MachineSettings(device="cuda", precision=precision, compile=is_compiled)
    bert = model(told).float().cuda().train()
    found = build_gradients(bert, objective, prepare_machine(settings))
    for _ in range(3):  # computed, recorded, replayed
        found.begin(counts, len(parts))
        for batch in parts:
            found.add(batch)
        for one, other in zip(wanted, bert.parameters(), strict=True):
            gap = (other.grad.double().cpu() - one).norm() / one.norm().clamp_min(1e-3)
            assert float(gap) < error
        found.clear()
