"""Runs of a model that fills in masked words: settings, figures, resuming, races, and learning from a teacher."""

import json

import numpy as np
import pytest

import regard
from commands import TINY, bad, corpus, good
from regard.checkpoint.bundle import read_bundle
from regard.data.sources.pair import Pair
from regard.decoding.settings import MaskPredictDecoding
from regard.errors import ConfigError
from regard.runs.planning.recipes import find_recipe, resolve_run
from regard.runs.run import Run
from regard.runs.verify import verify_resume
from regard.studies.doctor import speed
from regard.studies.doctor.examine import doctor
from regard.studies.race.disciplines import SharedData
from regard.studies.race.entrants import Lineup
from regard.studies.race.figures import timing
from regard.studies.race.race import race
from regard.tasks.translate.evaluate import encode_pairs
from regard.tasks.translate.losses import mean_nll

SMALL = {
    "model": {"preset": "mask-predict-tiny", "width": 16, "feed_forward_width": 32},
    "model.encoder_layers": 1,
    "model.decoder_layers": 1,
    "text.size": 300,
    "text.kind": "word",
    "train": {"tokens_per_update": 300, "steps": 12, "warmup": 4, "validate_every": 4, "log_every": 3},
    "train.patience": 0,
    "validation.bleu_sentences": 3,
}


def test_a_run_has_every_figure(masked_run):
    score = masked_run.scores["test"]
    assert {each["name"] for each in score["scores"]} == {"BLEU", "chrF", "TER"} and score["sentences"] == 30
    assert score["decode"] == MaskPredictDecoding().model_dump(mode="json")
    lines = [json.loads(line) for line in (masked_run.path / "metrics.jsonl").read_text().splitlines()]
    assert all({"ce", "nll", "length"} <= set(line) for line in lines if "ce" in line)
    validated = [line for line in lines if "valid_loss" in line]
    assert {"valid_bleu", "valid_length_loss", "valid_attention_focus", "valid_perplexity"} <= set(validated[-1])
    assert validated[-1]["valid_loss"] < validated[0]["valid_loss"]
    assert "iterations 4, length candidates 3" in (masked_run.path / "README.md").read_text()


def test_the_loss_is_always_that_of_the_same_words(masked_run, pairs):
    translator = regard.load(masked_run.best, device="cpu")
    encoded = encode_pairs(translator, pairs[:40])
    whole, again, cut = (
        mean_nll(translator.model, encoded, translator.device, limit) for limit in (10_000, 10_000, 100)
    )
    assert whole == again and cut == pytest.approx(whole, rel=1e-5)
    blank = encode_pairs(translator, [Pair("Ja.", "")])
    assert np.isnan(mean_nll(translator.model, blank, translator.device, 100)["loss"])


def test_resuming_changes_nothing(tmp_path):
    corpus(tmp_path)
    changes = {name: value for name, value in SMALL.items() if name != "text.kind"}
    changes |= {"data.train": {"source": str(tmp_path / "a.de"), "target": str(tmp_path / "a.en")}}
    changes |= {"model.dropout": 0.1, "text.dropout": 0.1, "text.target_dropout": 0.0}
    assert verify_resume(find_recipe("translate"), changes, steps=6).is_exact


def test_dropout_of_the_source_leaves_the_target_alone(pairs, tmp_path):
    settings = {
        "text.kind": "bpe",
        "text.dropout": 0.5,
        "text.target_dropout": 0.0,
        "data.train.path": str(tmp_path / "x.tsv"),
    }
    (tmp_path / "x.tsv").write_text("".join(f"{source}\t{target}\n" for source, target in pairs))
    settings = resolve_run(find_recipe("translate"), SMALL | settings).settings
    feed = SharedData(settings).trial_setup(settings).prepared.feed
    first, second = (feed.corpus(epoch).pairs for epoch in (0, 1))
    assert (first.target.ids == second.target.ids).all() and not np.array_equal(first.source.ids, second.source.ids)


def test_masks_change_from_epoch_to_epoch_but_not_from_run_to_run(tmp_path, pairs):
    one, same, other = (
        regard.train("translate", SMALL | {"seed": seed, "train.steps": 6}, data=pairs, out=tmp_path / name)
        for name, seed in (("one", 1), ("same", 1), ("other", 2))
    )
    losses = [
        [json.loads(line).get("nll") for line in (run.path / "metrics.jsonl").read_text().splitlines()]
        for run in (one, same, other)
    ]
    assert losses[0] == losses[1] != losses[2]


