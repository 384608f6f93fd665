"""The checks of running text, on sound text and on spoilt text."""

import numpy as np
import pytest

import regard
from labeled import QUICK, write_reviews
from regard import miniature
from regard.progress import Progress
from regard.studies.doctor import speed
from regard.studies.doctor.examine import doctor
from regard.tasks.checks import documents, running_text
from regard.tasks.checks.documents import PASSAGE, hashes

SMALL = {
    "text.size": 500,
    "model.preset": "gpt-tiny",
    "model.width": 16,
    "model.heads": 2,
    "model.layers": 1,
    "model.feed_forward_width": 32,
    "model.max_positions": 32,
    "train": {"steps": 40, "tokens_per_update": 512, "warmup": 5, "validate_every": 20},
}
STORIES = list(miniature.documents("train", 400))


@pytest.fixture
def look(tmp_path, monkeypatch):
    """Write documents to files, a line each, and return what the doctor finds."""
    monkeypatch.chdir(tmp_path)

    def look(train, valid=STORIES[300:], quick=True, settings=SMALL, **changes):
        for name, texts in (("train", train), ("valid", valid)):
            lines = "".join(" ".join(text.split()) + "\n" for text in texts)
            (tmp_path / f"{name}.txt").write_text(lines, encoding="utf-8")
        places = {f"data.{name}": {"paths": [f"{name}.txt"], "documents": "lines"} for name in ("train", "valid")}
        changes = {name.replace("__", "."): value for name, value in changes.items()}
        return doctor("language-model", settings | places | changes, quick=quick)

    return look


def one(report, name):
    (finding,) = report.find(name)
    return finding


def test_sound_text_has_no_warning(look, monkeypatch):
    monkeypatch.setattr(speed, "SECONDS", 0.2)
    report = look(STORIES[:300], quick=False, train__patience=2)
    assert {each.name for each in report.of("problem", "warning")} <= {"data-wait"}
    assert [*dict.fromkeys(finding.check for finding in report.findings)] == ["text", "splits", "sizes", "machine"]
    per_word = one(report, "tokens-per-word")
    assert 1 < per_word.metrics["tokens_per_word"] < 2.5 and 2 < per_word.metrics["bytes_per_token"] < 6
    assert one(report, "leaked-documents").sentence == "No document occurs in two of the 2 sets."
    assert one(report, "unknown-tokens").severity == "ok" and one(report, "leaked-passages").metrics["fraction"] < 0.1
    memory = one(report, "memory")
    assert memory.sentence.startswith("Training on the largest micro-batch (512 tokens) takes ")
    assert one(report, "speed").metrics["tokens_per_second"] > 0 and "tokens) on cpu" in one(report, "speed").sentence
    assert 0 <= one(report, "data-wait").metrics["fraction"] <= 1


def test_a_recurrent_model_is_tried_out_too(look, monkeypatch):
    monkeypatch.setattr(speed, "SECONDS", 0.1)
    model = {"preset": "gru-lm", "width": 16, "embedding_width": 8, "layers": 1}
    settings = {"text.size": 500, "model": model, "window": 24, "train": SMALL["train"]}
    report = look(STORIES[:300], quick=False, settings=settings)
    assert "(504 tokens)" in one(report, "memory").sentence


def test_documents_that_leak_are_found_and_shown(look):
    report = look([*STORIES[:300], *STORIES[300:310]])
    leak = one(report, "leaked-documents")
    assert leak.severity == "problem" and "10 of the 100 documents of the validation set" in leak.sentence
    assert leak.metrics["count"] == 10 and len(leak.examples) == 3
    assert " ".join(STORIES[300].split())[:30] in leak.examples[0]


def test_documents_that_stand_twice_are_found(look):
    report = look([*STORIES[:200], *STORIES[:50]])
    found = one(report, "duplicates")
    assert found.severity == "warning" and found.metrics["count"] == 50 and found.remedy == "remove the copies"
    assert not look(STORIES[:200]).find("duplicates")


def test_passages_that_leak_are_found_wherever_documents_begin(look, monkeypatch):
    monkeypatch.setattr(speed, "measure_pace", lambda *_: speed.Pace(1.0))
    valid = ["It was so. " + " ".join(text.split()) for text in STORIES[:40]]
    report = look(STORIES[:300], valid, quick=False)
    assert one(report, "leaked-documents").severity == "ok"
    leak = one(report, "leaked-passages")
    assert leak.severity == "problem" and leak.metrics["fraction"] > 0.5 and leak.examples
    assert not look(STORIES[:300], valid).find("leaked-passages")  # it takes a while


def test_hashes_of_passages_depend_on_all_of_them_and_on_nothing_else(monkeypatch):
    ids = np.random.default_rng(1).integers(0, 9, 400)
    ids[300:360] = ids[100:160]
    found = hashes(ids)
    assert len(found) == 400 - PASSAGE + 1
    assert all(found[300 + k] == found[100 + k] for k in range(60 - PASSAGE + 1))
    assert len(np.unique(found)) == len(found) - (60 - PASSAGE + 1)
    assert len(hashes(ids[: PASSAGE - 1])) == 0


