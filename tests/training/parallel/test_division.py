"""Rows that processes divide among them have the results of one process, in order, whoever has none."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from labeled import small_headed
from parallel_scenes import CPU, ParallelScene, parts_of, started, together
from regard.pipelines.head_scores import head_outputs
from regard.tasks.elmo.evaluate import CharText, _window_sums, bidirectional_losses
from regard.tasks.language_model.evaluate import _token_losses, text_loss
from regard.tasks.masked_lm.evaluate import MaskedText, masked_metrics
from regard.tasks.translate.losses import mean_nll
from regard.training.device import gradients
from regard.training.parallel.division import divided, map_arrays, map_texts
from regard.training.parallel.process_group import ProcessGroup


def evaluations(folder):
    """Return what every kind of task computes for its rows."""
    model, feed, _ = parts_of("translate", folder, 60)
    pairs = feed.corpus(0)
    results = [mean_nll(model.eval(), pairs.select(np.arange(rows)), CPU.device, 60) for rows in (41, 1)]
    model, feed, _ = parts_of("language", folder, 60)
    stream = feed.stream
    results.append(vars(text_loss(model.eval(), stream, 3, 16, 16, CPU, 200)))
    results.append(_token_losses(model, stream, 3, 16, 8, CPU, 60).tolist())
    model, feed, _ = parts_of("masked", folder, 60)
    text = MaskedText(feed.stages[0].pairs, feed.masker)
    metrics = masked_metrics(model.eval(), text, CPU, keeps_sums=True)
    results += [metrics.named(), np.concatenate(metrics.sums).tolist(), sorted(metrics.labels.items())]
    model, feed, _ = parts_of("elmo", folder, 60)
    text = CharText(feed.stream, feed.book, 20, 5.0)
    results.append(vars(bidirectional_losses(model.eval(), text, CPU)))
    sums, words, unknown = _window_sums(model, text, CPU, 60)
    results.append((sums.tolist(), words, unknown))
    model, feed, _ = parts_of("finetune", folder, 60)
    results.append([each.tolist() for each in head_outputs(model.eval(), feed.corpus(0), CPU.device, 60)])
    return results


def same(team, out):
    """Compare evaluations of one process with those that several divide."""
    folder = out / f"text-{team.rank}"
    folder.mkdir()
    alone = evaluations(folder / "a") if (folder / "a").mkdir() is None else None
    (folder / "b").mkdir()
    with divided(team):
        assert repr(evaluations(folder / "b")) == repr(alone)
        for count in (0, 1, team.size - 1, 7):
            rows = [f"{number}ä" for number in range(count)]
            assert map_texts(rows, lambda some: [each * 2 for each in some]) == [each * 2 for each in rows]
            arrays = map_arrays(rows, lambda row: np.arange(int(row[:-1]), dtype=float))
            assert [each.tolist() for each in arrays] == [list(range(number)) for number in range(count)]
        limits, attempts = [], iter((True, False))

        def short(row):
            if team.rank == team.size - 1 and next(attempts, False):
                raise MemoryError
            return np.ones(1)

        for limit in (2, 1):
            try:
                assert len(map_arrays(range(5), short)) == 5
                limits.append(limit)
            except MemoryError:
                assert limit == 2
        assert limits == [1]  # all have tried again
    in_lock_step(team, out)


def in_lock_step(team, out):
    """Validate a sharded model that fits nowhere: its blocks are gathered as they are called."""
    losses = []
    for fraction in (0.6, 0.0):
        scene = ParallelScene("translate", team, out, distributed="shard", steps=2, validate_every=1)
        pairs = scene.trainer.feed.corpus(0)
        held = []

        def validate(model, pairs=pairs, held=held):
            held.append(sum(each.to_local().numel() if hasattr(each, "to_local") else each.numel()
                            for each in model.parameters()))  # fmt: skip
            return mean_nll(model, pairs, CPU.device, 60)

        scene.trainer.hooks = SimpleNamespace(**vars(scene.trainer.hooks) | {"validate": validate})
        gradients.STATE_FRACTION = fraction
        scene.trainer.run()
        losses.append([record["valid_loss"] for record in scene.records if "valid_loss" in record])
        whole = sum(each.numel() for each in scene.trainer.model.parameters())
        assert all(each == whole if fraction else each < 0.8 * whole for each in held), (held, whole)
    assert losses[0] == pytest.approx(losses[1], abs=1e-10) and len(losses[0]) == 2


def test_several_processes_compute_what_one_does(tmp_path):
    together(3, "test_division:same", tmp_path)


def failing(team, out):
    """Fail in one process while it computes its rows."""

    def compute(row):
        if team.rank == 1:
            raise ValueError("broken row")
        return np.ones(1)

    with divided(team):
        map_arrays(range(4), compute)


def test_none_waits_for_a_process_that_failed(tmp_path):
    processes = started(2, "test_division:failing", tmp_path)
    texts = [process.communicate(timeout=60)[0].decode() for process in processes]
    assert all(process.returncode for process in processes)
    assert "broken row" in texts[1]


def test_a_single_process_computes_everything_itself():
    with divided(ProcessGroup()):
        assert [each.tolist() for each in map_arrays((1, 2), lambda row: np.full(row, 0.5))] == [[0.5], [0.5, 0.5]]
        assert map_texts(("a",), lambda some: [each.upper() for each in some]) == ["A"]
    assert torch.is_tensor(next(small_headed(family="bert").parameters()))
