"""One task, several beginnings, more and more examples."""

import json
import re
from dataclasses import replace

import pytest

from elmos import elmo_bundle
from encoder_folders import bert_tokenizer, small_encoder_bundle
from labeled import write_reviews
from regard.checkpoint.bundle import write_bundle
from regard.config.overrides import nested
from regard.config.settings import flatten
from regard.errors import ConfigError, RunError, RunInterrupted
from regard.progress import Progress
from regard.runs.planning.recipes import find_recipe, resolve_run
from regard.studies.transfer import transfer as course
from regard.studies.transfer.folder import Transfer
from regard.studies.transfer.methods import DEFAULT_METHODS
from regard.studies.transfer.pretrained import BERT_FINETUNING, RECIPES, PretrainedModels
from regard.studies.transfer.transfer import TransferStudy, transfer

QUICK = {"train.steps": 2, "train.warmup": 1, "machine.threads": 1}


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    desk = tmp_path_factory.mktemp("desk")
    write_bundle(desk / "elmo", elmo_bundle())
    write_bundle(desk / "bert", small_encoder_bundle(bert_tokenizer()))
    write_reviews(desk / "reviews.csv", 120)
    (desk / "glove.txt").write_text("the 0.1 0.2 -0.3\ngood 0.5 -0.1 0.2\n", encoding="utf-8")
    return desk


def question(desk, **changes):
    pretrained = {"vectors": str(desk / "glove.txt"), "elmo": str(desk / "elmo"), "bert": str(desk / "bert")}
    given = {
        "data": {"path": str(desk / "reviews.csv")},
        "sizes": ("20", "all"),
        "seeds": 1,
        "pretrained": pretrained,
    }
    return TransferStudy(**(given | {"overrides": QUICK} | changes))


@pytest.fixture(scope="module")
def whole(desk, tmp_path_factory):
    return transfer(question(desk), out=tmp_path_factory.mktemp("whole") / "transfer")


def test_every_method_learns_from_the_same_examples_and_the_report_needs_nothing_else(whole):
    results = whole.results
    assert results["is_finished"] and [row["method"] for row in results["table"]] == list(DEFAULT_METHODS)
    assert len(results["cells"]) == 12 and not results["failed"]
    runs = [json.loads(path.read_text(encoding="utf-8")) for path in (whole.path / "runs").glob("*/run.json")]
    for size in ("20-1", "all"):
        learned = {
            r["data"]["files"][f"{whole.path}/data/train-{size}.jsonl"]
            for r in runs
            if f"{whole.path}/data/train-{size}.jsonl" in r["data"]["files"]
        }
        assert len(learned) == 1
    frozen = {row["method"]: row["trainable_parameters"] for row in results["table"]}
    assert frozen["vectors-frozen"] < frozen["vectors-tuned"]
    mix = next(row for row in results["table"] if row["method"] == "elmo")["by_size"][0]["mix"]
    assert list(mix) == ["characters", "lstm 1", "lstm 2", "scale"]
    page = whole.report.read_text(encoding="utf-8")
    assert "mathdefault" not in page  # numbers on an axis are numbers, not formulas
    assert not re.search(r"""(src|href)=["']?(https?:|//)""", page) and "<script src" not in page
    assert "bert-tuned" in page and page.count("<svg") == 2 and "lstm 1" in page
    assert {path.name for path in whole.path.glob("*.png")} == {"accuracy-size.png", "accuracy-cost.png"}
    assert not list((whole.path / "runs").glob("*/checkpoints"))


