import hashlib
import json
import shutil
from pathlib import Path

import pytest

from regard.checkpoint.atomic import fingerprint
from regard.data.settings.pairs import PairSource
from regard.errors import ConfigError, DataError, RunError
from regard.metrics.translation import translation_scores
from regard.progress import Progress
from regard.runs.run import Run
from regard.runs.scores.compare import compare
from regard.runs.scores.evaluate import evaluate_sets
from regard.runs.scores.passport import read_passport
from regard.runs.train import train
from regard.tasks.translate.task import TranslateEvaluation
from regard.version import __version__

SOURCES = ["Der Hund schläft.", "Anna liest ein Buch.", "Die Katze sieht den Hund."]
TARGETS = ["The dog sleeps.", "Anna reads a book.", "The cat sees the dog."]
OTHERS = ["The dog is asleep.", "Anna is reading a book.", "The cat is looking at the dog."]


class Telling(Progress):
    def __init__(self):
        self.said = []

    def info(self, message):
        self.said.append(message)

    warn = info


@pytest.fixture
def run(quick_run, tmp_path):
    """A copy of the quick run, free to be written to."""
    shutil.copytree(quick_run.path, tmp_path / "run")
    return Run(tmp_path / "run")


@pytest.fixture
def source(tmp_path):
    for name, lines in (("t.de", SOURCES), ("t.en", TARGETS), ("o.en", OTHERS)):
        (tmp_path / name).write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return PairSource(source=str(tmp_path / "t.de"), target=str(tmp_path / "t.en"))


def two_references(source):
    return source.model_copy(update={"references": (str(Path(source.target).with_name("o.en")),)})


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_training_leaves_a_passport_for_each_test_set(quick_run):
    assert {"test", "unseen-pairs", "unseen-cases", "unseen-depth"} <= set(quick_run.passports)
    passport = read_passport(quick_run.path / "scores" / "test.json")
    assert len(passport.outputs) == 30
    assert passport.facts["scores"][0]["value"] == quick_run.scores["test"]["scores"][0]["value"]
    assert passport.facts["decode"]["beam_size"] == 5 and "outputs" not in quick_run.scores["test"]


def test_a_passport_holds_everything_that_makes_scores_comparable(run, source):
    (evaluated,) = evaluate_sets(run.path, source, device="cpu", options={"papers": True}).values()
    facts = json.loads((run.path / "scores" / "t.de-t.en.json").read_text())
    assert evaluated.files == (run.path / "scores" / "t.de-t.en.json",)
    assert facts["test_set"] == {"sources": sha256(Path(source.source)), "references": [sha256(Path(source.target))]}
    assert {score["name"]: score["casing"] for score in facts["scores"]} == dict.fromkeys(
        ("BLEU", "chrF", "TER"), "mixed"
    )
    assert all("version:" in score["signature"] for score in facts["scores"])
    assert [score["name"] for score in facts["paper_scores"]] == [
        "BLEU lowercased, tokenized",
        "BLEU lowercased, split at all punctuation",
    ]
    assert facts["seed"] == 1 and facts["regard"] == __version__ and facts["date"].endswith("+00:00")
    assert {"device", "processor", "threads", "torch"} <= set(facts["machine"])
    outputs = run.path / "scores" / facts["outputs"]["file"]
    assert facts["outputs"]["sha256"] == sha256(outputs)
    lines = outputs.read_text().splitlines()
    again = translation_scores(lines, [[target] for target in TARGETS])
    assert [score["value"] for score in facts["scores"]] == [score.value for score in again]


def test_the_hash_of_a_checkpoint_follows_its_model_alone(run, source, tmp_path):
    def model_hash(path):
        evaluate_sets(path, source, device="cpu", out=tmp_path / "x.json")
        return read_passport(tmp_path / "x.json").record.checkpoint.sha256

    shutil.copytree(run.best, tmp_path / "moved")
    shutil.rmtree(tmp_path / "moved" / "training", ignore_errors=True)
    before = model_hash(run.path)
    assert model_hash(tmp_path / "moved") == before
    manifest = json.loads((run.best / "manifest.json").read_text())
    (run.best / "config.json").write_text((run.best / "config.json").read_text() + "\n")
    manifest["config.json"] = fingerprint(run.best / "config.json")
    (run.best / "manifest.json").write_text(json.dumps(manifest))
    assert model_hash(run.path) != before


def test_the_test_set_is_hashed_as_read(run, source, tmp_path):
    (plain,) = evaluate_sets(run.path, source, device="cpu").values()
    windows = tmp_path / "w.de"
    windows.write_bytes(b"\xef\xbb\xbf" + "\r\n".join(SOURCES).encode())
    (same,) = evaluate_sets(run.path, source.model_copy(update={"source": str(windows)}), device="cpu").values()
    assert same.hashes == plain.hashes


