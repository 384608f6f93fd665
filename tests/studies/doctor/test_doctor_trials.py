import math
from itertools import islice

import pytest
import torch

from regard.data.feeds.feed import PairFeed
from regard.data.feeds.sampler import Position
from regard.progress import Progress
from regard.studies.doctor import machine, memory, speed
from regard.studies.doctor.largest_batch import largest_batch, largest_rows
from regard.studies.doctor.lr_finder import Sweep, as_setting, rate_findings, sweep
from regard.studies.doctor.machine import memory_findings
from regard.studies.doctor.speed import duration_words, speed_findings, training_time
from regard.studies.doctor.trial import Trial
from regard.training.schedules import learning_rate
from regard.training.settings import TrainSettings

GIGABYTE = 2**30


@pytest.fixture
def ready(setup, sound):
    return setup(sound)


def test_a_trial_shows_its_bars_and_no_validation(ready):
    class Shown(Progress):
        said, bars = [], []

        def info(self, message):
            self.said.append(message)

        def bar(self, title, total=None, done=0):
            self.bars.append(title)
            return super().bar(title, total, done)

    shown = Shown()
    updates, seconds = training_time(ready, shown)
    assert updates == ready.train.steps and seconds > 0
    assert shown.bars and not shown.said


def test_the_memory_of_the_largest_batch_is_measured(ready):
    (finding,) = memory_findings(ready)
    assert finding.severity == "ok" and finding.metrics["peak_bytes"] > 2**24
    assert finding.metrics["available_bytes"] > finding.metrics["peak_bytes"]
    assert finding.sentence.startswith("Training on the largest micro-batch (")


def test_the_largest_batch_is_the_largest(ready):
    pairs = ready.prepared.data.encoded
    lengths = pairs.source.lengths, pairs.target.lengths
    rows = largest_rows(ready.prepared.feed, pairs, limit=300, width=16)
    largest = largest_batch(ready, limit=300)
    assert largest.rows == len(rows) and largest.part(1).target.size(0) == 1
    size = len(rows) * sum(int(side[rows].max()) for side in lengths)
    sizes = [
        batch.source.numel() + batch.target.numel()
        for update in islice(_cut(ready, 300).updates(Position()), _cut(ready, 300).updates_in(0))
        for batch in update.micro_batches
    ]
    assert 0.8 * max(sizes) <= size <= max(sizes)


def test_an_update_may_be_a_number_of_examples(ready):
    pairs = ready.prepared.data.encoded
    feed = PairFeed(lambda epoch: pairs, 32, 10**6, seed=1, counts_examples=True)
    assert 30 <= len(largest_rows(feed, pairs, limit=10**6, width=16)) <= 34


def _cut(ready, limit):
    feed = ready.prepared.feed
    return PairFeed(feed.corpus, feed.tokens, limit, feed.seed)


def test_tight_memory_is_told_with_a_smaller_batch(setup, sound, monkeypatch):
    ready = setup(sound, train__tokens_per_update=8000)
    monkeypatch.setattr(machine, "available_bytes", lambda device: 2 * GIGABYTE)
    for peaks, severity, tokens in (
        ([0, 0.5, 0.6, 1.0], "ok", None),
        ([0, 0.5, 0.6, 1.7], "warning", 4608),
        ([0, 0.5, 0.6, 1.95], "problem", 3840),
        ([0, 0.5, 1.5], "problem", 1280),  # a quarter shows that the whole would take 4.5: it is never tried
    ):
        figures = iter(peaks)
        monkeypatch.setattr(machine, "peak_bytes", lambda device, figures=figures: int(next(figures) * GIGABYTE))
        (finding,) = memory_findings(ready)
        assert finding.severity == severity and "GiB of the 2.00 GiB that cpu has." in finding.sentence
        assert finding.settings == ({"train.micro_batch_tokens": tokens} if tokens else {})
        assert finding.remedy == ("use smaller micro-batches" if tokens else "")


def test_a_batch_that_does_not_fit_is_halved_until_it_does(setup, sound, monkeypatch):
    ready = setup(sound, train__tokens_per_update=8000)
    token_mask = Trial.update

    def full(self, batches, rate):
        if batches[0].source.numel() + batches[0].target.numel() > 3000:
            raise torch.OutOfMemoryError
        return token_mask(self, batches, rate)

    monkeypatch.setattr(Trial, "update", full)
    (finding,) = memory_findings(ready)
    assert finding.severity == "problem" and finding.settings == {"train.micro_batch_tokens": 2048}
    assert " does not fit into " in finding.sentence
    monkeypatch.setattr(Trial, "update", lambda *_, **__: (_ for _ in ()).throw(torch.OutOfMemoryError))
    (finding,) = memory_findings(ready)
    assert finding.way_out == "use a smaller model or shorter sentences (data.cleaning.max_tokens)"


def test_the_limit_of_a_container_counts(tmp_path, monkeypatch):
    (tmp_path / "max").write_text("1000000\n")
    (tmp_path / "current").write_text("900000\n")
    (tmp_path / "memory.stat").write_text("anon 5\ninactive_file 300000\nactive_file 100000\n")
    monkeypatch.setattr(memory, "LIMITS", ((str(tmp_path), "max", "current"),))
    assert memory._free_in_container() == [500_000]
    (tmp_path / "max").write_text("max\n")
    assert memory._free_in_container() == []


