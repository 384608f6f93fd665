"""Everything that a translator can do, with models other than Transformers."""

import numpy as np
import pytest
import torch

import regard
from regard.errors import ConfigError
from regard.models.base.settings import Vocabularies
from regard.models.families import build_model, family
from regard.runs.average import average
from regard.runs.planning.recipes import find_recipe, resolve_run
from regard.runs.scores.evaluate import evaluate_sets
from regard.runs.verify import verify_resume
from regard.studies.doctor import speed
from regard.studies.doctor.examine import doctor

SMALL = {
    "data.train.max_rows": 300,
    "data.valid.max_rows": 30,
    "data.test": {name: {"max_rows": 5} for name in ("test", "unseen-pairs", "unseen-cases", "unseen-depth")},
    "model.width": 16,
    "text.size": 400,
    "train": {"tokens_per_update": 300, "steps": 12, "warmup": 4, "validate_every": 4, "keep_last": 3},
    "validation.bleu_sentences": 5,
}
MODELS = {
    "lstm": {},
    "gru-attention": {},
    "lstm-attention": {"model.has_input_feeding": True},
    "convs2s": {"model.encoder_layers": 2, "model.decoder_layers": 2},
}


def small(preset, **more):
    return {**SMALL, "model.preset": preset, **MODELS.get(preset, {}), **more}


@pytest.mark.parametrize("preset", MODELS)
def test_a_run_is_trained_averaged_scored_and_looked_into(preset, tmp_path):
    run = regard.train("translate-miniature", small(preset), out=tmp_path / "run")
    assert (
        run.record.state == "finished" and run.record.sources["model.cell" if preset != "convs2s" else "model.kernel"]
    )
    assert set(run.scores) == {"test", "unseen-pairs", "unseen-cases", "unseen-depth"}
    assert evaluate_sets(run.path).keys() == run.scores.keys()
    assert average([run.path], out=tmp_path / "mean").path.is_dir()
    translator = regard.load(run.best)
    text = "Der kleine Hund schläft."
    beam, sampled = translator(text, beam_size=3), translator(text, method="sample", num_samples=2, top_k=5)
    assert len(beam.candidates) == 3 and len(sampled.candidates) == 2
    (score,) = translator.score([(text, "The little dog sleeps.")])
    assert score.log_probability < 0
    if preset == "lstm":
        trace = translator.inspect(text)
        assert trace.kinds == () and len(trace.arrays["hidden"]) == len(trace.tokens["target"])
        return
    weights = translator.inspect(text, "The little dog sleeps.").attention("cross")
    np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-5)
    assert translator(text, beam_size=2, coverage_penalty=0.2).candidates


@pytest.mark.parametrize("preset", ["lstm", "gru-attention", "convs2s"])
def test_an_interruption_changes_nothing(preset):
    own_words = {} if preset == "convs2s" else {"model.final_teacher_forcing": 0.3}
    found = verify_resume(find_recipe("translate-miniature"), small(preset, **own_words), steps=6)
    assert found.is_exact


def test_the_doctor_examines_them(monkeypatch):
    monkeypatch.setattr(speed, "SECONDS", 0.1)
    report = doctor("translate-miniature", small("gru-attention"))
    assert any(finding.name == "speed" for finding in report.findings)


def test_another_family_takes_over_what_means_the_same_and_leaves_sizes_behind():
    recipe = find_recipe("translate-30k")
    data = {"data.train": {"source": "a", "target": "b"}}
    found = resolve_run(recipe, {"model.preset": "gru-attention", **data})
    model = found.settings.model
    assert model.family == "recurrent" and model.encoder_layers == 1 and model.dropout == 0.3
    assert found.source("model.dropout") == "recipe translate-30k"
    assert found.source("model.alignment") == "preset gru-attention"
    assert resolve_run(recipe, data).settings.model.encoder_layers == 5
    assert resolve_run(recipe, {"model.family": "convolutional", **data}).settings.model.preset is None
    with pytest.raises(ConfigError, match="model.heads: unknown setting, given as 4 \\(from the command line\\)"):
        resolve_run(recipe, {"model.preset": "gru", "model.heads": 4, **data})


def test_the_loop_says_how_far_training_is(tmp_path):
    shares = []
    kind = type(build_model(family("recurrent").settings(width=4), Vocabularies(9, 9, True)))
    encode = kind.encode

    def listening(self, source, token_mask):
        if self.training:
            shares.append(float(self.progress))
        return encode(self, source, token_mask)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kind, "encode", listening)
        regard.train(
            "translate-miniature", small("gru", **{"model.final_teacher_forcing": 0.0}), out=tmp_path / "run"
        )
    assert torch.allclose(torch.tensor(shares), torch.arange(1, 13) / 12)
