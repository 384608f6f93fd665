"""ELMo from text files to scores, vectors and features."""

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
from regard.runs.scores.evaluate import evaluate_sets
from regard.runs.verify import verify_resume
from regard.studies.doctor.examine import doctor

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
    scores = record.scores["valid"]
    assert record.state == "finished" and record.task == "elmo"
    assert scores["loss"] == pytest.approx((scores["forward_loss"] + scores["backward_loss"]) / 2)
    assert scores["backward_perplexity"] == pytest.approx(math.exp(scores["backward_loss"]))
    assert 0 <= scores["oov_fraction"] < 0.2
    lines = [json.loads(line) for line in (run.path / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    assert all({"forward", "backward"} <= set(line) for line in lines if "learning_rate" in line)
    watched = [line["valid_forward_loss"] for line in lines if "valid_forward_loss" in line]
    assert watched[-1] < watched[0]
    card = (run.path / "README.md").read_text(encoding="utf-8")
    assert "forward perplexity" in card and "--init-from" in card


def test_an_interruption_changes_nothing(tmp_path):
    changes = SMALL | STORIES | {"data.folder": str(tmp_path / "corpus"), "train.micro_batch_tokens": 100}
    assert verify_resume(find_recipe("elmo"), changes, steps=8).is_exact


def test_other_text_is_scored_and_a_checkpoint_is_complete(run, tmp_path):
    other = tmp_path / "other.txt"
    other.write_text("The old fisherman saw a grey heron.\n", encoding="utf-8")
    (evaluated,) = evaluate_sets(run.path, TextSource(paths=(str(other),))).values()
    metrics = evaluated.metrics
    assert metrics["words"] == 9 and metrics["oov_fraction"] > 0
    assert set(read_bundle(run.best).tokenizers) == {"tokenizer", "words"}
    own = evaluate_sets(run.path)["valid"]
    assert own.metrics["loss"] == pytest.approx(run.record.scores["valid"]["loss"])


def test_a_word_has_another_vector_in_another_text_and_the_same_without(run):
    elmo = regard.load(run.path)
    words = elmo.tokens("The garden, dear!")
    assert words.tokens == ("<s>", "The", "garden", ",", "dear", "!", "</s>")
    assert [words.text[begin:end] for begin, end in words.offsets[1:-1]] == list(words.tokens[1:-1])
    assert words.vectors.shape == (7, 32)
    similarity = elmo.similar_words(("He ran to the garden.", "garden"), ("A garden is green.", "garden"))
    assert similarity.without_context == pytest.approx(1, abs=1e-5) and similarity.in_context < 0.999
    assert elmo.embed(["one", "two words"]).shape == (2, 32)
    with pytest.raises(ConfigError, match="an ELMo predicts neighboring words, not masked ones; use a BERT"):
        elmo.fill("A [MASK].")


def test_text_without_an_output_vocabulary_is_refused(tmp_path):
    text = tmp_path / "once.txt"
    text.write_text("\n".join(f"word{number}" for number in range(200)), encoding="utf-8")
    with pytest.raises(DataError, match="no word occurs 2 times, so the output vocabulary is empty; add text"):
        train(tmp_path, {"data.train": {"paths": [str(text)], "documents": "lines"}})


def test_a_model_of_another_kind_is_refused():
    with pytest.raises(ConfigError, match='model.preset: "bert-tiny" is a text encoder, but the task elmo needs'):
        resolve_run(find_recipe("elmo"), STORIES | {"model.preset": "bert-tiny"})


def test_the_plan_counts_the_output_vocabulary(tmp_path):
    changes = SMALL | STORIES | {"data.folder": str(tmp_path / "corpus")}
    plan, _ = plan_run(resolve_run(find_recipe("elmo"), changes).settings)
    assert plan.data["window"] == 16 and plan.preset == "elmo-tiny" and 100 < plan.vocabulary <= 504


def test_the_doctor_reports_many_words_out_of_vocabulary(tmp_path):
    changes = SMALL | STORIES | {"data.folder": str(tmp_path / "corpus"), "text.words": 20}
    report = doctor("elmo", changes, quick=True)
    assert any("of the words are out of the output vocabulary" in finding.sentence for finding in report.findings)


def test_training_continues_on_other_text(run, tmp_path):
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
    assert second.record.report.init_from.path == str(run.path)
    assert f"Initialized from `{run.path}`" in (second.path / "README.md").read_text(encoding="utf-8")
    assert verify_resume(find_recipe("elmo"), given, steps=4).is_exact
    with pytest.raises(ConfigError, match="text: the vocabulary comes from the pretrained model"):
        resolve_run(find_recipe("elmo"), given | {"text.words": 90})


def test_a_window_inside_an_endless_word_trains_nothing_and_breaks_nothing(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("the cat saw the dog . " * 10 + "x" * 3000 + " the dog saw the cat ." * 10)
    valid = tmp_path / "valid.txt"
    valid.write_text("the cat saw the dog .")
    sources = {"data.train.paths": [str(path)], "data.valid.paths": [str(valid)]}
    small = {"train.tokens_per_update": 1, "train.steps": 40, "train.log_every": 1, "train.validate_every": 40}
    record = train(tmp_path, SMALL | {"window": 8} | sources | small).record
    assert record.state == "finished" and math.isfinite(record.scores["valid"]["loss"])