def test_memory_that_cannot_be_measured_is_said(ready, monkeypatch):
    monkeypatch.setattr(machine, "available_bytes", lambda device: None)
    (finding,) = memory_findings(ready)
    assert (finding.severity, finding.sentence) == ("note", "The memory of cpu cannot be measured here.")


def test_speed_and_time_are_measured(ready, monkeypatch):
    monkeypatch.setattr(speed, "SECONDS", 0.3)
    finding, data_wait = speed_findings(ready)
    assert 0 < data_wait.metrics["fraction"] < 1 and "of that time is spent waiting for data." in data_wait.sentence
    assert finding.severity == "ok" and "500 updates take about " in finding.sentence
    assert math.isclose(finding.metrics["seconds"], 500 / finding.metrics["updates_per_second"])
    monkeypatch.setattr(speed, "measure_pace", lambda *_: speed.Pace(3600.0, data_wait=0.2))
    finding, data_wait = speed_findings(ready)
    assert (data_wait.severity, data_wait.sentence) == ("warning", "20.0 % of that time is spent waiting for data.")
    assert data_wait.remedy and speed._data_wait(0.002).severity == "ok" and speed._data_wait(0.06).severity == "note"
    assert finding.severity == "warning" and finding.settings == {"train.steps": 6}
    assert "500 updates take about 20.8 days, without validation." in finding.sentence


def test_a_trial_tells_recordings_from_what_they_are_made_for(ready, monkeypatch):
    monkeypatch.setattr(speed, "MOST", 8)
    monkeypatch.setattr(speed, "REPEATED", 4)
    found = speed.graph_pace(ready)
    assert found.seconds > 0 and found.capture_seconds >= 0
    pace = speed.Pace(0.5, capture_seconds=10.0)
    assert pace.updates_in(20.0) == 20 and pace.updates_in(5.0) == 0
    some = speed.RepeatedUpdates(ready.prepared.feed, 3)
    taken = list(islice(some.updates(Position(0, 7)), 7))
    assert taken[0] is taken[3] is taken[6] and taken[0] is not taken[1] and some.updates_in(0) == 3


def test_time_is_spoken_in_the_unit_that_fits():
    assert [duration_words(seconds) for seconds in (20, 300, 9000, 200_000)] == [
        "20 seconds",
        "5.0 minutes",
        "2.5 hours",
        "2.3 days",
    ]


def test_trials_leave_the_model_and_the_random_state_alone(ready, monkeypatch):
    monkeypatch.setattr(speed, "SECONDS", 0.1)
    model = ready.prepared.bundle.model
    before = [parameter.detach().clone() for parameter in model.parameters()]
    state = torch.random.get_rng_state()
    memory_findings(ready)
    speed_findings(ready)
    sweep(ready, updates=5)
    assert all(torch.equal(old, new) for old, new in zip(before, model.parameters(), strict=True))
    assert all(parameter.grad is None for parameter in model.parameters())
    assert torch.equal(state, torch.random.get_rng_state())


def test_the_sweep_finds_a_rate_that_learns(ready):
    found = sweep(ready, updates=60)
    assert found.rates == sorted(found.rates) and len(found.rates) == len(found.losses)
    assert 1e-4 < found.suggested < found.rate_at_minimum < 1
    assert min(found.losses) < found.losses[0] - 0.5
    (marked,) = (line for line in found.curve() if line.endswith("◄"))
    assert 0.5 < float(marked.split()[0]) / found.suggested < 2


def test_a_sweep_ends_when_learning_breaks_down(ready, monkeypatch):
    losses = iter([5.0, 4.0, 3.0, 30.0, 40.0])
    monkeypatch.setattr(Trial, "update", lambda *_: next(losses))
    assert len(sweep(ready, updates=5).rates) == 4
    losses = iter([5.0, float("nan")])
    assert len(sweep(ready, updates=5).rates) == 1


@pytest.mark.parametrize(
    ("rate", "severity", "comparison"),
    [
        (3e-3, "ok", "close to that"),
        (9e-2, "note", "much higher"),
        (1e-5, "note", "much lower"),
        (0.5, "warning", "high enough for the loss to rise"),
    ],
)
def test_the_set_rate_is_compared_with_the_suggested_one(setup, sound, monkeypatch, rate, severity, comparison):
    from regard.studies.doctor import lr_finder as module

    rates = [10.0 ** (power / 4) for power in range(-20, 0)]
    losses = [abs(math.log(rate / 0.1)) + 1 for rate in rates]
    monkeypatch.setattr(module, "sweep", lambda *_: Sweep(rates, losses))
    (finding,) = rate_findings(setup(sound, train__learning_rate=rate))
    assert finding.severity == severity and finding.sentence == (
        f"The loss falls up to a rate of 1.0e-01, which suggests a peak of 1e-02; the configured peak is {rate:.1e}, "
        f"{comparison}."
    )
    assert finding.settings == ({} if severity == "ok" else {"train.learning_rate": 0.01})


def test_with_the_schedule_of_the_paper_the_setting_is_a_factor():
    settings = TrainSettings(schedule="transformer", warmup=4000)
    factor = as_setting(settings, 7e-4, width=512)
    changed = settings.model_copy(update={"learning_rate": factor})
    assert math.isclose(learning_rate(changed, 4000, 512), 7e-4, rel_tol=0.05)