def test_stretches_come_from_all_over_a_long_text(monkeypatch):
    class Numbers:
        def __len__(self):
            return 100_000

        def read(self, begin, end):
            return np.arange(begin, end)

    monkeypatch.setattr(running_text, "STRETCH", 100)
    assert np.array_equal(np.concatenate(list(running_text.stretches(Numbers(), 10**6))), np.arange(100_000))
    some = list(running_text.stretches(Numbers(), 5_000))
    assert sum(map(len, some)) == 5_000 and some[0][0] == 0 and some[-1][-1] > 97_000
    monkeypatch.setattr(documents, "STRETCH", 100)
    monkeypatch.setattr(documents, "SEARCHED", 10**6)
    wanted = hashes(np.arange(43_210, 43_210 + PASSAGE))
    assert documents._known_passages(Numbers(), np.sort(wanted)).tolist() == wanted.tolist()


def test_text_that_cannot_be_spelled_is_shown(look):
    valid = [*STORIES[300:], *("Żółw idzie. " * 40 for _ in range(40))]
    report = look(STORIES[:300], valid, text__kind="word")
    unknown = one(report, "unknown-tokens")
    assert unknown.severity == "problem" and "of the tokens of the validation set are unknown" in unknown.sentence
    assert unknown.settings == {"text.kind": "bpe", "text.pretokenizer": "byte-level"} and unknown.examples


def test_remains_of_another_format_are_counted(look):
    spoilt = [text.replace(" and ", " &amp; <br> ") for text in STORIES[:300]]
    found = one(look(spoilt), "residues")
    assert found.severity == "warning" and "&amp; <br>." in found.sentence and found.examples
    assert not look([text.replace(" and ", " <unk> ") for text in STORIES[:300]]).find("residues")


def test_sizes_that_do_not_fit_are_reported(look):
    report = look(
        STORIES[:3],
        STORIES[300:302],
        model__max_positions=5000,
        train__steps=4000,
        train__warmup=3000,
        train__patience=8,
    )
    few = one(report, "few-tokens")
    assert few.severity == "warning" and "tokens, less than a window of 5,000." in few.sentence
    validation = one(report, "validation")
    assert validation.severity == "warning" and validation.remedy == "validate on more text"
    assert one(report, "epochs").severity == "ok" and one(report, "warmup").severity == "warning"
    assert one(look(STORIES[:30]), "few-tokens").severity == "note"


def test_a_vocabulary_of_bytes_is_not_to_become_smaller_than_its_bytes(look):
    rare = one(look(STORIES[:8], STORIES[300:302], text__size=420), "rare-tokens")
    assert rare.severity == "warning" and rare.way_out == "shrink the vocabulary: text.size=300"
    rare = one(look(STORIES[:8], STORIES[300:302], text__size=300), "rare-tokens")  # no error, and nothing smaller
    assert rare.metrics["size"] == 300 and rare.way_out == ""


def test_examples_are_looked_over_by_their_task_and_tried_out(tmp_path, monkeypatch):
    """What a task that fine-tunes warns of while it reads becomes findings, and the trials are those of all tasks."""
    monkeypatch.setattr(speed, "SECONDS", 0.1)
    path = write_reviews(tmp_path / "a.csv", 100)
    with path.open("a") as file:
        file.write("it was odd,kind\nit was odd,unkind\n")
    report = doctor("classify", QUICK | {"data.train.path": str(path)}, lr_finder=True)
    suspicious = one(report, "suspicious")
    assert suspicious.severity == "warning" and "texts occur with different labels" in suspicious.sentence
    named = [each.check for each in report.findings[1:]]
    assert named[-4:] == ["machine", "machine", "machine", "rate"] and set(named[:-4]) == {"sizes"}
    assert " examples of up to " in one(report, "memory").sentence
    assert one(report, "learning-rate").metrics["suggested"] > 0


class Telling(Progress):
    """Keeps warnings."""

    def __init__(self):
        self.warned = []

    def warn(self, message):
        self.warned.append(message)


def test_training_begins_with_the_quick_part(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_text("\n\n".join(STORIES[:200] * 2), encoding="utf-8")
    place = {"data.train": {"paths": ["a.txt"], "documents": "blank-lines"}}
    told, silent = Telling(), Telling()
    regard.train("language-model", SMALL | place, out=tmp_path / "one", progress=told)
    regard.train("language-model", SMALL | place | {"preflight": False}, out=tmp_path / "two", progress=silent)
    (warning,) = (each for each in told.warned if not each.startswith("step "))  # 40 updates learn little
    assert warning.startswith("splits: ") and "duplicate another one" in warning
    assert [each for each in silent.warned if not each.startswith("step ")] == []
