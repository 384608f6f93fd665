import regard
from regard.progress import Progress
from regard.runs import preflight
from regard.studies.doctor import speed
from regard.studies.doctor.examine import doctor


class Telling(Progress):
    def __init__(self):
        self.said, self.warned = [], []

    def info(self, message):
        self.said.append(message)

    def warn(self, message):
        self.warned.append(message)


def learnable(sets):
    """Return the sets without those that would be translated at the end."""
    return {name: sets[name] for name in ("train", "valid")}


def test_nothing_is_wrong_with_a_sound_run(write, sound, monkeypatch):
    monkeypatch.setattr(speed, "SECONDS", 0.2)
    report = doctor("translate", write(sound))
    # So small a model is quick enough to notice what it takes to make a batch.
    assert {each.name for each in report.of("note", "warning", "problem")} <= {"data-wait"} and not report.has_problem
    assert {finding.check for finding in report.findings} == {"text", "splits", "alignment", "sizes", "machine"}


def test_the_miniature_world_gives_no_warning():
    changes = {"data.train.max_rows": 4000, "data.test.test.max_rows": 300, "text.size": 2000}
    changes |= {f"data.test.unseen-{part}.max_rows": 150 for part in ("pairs", "cases", "depth")}
    report = doctor("translate-miniature", changes, quick=True)
    assert report.of("warning", "problem") == []


def test_a_spoilt_run_has_all_its_faults_listed(write, sound, shift):
    spoilt = {"train": shift(sound["train"], 500, 900) + sound["test"][:20] * 2, "test": sound["test"]}
    report = doctor({"task": "translate"}, write(spoilt, train__warmup=900), quick=True)
    assert report.has_problem
    wrong = {finding.name for finding in report.of("warning", "problem")}
    assert wrong == {"shifted", "leaked-pairs", "warmup", "validation"}
    assert [finding.severity for finding in report.find("shifted")] == ["problem", "ok"]


def test_training_begins_with_the_quick_part(write, sound, shift, tmp_path):
    spoilt = write(learnable(sound) | {"train": shift(sound["train"], 500, 900)}, train__steps=2, train__warmup=0)
    telling = Telling()
    regard.train("translate", spoilt, out=tmp_path / "one", progress=telling)
    (warning,) = telling.warned
    assert (
        warning.startswith("problem in alignment: From about pair ")
        and " Remedy: look for an extra or missing line" in warning
    )
    last = "More about this, with examples: regard doctor; preflight=false leaves these checks out."
    assert last in telling.said
    telling = Telling()
    regard.train("translate", spoilt | {"preflight": False}, out=tmp_path / "two", progress=telling)
    assert telling.warned == [] and last not in telling.said


def test_nothing_is_said_when_all_is_well(write, sound, tmp_path):
    telling = Telling()
    regard.train(
        "translate",
        write(learnable(sound), train__steps=2, train__warmup=0, train__validate_every=2),
        out=tmp_path / "run",
        progress=telling,
    )
    assert telling.warned == []


def test_nothing_is_checked_when_nobody_listens_or_a_run_goes_on(write, sound, tmp_path, monkeypatch):
    changes = write(learnable(sound), train__steps=2, train__warmup=0)
    monkeypatch.setattr(preflight, "run_checks", lambda *_, **__: 1 / 0)
    run = regard.train("translate", changes, out=tmp_path / "run")
    assert regard.resume(run.path, {"train.steps": 3}, progress=Telling()).record.steps == 3
