import time
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from regard.errors import ConfigError, RunError
from regard.training.device.machine import choose_device, choose_precision
from regard.training.hooks import Hooks
from regard.training.loop import Trainer
from scene import Scene


def test_training_repeats_to_the_bit():
    one, other = Scene(), Scene()
    assert one.trainer.run() == other.trainer.run() == "finished"
    assert all(torch.equal(one.weights()[name], value) for name, value in other.weights().items())


@pytest.mark.parametrize("optimizer", ["adam", "adamw", "sgd"])
@pytest.mark.parametrize("stop", [1, 5, 8])
def test_a_resumed_run_is_bit_identical_to_one_never_interrupted(optimizer, stop):
    changes = {"optimizer": optimizer, "momentum": 0.5, "weight_decay": 0.01}
    straight = Scene(**changes)
    straight.trainer.run()
    first = Scene(validate_every=stop, **changes)
    updates = first.trainer.feed.updates(first.trainer.state.position)
    for _ in range(stop):
        first.trainer._update(next(updates))
    first.trainer._save()
    _, _, training, weights = first.saved[-1]
    second = Scene(**changes)
    with torch.no_grad():
        for name, parameter in second.trainer.model.named_parameters():
            parameter.copy_(weights[name])
    second.trainer.restore(training)
    second.trainer.run()
    assert second.trainer.state.step == straight.trainer.state.step
    assert second.trainer.state.position == straight.trainer.state.position
    assert all(torch.equal(second.weights()[name], value) for name, value in straight.weights().items())


def test_four_times_eight_is_thirty_two(monkeypatch):
    """Any cut of an update into micro-batches, with label smoothing, gives the same weights (fp64, no dropout)."""
    whole = Scene(limit=10**9, dropout=0.0, dtype=torch.float64, steps=15)
    whole.trainer.run()
    for limit in (60, "random"):
        cut = Scene(limit=40 if limit == "random" else limit, dropout=0.0, dtype=torch.float64, steps=15)
        if limit == "random":
            monkeypatch.setattr("regard.data.feeds.feed.micro_batches", random_parts)
        cut.trainer.run()
        for name, value in whole.weights().items():
            assert_close(cut.weights()[name], value, atol=1e-10, rtol=0)


def random_parts(rows, *_):
    """Cut an update anyhow: shuffled, into parts of any size."""
    draw = np.random.default_rng(len(rows))
    places = np.sort(draw.choice(np.arange(1, len(rows)), min(6, len(rows) - 1), replace=False))
    return np.split(draw.permutation(rows), places)


def test_accumulation_is_not_the_mean_of_means():
    """The property above can fail: scaling each micro-batch by its own count gives other weights."""
    whole = Scene(limit=10**9, dropout=0.0, dtype=torch.float64, steps=3)
    whole.trainer.run()
    wrong = Scene(limit=40, dropout=0.0, dtype=torch.float64, steps=3)
    objective = wrong.trainer.gradients.objective

    class PerBatch:
        parts = objective.parts
        counts = staticmethod(lambda batch: dict.fromkeys(objective.parts, 1))

        def __call__(self, model, batch):
            return {name: replace(part, sum=part.sum / part.count) for name, part in objective(model, batch).items()}

    wrong.trainer.gradients.objective = PerBatch()
    wrong.trainer.run()
    assert any((wrong.weights()[name] - value).abs().max() > 1e-6 for name, value in whole.weights().items())


def test_the_loss_falls():
    scene = Scene(steps=60, learning_rate=5e-3, dropout=0.0)
    assert isinstance(scene.trainer, Trainer) and scene.trainer.run() == "finished"
    losses = [record["ce"] for record in scene.records if "ce" in record]
    assert losses[-1] < losses[0] - 0.3


def test_the_best_checkpoint_is_the_one_with_the_best_validation():
    scene = Scene(steps=20, losses=[3.0, 2.0, 2.5, 2.1])
    scene.trainer.run()
    assert [(step, value) for step, value, *_ in scene.saved] == [(5, -3.0), (10, -2.0), (15, -2.5), (20, -2.1)]
    assert scene.trainer.state.best_step == 10


def test_patience_ends_a_run_that_stops_improving():
    scene = Scene(steps=100, patience=2, losses=[3.0, 2.0, 2.5, 2.1, 1.0])
    assert scene.trainer.run() == "no improvement"
    assert scene.trainer.state.step == 20