def test_several_references_raise_the_score_and_are_in_the_signature(run, source):
    (one,) = evaluate_sets(run.path, source, device="cpu").values()
    (two,) = evaluate_sets(run.path, two_references(source), device="cpu").values()
    assert two.scores[0].signature.startswith("nrefs:2")
    assert two["chrf"] >= one["chrf"] and len(two.hashes["references"]) == 2
    with pytest.raises(DataError, match="cannot be compared: the references of their test sets differ"):
        compare(one, two)


def test_a_recipe_s_test_set_may_have_several_references(tmp_path, pairs, source):
    small = {"model.width": 16, "model.feed_forward_width": 32, "text.size": 600, "train.steps": 1, "train.warmup": 1}
    test = {
        f"data.test.mine.{name}": value
        for name, value in two_references(source).model_dump(exclude_unset=True).items()
    }
    run = train("translate", small | test, data=pairs, out=tmp_path / "two")
    assert run.scores["mine"]["scores"][0]["signature"].startswith("nrefs:2")
    assert str(tmp_path / "o.en") in run.record.report.model_dump()["files"]
    (again,) = evaluate_sets(run.path, device="cpu").values()
    assert again.hashes == run.scores["mine"]["test_set"]


def test_other_decoding_has_a_passport_of_its_own(run, source):
    (evaluated,) = evaluate_sets(run.path, source, device="cpu", options=TranslateEvaluation(beam_size=1)).values()
    assert evaluated.files == (run.path / "scores" / "t.de-t.en.beam_size=1.json",)
    (evaluated,) = evaluate_sets(
        run.path, source, device="cpu", options=TranslateEvaluation(beam_size=5)
    ).values()  # the run's own setting
    assert evaluated.files == (run.path / "scores" / "t.de-t.en.json",)


