"""Processes that split the layers of a model compute what one computes, with its gradients."""

from fnmatch import fnmatchcase
from types import SimpleNamespace

import pytest
import torch
from torch.testing import assert_close

from parallel_scenes import CPU, KINDS, STILL, ParallelScene, assert_same, together
from regard.data.encoding.batches import TranslationBatch
from regard.errors import ConfigError
from regard.models.base.settings import Vocabularies
from regard.models.base.tensor_parallel import BLOCKS
from regard.models.convolutional import ConvolutionalSettings
from regard.models.families import build_model, family
from regard.models.gpt.model import GptSettings
from regard.nn.layers.dtensor import is_dtensor
from regard.nn.layers.low_rank import add_update
from regard.objectives.translation import TranslationObjective
from regard.tasks.text.nll import label_losses
from regard.training.device.gradients import build_gradients
from regard.training.parallel.process_group import ProcessGroup
from regard.training.parallel.shard import local, whole_of
from regard.training.parallel.tensor import check_tensor_parallel, order_of, parts_of, split_layers
from small import random_tokens, small_transformer

VARIANTS = (
    {"positions": "rotary", "activation": "swiglu", "key_value_heads": 2, "norm": "rms", "norm_order": "pre"},
    {"positions": "alibi", "embeddings": "separate", "has_output_bias": True},
    {"positions": "relative", "has_bias": False, "activation": "gelu"},
)


def batch():
    source, target = random_tokens(3, 7), random_tokens(3, 5, seed=1)
    masks = (torch.ones_like(each, dtype=torch.bool) for each in (source, target))
    labels = random_tokens(3, 5, seed=2).flatten()
    return TranslationBatch(source, next(masks), target, next(masks), torch.arange(15), labels, 15)


def gradients_of(model, objective, team):
    gradients = build_gradients(model, objective, CPU, team)
    counts = objective.counts(batch())
    gradients.begin(counts)
    torch.manual_seed(3)
    sums = gradients.add(batch())
    gradients.finish()
    return gradients, {name: float(value) for name, value in sums.items()}


def equal(team, out):
    """Compare loss, gradients and validation of split layers with those of one process."""
    split = ProcessGroup(team.rank, team.size, tensor_parallel=team.size)
    for number, variant in enumerate(VARIANTS):
        objective = TranslationObjective(0.1, r_drop=1.0 if number == 1 else 0.0)
        changes = STILL | variant | ({"feed_forward_dropout": 0.3} if number == 1 else {})
        one, several = (small_transformer(**changes).double().train() for _ in range(2))
        _, expected = gradients_of(one, objective, ProcessGroup())
        gradients, found = gradients_of(several, objective, split)
        if number == 1:  # own dropout where each has its own features
            assert all(value > 0 for value in found.values()) and found["ce"] != expected["ce"]
            texts = team.gather(repr(found))
            assert len(set(texts)) == 1, texts
            continue
        assert found == pytest.approx(expected, abs=1e-10)
        wanted = dict(one.named_parameters())
        for name, parameter in several.named_parameters():
            gradient = whole_of(local(parameter.grad), parameter)
            assert_close(gradient, wanted[name].grad, atol=1e-10, rtol=0, msg=lambda text, name=name: name + text)
        assert any(is_dtensor(each) and len(parts_of(each)) == 3 for each in several.parameters())
        data = batch()
        with torch.no_grad(), gradients.evaluating(split):
            logits = (each.eval()(data.source, data.source_mask, data.target) for each in (one, several))
            assert_close(*logits, atol=1e-10, rtol=0)
            hidden = torch.randn(6, 16, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
            labels = torch.tensor([0, 39, 20, 19, 7, 31])
            losses = [label_losses(hidden, each.head.weight, each.head.bias, labels) for each in (one, several)]
            assert losses[0].nll == pytest.approx(losses[1].nll, abs=1e-5)
            assert losses[0].hits.tolist() == losses[1].hits.tolist()
        held = sum(local(each).numel() for each in several.parameters())
        assert held < 0.6 * sum(each.numel() for each in one.parameters())
    alike(team, out)
    refused(split)


def alike(team, out):
    """Train with dropout everywhere: what all of them hold stays the same to the bit."""
    STILL.update(dict.fromkeys((*STILL, "attention_dropout", "feed_forward_dropout"), 0.2))
    scene = ParallelScene("language", team, out, tensor_parallel=team.size, steps=3)
    scene.trainer.run()
    common = [
        local(each) for each in scene.trainer.model.parameters() if "tensor" not in each.device_mesh.mesh_dim_names
    ]
    texts = team.gather(repr([each.double().sum().item().hex() for each in common]))
    assert len(common) > 5 and len(set(texts)) == 1 and scene.losses


def refused(team):
    model = small_transformer()
    add_update(model.encoder.blocks[0].feed_forward.inner, 2, 1.0)
    with pytest.raises(ConfigError, match="layers with low-rank updates are not split"):
        split_layers(model, SimpleNamespace(size=lambda: 2))


def test_split_layers_compute_what_whole_ones_do(tmp_path):
    together(2, "test_tensor:equal", tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("count, distributed", [(2, "auto"), (4, "shard"), (4, "replicate")])
def test_several_processes_equal_one_for_every_kind_of_training(count, distributed, trained_alone, tmp_path):
    kinds = [kind for kind in KINDS if kind != "elmo"]  # which has no layers to split
    together(count, "parallel_scenes:train_all", tmp_path, kinds=kinds, tensor_parallel=2, distributed=distributed)
    assert_same(tmp_path, trained_alone, kinds)


def test_rows_of_fused_layers_are_ordered_by_process():
    order = order_of((4, 2, 2), 2)
    assert order.tolist() == [0, 1, 4, 6, 2, 3, 5, 7]
    assert order[order.argsort()].tolist() == list(range(8))
    assert parts_of(torch.ones(2)) == ()


@pytest.mark.parametrize(
    "settings, processes, expected",
    [
        (GptSettings(width=24, heads=6), 4, r"train.tensor_parallel: 4 does not divide model.heads \(6\); choose"),
        (GptSettings(width=24, heads=6, key_value_heads=3), 2, r"2 does not divide model.key_value_heads \(3\)"),
        (
            GptSettings(width=24, heads=6, feed_forward_width=33),
            2,
            r"2 does not divide model.feed_forward_width \(33\)",
        ),
        (
            ConvolutionalSettings(),
            2,
            'the family "convolutional" are not split over processes; leave it out',
        ),
    ],
)
def test_sizes_and_families_that_cannot_be_split_are_refused(settings, processes, expected):
    check_tensor_parallel(settings, 1)
    with pytest.raises(ConfigError, match=expected):
        check_tensor_parallel(settings, processes)


def test_every_layer_of_the_table_is_in_its_family():
    names = set()
    for name in ("gpt", "bert", "transformer", "mask-predict"):
        sizes = {"layers": 1} if name in ("gpt", "bert") else {"encoder_layers": 1, "decoder_layers": 1}
        model = build_model(family(name).settings(width=8, heads=2, **sizes), Vocabularies(9, 9, True))
        names |= {name for name, _ in model.named_modules()}
    assert all(any(fnmatchcase(name, pattern) for name in names) for pattern in BLOCKS)