def test_an_interrupt_saves_at_the_next_step():
    import os
    import signal

    before = signal.getsignal(signal.SIGINT)
    scene = Scene(steps=100, validate_every=50)
    original = scene.trainer._update

    def update(given):
        original(given)
        if scene.trainer.state.step == 3:
            os.kill(os.getpid(), signal.SIGINT)

    scene.trainer._update = update
    assert scene.trainer.run() == "interrupted"
    assert [(step, value) for step, value, *_ in scene.saved] == [(3, None)]
    assert signal.getsignal(signal.SIGINT) is before


def test_a_loss_that_is_no_number_stops_the_run():
    for rollbacks, tried in ((0, ""), (1, ", also after 1 rollback"), (3, ", also after 3 rollbacks")):
        scene = Scene(dropout=0.0, rollbacks=rollbacks)
        with torch.no_grad():
            scene.trainer.model.head.weight[5] = torch.nan
        with pytest.raises(RunError) as error:
            scene.trainer.run()
        assert str(error.value) == (
            f"step 1: the loss is NaN or infinite{tried}; lower train.learning_rate (now 0.001) or raise "
            "train.warmup (now 4)."
        )


def test_gradients_are_clipped():
    norms = []
    for clip in (0, 1e-3):
        scene = Scene(optimizer="sgd", learning_rate=1.0, warmup=0, schedule="constant", clip_norm=clip, dropout=0.0)
        before = scene.weights()
        scene.trainer._update(next(scene.trainer.feed.updates(scene.trainer.state.position)))
        after = scene.weights()
        norms.append(torch.cat([(after[name] - before[name]).flatten() for name in before]).norm().item())
    assert norms[0] > 0.01 and abs(norms[1] - 1e-3) < 1e-5


def test_records_hold_what_curves_need():
    scene = Scene()
    scene.trainer.run()
    record = scene.records[0]
    clocks = {"seconds", "tokens_per_second", "data_wait"}
    assert set(record) == {"step", "epoch", "ce", "nll", "learning_rate"} | clocks
    assert {"step": 5, "valid_loss": 1.0}.items() <= next(r for r in scene.records if "valid_loss" in r).items()


def test_waiting_for_data_is_told_apart_from_learning():
    """A slow feed takes up more of the time, and a resumed run adds up."""
    quick, slow = Scene(steps=4), Scene(steps=4)
    updates = slow.trainer.feed.updates

    def slowly(*args):
        for update in updates(*args):
            time.sleep(0.05)
            yield update

    slow.trainer.feed.updates = slowly
    for scene in (quick, slow):
        scene.trainer.run()
    shares = [[record["data_wait"] for record in scene.records if "data_wait" in record] for scene in (quick, slow)]
    assert all(0 <= share < other <= 1 for share, other in zip(*shares, strict=True))
    state = slow.trainer.state
    assert 4 * 0.05 <= state.waited < state.seconds
    again = Scene(steps=6)
    again.trainer.restore(slow.saved[-1][2])
    again.trainer.run()
    assert again.trainer.state.waited > state.waited


def test_devices_that_are_not_there_are_refused():
    with pytest.raises(ConfigError, match='machine.device: "gpu" is not one of auto, cpu, cuda, cuda:N, mps.'):
        choose_device("gpu")
    if not torch.cuda.is_available():
        with pytest.raises(ConfigError, match="torch finds no CUDA device; use cpu"):
            choose_device("cuda")
        assert choose_device("auto").type in ("cpu", "mps")


def test_bf16_on_a_cpu_is_tried_in_a_child_process_first(monkeypatch):
    monkeypatch.setattr("regard.training.device.machine.BF16_PROBE", "import os; os.abort()")
    with pytest.raises(ConfigError) as error:
        choose_precision("bf16", torch.device("cpu"))
    assert str(error.value) == (
        "machine.precision: bf16 products crash this processor (tried in a child process); use fp32."
    )
    monkeypatch.setattr("regard.training.device.machine.BF16_PROBE", "pass")
    assert choose_precision("bf16", torch.device("cpu")) == "bf16"
    assert choose_precision("auto", torch.device("cpu")) == "fp32"


def test_records_may_go_elsewhere_while_all_other_hooks_stay():
    hooks = Hooks(validate=lambda model: {"loss": 1.0}, save=lambda *_: None)
    hooks.record({"step": 1})  # nowhere by default
    records, dropped = [], []
    other = replace(hooks, record=records.append, forget=dropped.append)
    other.record({"step": 2})
    other.forget(2)
    assert records == [{"step": 2}] and dropped == [2]
    assert (other.validate, other.save, other.progress) == (hooks.validate, hooks.save, hooks.progress)