def test_sets_of_the_same_file_name_do_not_overwrite_each_other(run, source, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    for side in (source.source, source.target):
        Path(tmp_path / "elsewhere" / Path(side).name).write_text(Path(side).read_text() + "x\n")
    other = PairSource(source=str(tmp_path / "elsewhere" / "t.de"), target=str(tmp_path / "elsewhere" / "t.en"))
    (one,) = evaluate_sets(run.path, source, device="cpu").values()
    (two,) = evaluate_sets(run.path, other, device="cpu").values()
    assert one.files != two.files and two.files[0].name.startswith("t.de-t.en-")


def test_out_takes_a_file_or_a_folder(run, source, tmp_path):
    (evaluated,) = evaluate_sets(run.path, source, device="cpu", out=tmp_path / "deep" / "mine.json").values()
    assert evaluated.files[0] == tmp_path / "deep" / "mine.json" and len(evaluated.files) == 2
    assert read_passport(evaluated.files[0]).outputs == read_passport(evaluated.files[1]).outputs
    evaluate_sets(run.path, test_set="test", device="cpu", out=tmp_path / "folder")
    assert (tmp_path / "folder" / "test.json").exists() and (tmp_path / "folder" / "test.outputs.txt").exists()
    with pytest.raises(ConfigError) as error:
        evaluate_sets(run.path, out=tmp_path / "all.json")
    assert str(error.value) == (
        f"--out {tmp_path / 'all.json'} holds one passport, but there are 4 sets (test, unseen-pairs, unseen-cases, "
        "unseen-depth); name a folder, or choose one with --test-set."
    )


def test_where_no_passport_can_be_written_it_is_reported(run, source):
    telling = Telling()
    (evaluated,) = evaluate_sets(run.best, source, device="cpu", progress=telling).values()
    assert evaluated.files == ()
    assert telling.said[-1] == (
        f"{run.best}: this is a checkpoint, not a run, so no passport was written; name a file with --out."
    )
    shutil.rmtree(run.path / "scores")
    (run.path / "scores").write_text("in the way")
    (evaluated,) = evaluate_sets(run.path, source, device="cpu", progress=telling).values()
    assert evaluated.files == ()
    assert telling.said[-1].startswith(f"{run.path}: no passport could be written here (")
    assert telling.said[-1].endswith("); name a folder with --out.")


def test_a_run_against_itself_has_no_significant_difference(run, source):
    (evaluated,) = evaluate_sets(run.path, source, against=run.path, device="cpu").values()
    assert evaluated.comparison is not None
    assert evaluated.comparison.words()[0] == (
        f"BLEU: no significant difference between {run.path} and {run.path} (difference +0.00, 95 % interval +0.00 "
        "to +0.00, p = 1.000)."
    )


def test_against_a_passport_and_against_hypotheses(run, source, tmp_path):
    evaluate_sets(
        run.path, source, device="cpu", options=TranslateEvaluation(beam_size=1), out=tmp_path / "first.json"
    )
    (second,) = evaluate_sets(run.path, source, device="cpu", against=tmp_path / "first.json").values()
    assert second.comparison.words()[-1] == "Their decoding differs too: beam_size 5 and 1."
    perfect = tmp_path / "perfect.txt"
    perfect.write_text("".join(target + "\n" for target in TARGETS))
    (third,) = evaluate_sets(run.path, source, device="cpu", against=perfect).values()
    assert [difference.second for difference in third.comparison.differences] == pytest.approx([100, 100, 0])
    assert third.comparison.words()[1].startswith(f"chrF: {perfect} is better than {run.path} (difference -")
    assert third.comparison.decoding == {} and third.to_dict()["against"]["set"] == source.name
    direct = compare(second, second)
    assert direct.differences[0].p == 1 and direct.resamples == 1000


def test_a_passport_chooses_its_set_among_the_run_s_own(run):
    (evaluated,) = evaluate_sets(
        run.path,
        device="cpu",
        against=run.path / "scores" / "unseen-cases.json",
        options=TranslateEvaluation(beam_size=1),
    ).values()
    assert evaluated.name == "unseen-cases"


def test_what_cannot_be_compared_is_refused(run, source, tmp_path):
    passport = run.path / "scores" / "test.json"
    with pytest.raises(DataError) as error:
        evaluate_sets(run.path, source, against=passport, device="cpu")
    here, there = sha256(Path(source.source))[:12], json.loads(passport.read_text())["test_set"]["sources"][:12]
    assert str(error.value) == (
        f"{run.path} and {passport} cannot be compared: the sources of their test sets differ (SHA-256 {here} and "
        f"{there}); evaluate both on the same set."
    )
    facts = json.loads(passport.read_text())
    old = facts["scores"][0]["signature"]
    new = facts["scores"][0]["signature"] = old.replace("tok:13a", "tok:zh")
    passport.write_text(json.dumps(facts))
    (partly,) = evaluate_sets(run.path, against=passport, device="cpu").values()
    assert [each.metric.label for each in partly.comparison.differences] == ["chrF", "TER"]
    assert partly.comparison.words()[-1] == f"Not compared: BLEU was computed as {old} and as {new}."
    for score in facts["scores"][1:]:
        score["signature"] += "|other"
    passport.write_text(json.dumps(facts))
    with pytest.raises(DataError) as error:
        evaluate_sets(run.path, against=passport, device="cpu")
    sentence = f"{run.path} and {passport} cannot be compared: BLEU was computed as {old} and as {new}; chrF was"
    assert str(error.value).startswith(sentence) and str(error.value).endswith("evaluate both with the same version.")


def test_mistakes_with_the_other_system_are_one_sentence(run, source, tmp_path):
    def refusal(data=None, **options):
        with pytest.raises((ConfigError, DataError, RunError)) as error:
            evaluate_sets(run.path, data, device="cpu", **options)
        return str(error.value)

    missing, lines, other = tmp_path / "nothing", tmp_path / "h.txt", tmp_path / "no.json"
    lines.write_text("one\n")
    other.write_text("{}")
    assert (
        refusal(against=missing) == f"{missing}: there is no run, passport or file of outputs here; check the path."
    )
    assert refusal(against=other) == (
        f"{other}: this is not a score passport (passport is missing); regard evaluate writes them."
    )
    assert refusal(against=lines) == (
        f"{lines} holds the outputs of one set, but there are 4 (test, unseen-pairs, unseen-cases, unseen-depth); "
        "choose one with --test-set."
    )
    assert refusal(source, against=lines) == (
        f"{lines}: 1 lines, but {source.name} has 3 sentences; give one hypothesis a line."
    )
    assert refusal(test_set="tset") == (
        f"--test-set tset: {run.path} is a translator, whose test sets are test, unseen-pairs, unseen-cases, "
        "unseen-depth; name one of these."
    )


def test_a_passport_without_its_outputs_is_refused(run):
    passport = run.path / "scores" / "test.json"
    lines = run.path / "scores" / "test.outputs.txt"
    lines.write_text(lines.read_text() + "more\n")
    with pytest.raises(DataError) as error:
        read_passport(passport)
    assert str(error.value) == f"{lines}: changed since its passport was written; evaluate again."
    lines.unlink()
    with pytest.raises(DataError) as error:
        read_passport(passport)
    assert str(error.value) == (
        f"{passport}: its outputs (test.outputs.txt) are not beside it; copy them too, or evaluate again."
    )
    passport.write_text(json.dumps(json.loads(passport.read_text()) | {"passport": 9}))
    with pytest.raises(DataError) as error:
        read_passport(passport)
    assert str(error.value) == f"{passport}: a passport in format 9, but this version reads 2; upgrade regard."
    assert "test" not in run.passports and "unseen-pairs" in run.passports
