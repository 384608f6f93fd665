"""Memory that runs out: the same examples, fewer at once."""

from dataclasses import replace

import pytest
import torch
from torch.testing import assert_close

from regard.errors import RunError
from regard.nn.inference.memory import is_out_of_memory
from regard.training.oom import smaller_limit, validate_or_release
from scene import Scene


class Narrow:
    """An objective on a device that holds so many padded tokens at once."""

    def __init__(self, inner, room, error=None):
        self.inner, self.room, self.error = inner, room, error or torch.OutOfMemoryError("CUDA out of memory.")
        self.parts, self.counts, self.failures = inner.parts, inner.counts, 0

    def __call__(self, model, batch):
        loss = self.inner(model, batch)
        if batch.source.numel() + batch.target.numel() > self.room:
            self.failures += 1
            raise self.error
        return loss


def narrow(room, error=None, **changes):
    scene = Scene(**{"dropout": 0.0, "dtype": torch.float64} | changes)
    scene.trainer.gradients.objective = Narrow(scene.trainer.gradients.objective, room, error)
    return scene


@pytest.mark.parametrize(
    "error",
    [
        None,
        RuntimeError("[enforce fail at alloc_cpu.cpp:118] . DefaultCPUAllocator: can't allocate memory: 9 bytes."),
    ],
    ids=["cuda", "cpu"],
)
def test_an_update_that_does_not_fit_is_cut_and_stays_the_same(error):
    whole = Scene(dropout=0.0, dtype=torch.float64)
    whole.trainer.run()
    scene = narrow(200, error)
    scene.trainer.run()
    limit = scene.trainer.state.micro_batch_limit
    assert limit is not None and limit <= 200 and scene.trainer.feed.limit == limit
    assert scene.warned[0].startswith("step 1: out of memory; from here on micro-batches hold at most ")
    assert scene.warned[-1].endswith(
        f"hold at most {limit:,} tokens, with the same examples in an update "
        f"(train.micro_batch_tokens={limit} sets this from the beginning)."
    )
    assert (
        scene.trainer.gradients.objective.failures == len(scene.warned) <= 4
    )  # remembered: later updates fit at once
    for name, value in whole.weights().items():
        assert_close(scene.weights()[name], value, atol=1e-10, rtol=0)
    cuts = [record for record in scene.records if "micro_batch_tokens" in record]
    assert cuts[-1]["micro_batch_tokens"] == limit
    losses = lambda scene: [r["ce"] for r in scene.records if "ce" in r]
    assert losses(scene) == pytest.approx(losses(whole), abs=1e-12)  # a failed attempt leaves no trace in reports


def test_a_resumed_run_starts_with_the_limit_found():
    first = narrow(200)
    first.trainer.run(stop_at=3)
    _, _, training, _ = first.saved[-1]
    second = narrow(200)
    second.trainer.restore(training)
    second.trainer.run()
    assert second.warned == [] and second.trainer.feed.limit == first.trainer.state.micro_batch_limit


def test_an_example_that_does_not_fit_alone_is_one_sentence():
    scene = narrow(0)
    with pytest.raises(RunError) as error:
        scene.trainer.run()
    assert str(error.value) == (
        "step 1: out of memory on a single example; lower data.cleaning.max_tokens, or choose a smaller model."
    )


def test_other_errors_are_not_taken_for_a_lack_of_memory():
    scene = narrow(200, RuntimeError("shapes do not match"))
    with pytest.raises(RuntimeError, match="shapes do not match"):
        scene.trainer.run()
    assert is_out_of_memory(RuntimeError("CUDA error: out of memory")) and is_out_of_memory(MemoryError())
    assert not is_out_of_memory(ValueError("out of memory"))


def test_validation_gets_the_memory_that_recordings_hold():
    scene = Scene()
    validate, released, failures = scene.trainer.hooks.validate, [], [torch.OutOfMemoryError("CUDA out of memory.")]

    def short(model):
        if failures:
            raise failures.pop()
        return validate(model)

    scene.trainer.hooks = replace(scene.trainer.hooks, validate=short)
    release = scene.trainer.gradients.release
    scene.trainer.gradients.release = lambda: (released.append(True), release())
    scene.trainer.run()
    assert released == [True] and scene.saved


def test_validation_that_never_fits_is_one_sentence():
    scene = Scene()

    def short(model):
        raise torch.OutOfMemoryError("CUDA out of memory.")

    scene.trainer.hooks = replace(scene.trainer.hooks, validate=short)
    with pytest.raises(RunError, match=r"step \d+: out of memory while validating; lower "):
        scene.trainer.run()


def test_a_limit_is_half_of_what_can_be_divided_and_at_least_one_token():
    update = next(Scene().trainer.feed.updates(Scene().trainer.state.position, 0, 1))
    assert [smaller_limit(replace(update, divisible=size), 3) for size in (100, 7, 1)] == [50, 3, 1]


def test_validation_is_tried_once_more_and_other_errors_pass():
    calls = []

    def validate():
        calls.append("validate")
        if calls.count("validate") == 1:
            raise MemoryError
        return {"loss": 2.0}

    assert validate_or_release(validate, lambda: calls.append("release"), 5) == {"loss": 2.0}
    assert calls == ["validate", "release", "validate"]
    with pytest.raises(RuntimeError, match="shapes"):
        validate_or_release(lambda: (_ for _ in ()).throw(RuntimeError("shapes")), lambda: None, 5)
