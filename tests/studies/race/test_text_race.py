"""Races of language models."""

import json

import pytest

from racing import results_of, stopped_race
from regard import miniature
from regard.errors import ConfigError
from regard.studies.race import race as course
from regard.studies.race.disciplines import ranked
from regard.studies.race.entrants import Lineup
from regard.studies.race.race import race
from regard.studies.race.report import page

SETTINGS = {
    "text.size": 400,
    "model.width": 16,
    "model.embedding_width": 16,
    "model.feed_forward_width": 32,
    "model.heads": 2,
    "model.layers": 1,
    "train": {"tokens_per_update": 300, "log_every": 3},
    "machine.threads": 1,
}


@pytest.fixture(scope="module")
def lineup(tmp_path_factory):
    """A recurrent model and a GPT that sees fewer tokens at once, and text to race on."""
    folder = tmp_path_factory.mktemp("text")
    (folder / "a.txt").write_text("\n\n".join(miniature.documents("train", 120)), encoding="utf-8")
    (folder / "b.txt").write_text("\n\n".join(miniature.documents("test", 20)), encoding="utf-8")
    places = {
        "data.train": {"paths": [str(folder / "a.txt")], "documents": "blank-lines"},
        "data.test.held-out": {"paths": [str(folder / "b.txt")], "documents": "blank-lines"},
        "data.folder": str(folder / "corpus"),
        "model.max_positions": 24,
    }
    return Lineup("language-model", ["lstm-lm", "gpt-tiny"], overrides=SETTINGS | places)


@pytest.fixture(scope="module")
def straight(lineup, tmp_path_factory):
    return race(lineup, "8 steps", out=tmp_path_factory.mktemp("straight") / "it")


def test_language_models_are_raced_on_the_same_windows(straight):
    results = straight.results
    assert straight.is_finished and results["task"] == "language-model" and results["set"] == "held-out"
    assert [each["name"] for each in results["members"]] == ["lstm-lm", "gpt-tiny"]
    records = [straight.run(each["name"]).record for each in results["members"]]
    assert len({record.report.hash for record in records}) == 1
    assert {record.report.window for record in records} == {24} == {results["window"]}
    for member, record in zip(results["members"], records, strict=True):
        score = record.scores["held-out"]
        for name in ("word_perplexity", "bits_per_byte", "perplexity", "loss"):
            assert member[name] == score[name]
        assert len(member["curve"]) == 8 and member["parameters"] == record.parameters
        groups = [(each["shortest"], each["longest"]) for each in member["positions"]]
        assert groups == [(1, 1), (2, 3), (4, 7), (8, 15), (16, 24)]
        assert member["reach"]["text"]["distance"][0] == 1.5
    assert [each["word_perplexity"] for each in ranked(results)] == sorted(
        each["word_perplexity"] for each in results["members"]
    )


def test_the_report_shows_what_is_known(straight):
    text = straight.report.read_text(encoding="utf-8")
    assert "<th>word perplexity</th><th>bits/byte</th><th>perplexity</th><th>loss</th>" in text
    assert "tokens in windows of 24, tokenizer and seed (1); scored on held-out (" in text
    for title in ("Loss over training time", "Loss by position", "Gradient norm by distance", "Conditions"):
        assert f"<h2>{title}" in text
    assert {path.stem for path in straight.path.glob("*.png")} == {"loss-time", "loss-position", "gradient-text"}
    assert "published" not in text.lower() and text.count("class=best") == 4
    members = [each | {"reach": {"text": None}} for each in straight.results["members"]]
    assert "Gradient norm by distance" not in page(straight.results | {"members": members}, [])


def test_an_interrupted_race_ends_as_one_never_disturbed(straight, tmp_path, lineup, monkeypatch):
    monkeypatch.setattr(course, "write_report", lambda results, folder: None)
    out = tmp_path / "it"
    found = stopped_race(lineup, "8 steps", out, "gpt-tiny", 4)
    assert not found.is_finished and found.run("lstm-lm").record.state == "finished"
    race(lineup, "8 steps", out=out)
    assert results_of(found) == results_of(straight)


@pytest.mark.parametrize("budget, steps", [("2 epochs", None), ("1200 tokens", 4)])
def test_epochs_and_tokens_become_steps(tmp_path, lineup, monkeypatch, budget, steps):
    monkeypatch.setattr(course._Session, "run", lambda self: None)
    found = race(lineup, budget, out=tmp_path / "it")
    plan = found.record.plan
    written = json.loads((tmp_path / "it" / "race.json").read_text())["plan"]
    assert {name: each.model_dump() for name, each in plan.items()} == written
    assert len({each.steps for each in plan.values()}) == 1
    here = plan["gpt-tiny"].steps
    assert here > 20 if steps is None else abs(here - steps) <= 1


def test_what_cannot_be_raced_is_told(lineup, tmp_path):
    with pytest.raises(ConfigError, match="word vectors have their own trainer and cannot be raced"):
        race(Lineup("vectors-miniature", vary="model.width=8,16"), out=tmp_path / "a")
    with pytest.raises(ConfigError, match="--vary window: members of a race share data and tokenizer"):
        race(Lineup("language-model", overrides=lineup.overrides, vary="window=8,16"), out=tmp_path / "b")
    with pytest.raises(ConfigError, match='"lstm" is a sequence-to-sequence model'):
        race(Lineup("language-model", ["lstm", "gpt-tiny"], overrides=lineup.overrides), out=tmp_path / "c")