def test_the_split_shares_nothing_and_smaller_sets_are_part_of_larger_ones(whole):
    read = lambda name: {
        json.loads(line)["text"]
        for line in (whole.path / "data" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    }
    train, valid, test, few = read("train-all"), read("valid"), read("test"), read("train-20-1")
    assert few < train and not train & valid and not train & test and not valid & test
    assert len(few) == 20 and len(test) > 10 and len(valid) >= 1


def test_what_is_done_is_not_done_again(whole, desk):
    before = {path: path.stat().st_mtime_ns for path in (whole.path / "cells").iterdir()}
    again = transfer(question(desk), out=whole.path)
    assert {path: path.stat().st_mtime_ns for path in (again.path / "cells").iterdir()} == before


def test_a_transfer_that_was_stopped_goes_on_with_the_same_table(desk, tmp_path, monkeypatch):
    asked = question(desk, methods=("scratch", "vectors-frozen"), sizes=("20",))
    straight = transfer(asked, out=tmp_path / "straight").results["table"]
    token_mask, stops = course.execute, iter([False, True])

    def stopping(run, job, progress):
        if not next(stops, False):
            return token_mask(run, job, progress)
        token_mask(run, replace(job, stop_at=1), progress)
        raise RunInterrupted("Stopped.")

    monkeypatch.setattr(course, "execute", stopping)
    with pytest.raises(RunInterrupted, match="everything is saved. The same command resumes it."):
        transfer(asked, out=tmp_path / "cut")
    stopped = Transfer(tmp_path / "cut")
    assert stopped.results["done"] == 1 and not stopped.results["is_finished"]
    went_on = transfer(asked, out=tmp_path / "cut").results
    assert went_on["is_finished"]
    same = lambda table: [[each["accuracy"] for each in row["by_size"]] for row in table]
    assert same(went_on["table"]) == same(straight)


def test_what_is_the_same_for_all_runs_is_said_once(desk, tmp_path):
    class Heard(Progress):
        def __init__(self):
            self.said = []

        def info(self, message):
            self.said.append(message)

    heard = Heard()
    transfer(question(desk, methods=("scratch",), sizes=("20", "all")), out=tmp_path / "t", progress=heard)
    columns = [each for each in heard.said if "the text is in column" in each]
    assert columns == [f'{desk / "reviews.csv"}: the text is in column "text", the label in "label".']
    assert len([each for each in heard.said if "valid: " in each]) == 1


def test_a_start_that_was_pretrained_here_is_tuned_in_its_own_way_and_others_as_usual(tmp_path):
    settings = lambda given: PretrainedModels(Transfer(tmp_path), {"bert": given}, {}, Progress()).finetuning("bert")
    assert settings(None) == BERT_FINETUNING and settings("hf:somewhere") == {}


@pytest.mark.parametrize("need", RECIPES)
def test_what_is_pretrained_reads_reviews_that_are_not_tested_and_its_settings_are_known(need):
    recipe, changes = RECIPES[need]
    settings = resolve_run(find_recipe(recipe), dict(flatten(nested(changes)))).settings
    assert settings.data.train.paths == ("miniature:opinions/train",)


def test_another_question_does_not_go_on_in_the_same_folder(whole, desk):
    with pytest.raises(
        RunError, match=r"\(seeds is 1, not 2\); repeat the original request to resume it, replace it"
    ):
        transfer(question(desk, seeds=2), out=whole.path)


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"methods": ("elmoo",)}, '--methods: there is no method "elmoo"; did you mean elmo?'),
        ({"methods": ("elmo", "elmo")}, '--methods: "elmo" is named twice; name each method once.'),
        ({"sizes": ("many",)}, '--sizes: "many" is not a number of examples; give numbers of at least 2, or all.'),
        ({"sizes": ("5000",)}, "--sizes: 5,000 examples are more than the"),
        (
            {"pretrained": {}},
            "--methods vectors-frozen: it starts from a pretrained model; give --vectors",
        ),
    ],
)
def test_mistakes_are_told_before_anything_is_trained(desk, tmp_path, changes, words):
    with pytest.raises(ConfigError) as caught:
        transfer(question(desk, **changes), out=tmp_path / "t")
    assert words in str(caught.value) and not (tmp_path / "t" / "runs").exists()


def test_a_start_of_another_kind_is_refused(desk, tmp_path):
    pretrained = {"elmo": str(desk / "bert")}
    with pytest.raises(ConfigError, match="this is not an ELMo"):
        transfer(question(desk, methods=("elmo",), pretrained=pretrained), out=tmp_path / "t")


def test_a_method_that_fails_does_not_stop_the_others(desk, tmp_path):
    class Heard(Progress):
        said = ""

        def warn(self, message):
            self.said += message

    (tmp_path / "broken.txt").write_text(
        "".join(f"w{number} 1 2\n" for number in range(1000)) + "no vectors here\n", encoding="utf-8"
    )
    pretrained = {"vectors": str(tmp_path / "broken.txt")}
    asked = question(desk, methods=("scratch", "vectors-frozen"), sizes=("20",), pretrained=pretrained)
    heard = Heard()
    results = transfer(asked, out=tmp_path / "t", progress=heard).results
    assert list(results["failed"]) == ["vectors-frozen"] and len(results["cells"]) == 1
    assert "broken.txt" in heard.said
