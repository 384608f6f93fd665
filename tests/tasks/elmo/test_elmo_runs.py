"""ELMo from text files to figures, vectors and features."""

import json
import math

import pytest
from torch.testing import assert_close

import regard
from regard.checkpoint.bundle import read_bundle
from regard.data.settings.text import TextSource
from regard.errors import ConfigError, DataError
from regard.runs.planning.plan import plan_run
from regard.runs.planning.recipes import find_recipe, resolve_run
from regard.runs.verify import verify_resume
from regard.studies.doctor.examine import doctor
from regard.tasks.elmo.evaluate import measure_elmo

SMALL = {
    "model.width": 16,
    "model.cell_width": 24,
    "model.filters": [[1, 8], [3, 8]],
    "text.words": 500,
    "window": 16,
    "train": {"steps": 24, "tokens_per_update": 256, "warmup": 4, "validate_every": 8, "learning_rate": 1e-2},
}
STORIES = {"data.train": {"paths": ["miniature:train"], "max_rows": 150}}


def train(tmp_path, settings, out="run", **more):
    own = {"data.folder": str(tmp_path / "corpus")}
    return regard.train("elmo", SMALL | settings | own, out=tmp_path / out, **more)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return train(tmp_path_factory.mktemp("elmo"), STORIES | {"train.log_every": 4})


def test_text_becomes_a_model_with_both_losses_and_a_card(run):
    record = run.record
    found = record.scores["valid"]
    assert record.state == "finished" and record.task == "elmo"
    assert found["loss"] == pytest.approx((found["forward_loss"] + found["backward_loss"]) / 2)
    assert found["backward_perplexity"] == pytest.approx(math.exp(found["backward_loss"]))
    assert 0 <= found["oov_fraction"] < 0.2
    lines = [json.loads(line) for line in (run.path / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    assert all({"forward", "backward"} <= set(line) for line in lines if "learning_rate" in line)
    watched = [line["valid_forward_loss"] for line in lines if "valid_forward_loss" in line]
    assert watched[-1] < watched[0]
    card = (run.path / "README.md").read_text(encoding="utf-8")
    assert "perplexity forward" in card and "--init-from" in card


def test_an_interruption_changes_nothing(tmp_path):
    changes = SMALL | STORIES | {"data.folder": str(tmp_path / "corpus"), "train.micro_batch_tokens": 100}
    assert verify_resume(find_recipe("elmo"), changes, steps=8).is_exact


def test_other_text_is_scored_and_a_checkpoint_knows_all_it_needs(run, tmp_path):
    other = tmp_path / "other.txt"
    other.write_text("The old fisherman saw a grey heron.\n", encoding="utf-8")
    found = measure_elmo(run.path, TextSource(paths=(str(other),)))
    (each,) = found.values()
    assert each.words == 9 and each.oov_fraction > 0
    assert set(read_bundle(run.best).tokenizers) == {"tokenizer", "words"}
    own = measure_elmo(run.path)["valid"]
    assert own.loss == pytest.approx(run.record.scores["valid"]["loss"])


def test_a_word_has_another_vector_in_another_text_and_the_same_without(run):
    elmo = regard.load(run.path)
    found = elmo.tokens("The garden, dear!")
    assert found.tokens == ("<s>", "The", "garden", ",", "dear", "!", "</s>")
    assert [found.text[begin:end] for begin, end in found.offsets[1:-1]] == list(found.tokens[1:-1])
    assert found.vectors.shape == (7, 32)
    alike = elmo.similar_words(("He ran to the garden.", "garden"), ("A garden is green.", "garden"))
    assert alike.without_context == pytest.approx(1, abs=1e-5) and alike.in_context < 0.999
    assert elmo.embed(["one", "two words"]).shape == (2, 32)
    with pytest.raises(ConfigError, match="an ELMo says words before or behind others and fills no masks"):
        elmo.fill("A [MASK].")


def test_text_without_words_to_say_is_refused(tmp_path):
    text = tmp_path / "once.txt"
    text.write_text("\n".join(f"word{number}" for number in range(200)), encoding="utf-8")
    with pytest.raises(DataError, match="no word occurs 2 times, so there is none to say; add text"):
        train(tmp_path, {"data.train": {"paths": [str(text)], "documents": "lines"}})


def test_a_model_of_another_kind_is_refused():
    with pytest.raises(ConfigError, match='model.preset: "bert-tiny" is a text encoder, but the task elmo needs'):
        resolve_run(find_recipe("elmo"), STORIES | {"model.preset": "bert-tiny"})


def test_the_plan_counts_words_that_are_said(tmp_path):
    changes = SMALL | STORIES | {"data.folder": str(tmp_path / "corpus")}
    plan = plan_run(resolve_run(find_recipe("elmo"), changes).settings)
    assert plan.window == 16 and plan.preset == "elmo-tiny" and 100 < plan.vocabulary <= 504


def test_the_doctor_says_when_many_words_cannot_be_said(tmp_path):
    changes = SMALL | STORIES | {"data.folder": str(tmp_path / "corpus"), "text.words": 20}
    report = doctor("elmo", changes, is_quick=True)
    assert any("of the words cannot be said" in finding.sentence for finding in report.findings)


def test_an_elmo_goes_on_with_other_text(run, tmp_path):
    given = {name: value for name, value in SMALL.items() if name.startswith(("window", "train"))} | STORIES
    given |= {"init_from": str(run.path), "data.folder": str(tmp_path / "more"), "data.train.max_rows": 60}
    stays = {"train.steps": 4, "train.warmup": 1, "train.validate_every": 2, "train.learning_rate": 1e-9}
    second = regard.train("elmo", given | stays, out=tmp_path / "second")
    before, after = read_bundle(run.best), read_bundle(second.best)
    assert after.settings == before.settings and after.facts["words"] == before.facts["words"]
    for role, tokenizer in before.tokenizers.items():
        assert after.tokenizers[role].to_json() == tokenizer.to_json()
    for name, weight in before.model.state_dict().items():
        assert_close(after.model.state_dict()[name], weight, atol=1e-6, rtol=0)
    assert second.record.report.model_dump()["init_from"]["path"] == str(run.path)
    assert f"Began with `{run.path}`" in (second.path / "README.md").read_text(encoding="utf-8")
    assert verify_resume(find_recipe("elmo"), given, steps=4).is_exact
    with pytest.raises(ConfigError, match="text: the words come from the start"):
        resolve_run(find_recipe("elmo"), given | {"text.words": 90})


def test_a_window_inside_an_endless_word_teaches_nothing_and_breaks_nothing(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("the cat saw the dog . " * 10 + "x" * 3000 + " the dog saw the cat ." * 10)
    valid = tmp_path / "valid.txt"
    valid.write_text("the cat saw the dog .")
    places = {"data.train.paths": [str(path)], "data.valid.paths": [str(valid)]}
    small = {"train.tokens_per_update": 1, "train.steps": 40, "train.log_every": 1, "train.validate_every": 40}
    found = train(tmp_path, SMALL | {"window": 8} | places | small).record
    assert found["state"] == "finished" and math.isfinite(found["scores"]["valid"]["loss"])