def test_settings_of_the_other_way_are_unknown_here():
    recipe = find_recipe("mask-predict-miniature")
    with pytest.raises(
        ConfigError, match=r"^decode\.beam_size: unknown setting, given as 5 \(from the command line\); "
    ):
        resolve_run(recipe, {"decode.beam_size": 5})
    with pytest.raises(ConfigError, match=r"^decode\.iterations: unknown setting, given as 2"):
        resolve_run(find_recipe("translate-miniature"), {"decode.iterations": 2})
    settings = resolve_run(recipe, {"decode.iterations": 2, "objective.length_weight": 0.5}).settings
    assert (settings.decode.iterations, settings.objective.length_weight, settings.task) == (2, 0.5, "translate")


def test_the_doctor_tries_it_out(tmp_path, monkeypatch):
    monkeypatch.setattr(speed, "SECONDS", 0.2)
    corpus(tmp_path)
    files = {"source": str(tmp_path / "a.de"), "target": str(tmp_path / "a.en")}
    found = doctor("translate", SMALL | {"data.train": files})
    healthy = {each.name for each in found.findings if each.severity == "ok"}
    assert {"memory", "speed"} <= healthy


def test_a_student_learns_from_what_its_teacher_says(quick_run, tmp_path):
    """Sequence-level distillation in two commands."""
    files = corpus(tmp_path)
    said = good("translate", quick_run.path, "--file", files[1], "--beam-size", 1, "--quiet")
    assert said.count("\n") == 120
    (tmp_path / "distilled.en").write_text(said)
    words = ["--source", files[1], "--target", tmp_path / "distilled.en", "--preset", "mask-predict-tiny"]
    run = tmp_path / "student"
    good("train", "translate", *words, "--out", run, "--quiet", "train.steps=4", *TINY)
    assert read_bundle(Run(run).best).settings.family == "mask-predict"
    assert good("translate", run, "Der Hund schläft.", "--iterations", 2, "--quiet").count("\n") == 1
    text = good("evaluate", run, "--iterations", 1, "--quiet")
    assert "decoding of all sentences: iterations 1, length candidates 3" in text and "BLEU" in text
    found = json.loads(good("translate", run, "Ja.", "--json", "--n-best", 2, "--length-candidates", 2, "--quiet"))
    assert 1 <= len(found["candidates"]) <= 2
    assert bad("translate", run, "Ja.", "--json", "--n-best", 4) == (
        "n_best: 4 is more than length_candidates 3; raise that."
    )
    assert bad("translate", run, "Ja.", "--method", "sample").startswith(
        "method: sample is for autoregressive models"
    )
    assert bad("evaluate", run, "--beam-size", 5).startswith("--beam-size 5: for autoregressive translators, and")
    assert bad("score", run, files[1], files[3]).startswith(
        "score: a conditional masked model predicts masked tokens"
    )


def test_a_race_of_both_ways(tmp_path, monkeypatch):
    monkeypatch.setattr(timing, "LENGTHS", (8,))
    monkeypatch.setattr(timing, "REPEATS", 1)
    overrides = {
        "data.train.max_rows": 300,
        "data.valid.max_rows": 20,
        "data.test.test.max_rows": 12,
        "text.size": 400,
        "model.width": 16,
        "model.feed_forward_width": 32,
        "train.tokens_per_update": 300,
        "validation.bleu_sentences": 3,
    }
    models = ["transformer-tiny", "mask-predict-tiny"]
    found = race(Lineup("race-miniature", models, overrides=overrides), "4 steps", out=tmp_path / "race").results
    assert [each["name"] for each in found["members"]] == models and not found["failed"]
    filled = found["members"][1]
    assert filled["reach"] == {"source": None, "target": None} and filled["alignment"]["target"][-1] == "</s>"
    assert len(filled["alignment"]["weights"]) == len(filled["alignment"]["target"])
    assert filled["times"]["by_length"]["decoding_ms"] and filled["decode"]["iterations"] == 4
    report = (tmp_path / "race" / "report.html").read_text()
    assert "beam size 5, length penalty average or iterations 4, length candidates 3" in report
