import json

import pytest

from commands import corpus
from racing import SETTINGS
from regard.studies.race.entrants import Lineup
from regard.studies.race.race import race
from regard.studio.settings import StudioSettings
from regard.studio.views.reports import StudiesRequest, StudyRequest, show_race, show_studies, show_transfer


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("studies")
    words = corpus(folder, 120)
    data = {"data.train.source": str(words[1]), "data.train.target": str(words[3])}
    race(
        Lineup("translate", ["transformer-tiny", "gru-attention"], None, SETTINGS | data),
        "6 steps",
        out=folder / "runs" / "race",
    )
    table = {
        "method": "bert",
        "trainable_parameters": 7,
        "by_size": [{"seeds": 2, "accuracy": 0.5, "spread": 0.1, "seconds": 1.0}] * 2,
    }
    results = {
        "is_finished": True,
        "done": 4,
        "of": 4,
        "sizes": [20, None],
        "seeds": 2,
        "train_examples": 90,
        "failed": {},
        "table": [table],
        "cells": [
            {"method": "bert", "size": size, "seed": seed, "accuracy": 0.3 + 0.2 * seed, "seconds": 1.5 * seed}
            | {"majority_baseline": 0.25}
            for size in (20, None)
            for seed in (1, 2)
        ],
    }
    transfer = folder / "runs" / "transfer"
    transfer.mkdir()
    (transfer / "results.json").write_text(json.dumps(results))
    (transfer / "transfer.json").write_text('{"format": 2, "asked": {}}')
    (folder / "runs" / "cut").mkdir()
    (folder / "runs" / "cut" / "race.json").write_text("{")
    return folder / "runs"


def test_studies_are_found_and_a_broken_one_tells_why(folder):
    lines = {each.name: each for each in show_studies(StudioSettings(runs=folder), StudiesRequest()).studies}
    assert lines["race"].kind == "race" and lines["race"].is_finished
    assert lines["transfer"].kind == "transfer" and lines["cut"].reason


def test_a_race_is_that_of_its_files(folder):
    view = show_race(StudioSettings(runs=folder), StudyRequest(study="race"))
    results = json.loads((folder / "race" / "results.json").read_text())
    assert view.published is not None and view.published.title == results["published"]["title"]
    assert [(each.name, each.bleu) for each in view.published.scores] == [
        (each["name"], each["bleu"]) for each in results["published"]["rungs"]
    ]
    assert [each.name for each in view.members] == [each["name"] for each in results["members"]]
    assert view.members[0].values[0] == results["members"][0][view.columns[0].key]
    titles = [each.title for each in view.panels]
    assert titles[0].startswith("loss") and all(len(panel.lines) == 2 for panel in view.panels)
    member = results["members"][0]
    measured = {each.title: each for each in view.measured}
    reach = measured["gradient reach in the target"].lines[0]
    assert reach.name == member["name"] and reach.steps == member["reach"]["target"]["distance"]
    assert reach.values == member["reach"]["target"]["gradient"]
    assert measured["BLEU by source length"].lines[0].values == [each["bleu"] for each in member["lengths"]]
    times = member["times"]["by_length"]
    assert measured["milliseconds of a training step by length"].lines[0].values == times["training_ms"]
    (bleu, loss), curve = view.over_time, member["curve"]
    assert bleu.title == "BLEU over training time"
    assert [each.name for each in loss.lines] == [each.name for each in view.members]
    assert loss.lines[0].steps == [each["seconds"] for each in curve]
    assert loss.lines[0].values == [each["loss"] for each in curve]
    assert view.samples[0].outputs == [each["samples"][0]["output"] for each in results["members"]]
    assert {each.member for each in view.alignments} == {"transformer-tiny", "gru-attention"}


def test_a_transfer_study_has_its_accuracies(folder):
    view = show_transfer(StudioSettings(runs=folder), StudyRequest(study="transfer"))
    assert view.sizes == [20, 90] and view.methods[0].cells[0].accuracy == 0.5 and view.done == 4
    assert [(each.size, each.accuracy, each.seconds) for each in view.methods[0].runs] == [
        (20, 0.5, 1.5),
        (20, 0.7, 3.0),
        (90, 0.5, 1.5),
        (90, 0.7, 3.0),
    ]
    assert view.baseline == 0.25
