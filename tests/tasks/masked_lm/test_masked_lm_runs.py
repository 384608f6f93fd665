"""Masked language models from text files to scores."""

import json
import math
from dataclasses import replace

import pytest
from torch.testing import assert_close

import regard
from encoder_folders import bert_tokenizer, their_encoder
from regard.checkpoint.bundle import read_bundle, read_training
from regard.data.settings.text import DocumentSource
from regard.errors import ConfigError, DataError, RunError
from regard.progress import Progress
from regard.runs.planning.plan import plan_run
from regard.runs.planning.recipes import find_recipe, resolve_run
from regard.runs.scores.evaluate import evaluate_sets
from regard.runs.verify import verify_resume

SMALL = {
    "text.size": 300,
    "model.preset": "bert-tiny",
    "model.width": 32,
    "model.feed_forward_width": 64,
    "model.layers": 1,
    "model.max_positions": 64,
    "train": {"steps": 24, "tokens_per_update": 512, "warmup": 4, "validate_every": 8, "learning_rate": 5e-3},
}
STORIES = {"data.train": {"paths": ["miniature:train"], "max_rows": 200}}


@pytest.fixture
def text(tmp_path):
    """A file of documents that blank lines part."""
    path = tmp_path / "stories.txt"
    path.write_text("\n\n".join(regard.miniature.documents("train", 150)) + "\n", encoding="utf-8")
    return path


def train(tmp_path, settings, out="run", **more):
    own = {"data.folder": str(tmp_path / "corpus")}
    return regard.train("masked-language-model", SMALL | settings | own, out=tmp_path / out, **more)


def metrics(run):
    return [json.loads(line) for line in (run.path / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]


def test_a_file_of_documents_becomes_a_model_with_scores_and_a_card(tmp_path, text):
    run = train(tmp_path, {"data.train.paths": [str(text)], "train.log_every": 4})
    record = run.record
    assert record.state == "finished" and record.task == "masked-language-model"
    assert record.report.train.documents + record.report.valid.documents == 150
    scores = record.scores["valid"]
    assert scores["loss"] == pytest.approx(scores["mlm_loss"] + scores["next_sentence_loss"])
    assert scores["pseudo_perplexity"] == pytest.approx(math.exp(scores["mlm_loss"]))
    assert 0 < scores["majority_baseline"] < 0.5 and 0 <= scores["masked_accuracy"] <= 1 and scores["pairs"] > 0
    lines = metrics(run)
    assert all({"mlm", "nsp"} <= set(line) for line in lines if "learning_rate" in line)
    losses = [line["valid_mlm_loss"] for line in lines if "valid_mlm_loss" in line]
    assert losses[-1] < losses[0] and "valid_next_sentence_accuracy" in lines[-1]
    card = (run.path / "README.md").read_text(encoding="utf-8")
    assert "pseudo-perplexity" in card and "next-sentence accuracy" in card and str(text) in card


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"sequences.phase1_length": 24, "sequences.phase1_fraction": 0.75},
        {"model.next_sentence_head": False, "masking.whole_word_masking": True, "train.micro_batch_tokens": 200},
        {"train.tokens_per_update": 1, "model.max_positions": 256, "data.train.max_rows": 6},
    ],
    ids=["pairs", "short-then-long", "no-pairs", "empty windows"],
)
def test_an_interruption_changes_nothing(tmp_path, changes):
    """Also where sequences grow after the interruption (steps 6 of 8) or two steps before it, and where no document
    begins in the windows of an update."""
    changes = SMALL | STORIES | {"data.folder": str(tmp_path / "corpus")} | changes
    assert verify_resume(find_recipe("masked-language-model"), changes, steps=8).is_exact


def test_an_interruption_after_the_switch_changes_nothing(tmp_path):
    early = {"sequences.phase1_length": 24, "sequences.phase1_fraction": 0.3}
    changes = SMALL | STORIES | {"data.folder": str(tmp_path / "corpus")} | early
    assert verify_resume(find_recipe("masked-language-model"), changes, steps=8).is_exact


def test_a_run_resumed_for_longer_keeps_its_switch(tmp_path):
    early = {"sequences.phase1_length": 24, "sequences.phase1_fraction": 0.5, "train.steps": 8, "train.warmup": 2}
    run = train(tmp_path, STORIES | early | {"train.validate_every": 4})
    assert read_bundle(run.latest).facts["early_updates"] == 4
    regard.resume(run.path, {"train.steps": 12})
    assert read_bundle(run.latest).facts["early_updates"] == 4


def test_evaluation_does_not_depend_on_the_seed_or_the_training(tmp_path, text):
    paths = {"data.train.paths": [str(text)]}
    one = train(tmp_path, paths).record.scores["valid"]
    other = train(tmp_path, paths | {"seed": 7}, "other").record.scores["valid"]
    for name in ("tokens", "sequences", "masked", "pairs", "majority_baseline", "test_set", "rule"):
        assert one[name] == other[name]
    assert one["mlm_loss"] != other["mlm_loss"]


def test_a_run_is_evaluated_on_other_text_and_on_its_own(tmp_path, text):
    run = train(tmp_path, {"data.train.paths": [str(text)]})
    assert replace(evaluate_sets(run.path)["valid"], files=()).to_dict() == run.record.scores["valid"]
    other = tmp_path / "other.txt"
    other.write_text("\n\n".join(regard.miniature.documents("test", 20)), encoding="utf-8")
    (evaluated,) = evaluate_sets(run.path, DocumentSource(paths=(str(other),))).values()
    metrics = evaluated.metrics
    assert metrics["pairs"] > 5 and metrics["masked"] > 100
    assert evaluated.hashes != run.record.scores["valid"]["test_set"]
    with pytest.raises(RunError, match="a checkpoint alone has no test sets; give --text FILE"):
        evaluate_sets(run.best)


def test_one_document_is_read_without_pairs_only(tmp_path, text):
    settings = {"data.train": {"paths": [str(text)], "documents": "file"}}
    with pytest.raises(DataError, match="this is one document, and half of all pairs need another; split it"):
        train(tmp_path, settings)
    run = train(tmp_path, settings | {"model.next_sentence_head": False})
    scores = run.record.scores["valid"]
    assert scores["pairs"] == 0 and scores["next_sentence_accuracy"] is None
    assert scores["loss"] == scores["mlm_loss"]


def test_documents_of_one_sentence_make_no_pairs(tmp_path):
    path = tmp_path / "lines.txt"
    lines = [" ".join(["Word"] * (3 + number % 5)) + "." for number in range(300)]
    path.write_text("\n".join(lines), encoding="utf-8")
    settings = {"data.train": {"paths": [str(path)], "documents": "lines"}, "text.size": 40}
    with pytest.raises(DataError, match="no document has two sentences, so there are no pairs; see data.train.doc"):
        train(tmp_path, settings)
    path.write_text("\n".join(f"{line} And so on." if number % 4 == 0 else line for number, line in enumerate(lines)))
    progress = Warnings()
    run = train(tmp_path, settings | {"train.steps": 4, "train.warmup": 1}, progress=progress)
    assert any(
        "of the sequences are pairs, as most documents have one sentence" in each for each in progress.warnings
    )
    assert run.record.scores["valid"]["pairs"] > 0


def test_tokens_are_counted_as_they_are_read(tmp_path):
    run = train(tmp_path, STORIES | {"train.steps": 6, "train.warmup": 1})
    assert read_training(run.latest).facts["loop"]["tokens_seen"] == pytest.approx(6 * 512, rel=0.2)


def test_text_that_changed_is_refused_unless_it_was_meant_to(tmp_path, text):
    run = train(tmp_path, {"data.train.paths": [str(text)]})
    text.write_text(text.read_text(encoding="utf-8") + "\n\nSomething else. And more of it.\n", encoding="utf-8")
    with pytest.raises(RunError, match="The training data is not what the run began with"):
        regard.resume(run.path, {"train.steps": 30})


class Warnings(Progress):
    """Keeps warnings."""

    def __init__(self):
        self.warnings = []

    def warn(self, message):
        self.warnings.append(message)


def test_a_validation_text_of_one_document_is_a_warning(tmp_path, text):
    lone = tmp_path / "lone.txt"
    lone.write_text("Peter went to the city. He was happy. Eva was there. She sang.", encoding="utf-8")
    progress = Warnings()
    run = train(tmp_path, {"data.train.paths": [str(text)], "data.valid.paths": [str(lone)]}, progress=progress)
    assert any("so next-sentence prediction is not evaluated there" in each for each in progress.warnings)
    assert run.record.scores["valid"]["next_sentence_accuracy"] is None


def test_a_plan_counts_the_text(tmp_path):
    changes = SMALL | STORIES | {"data.folder": str(tmp_path / "corpus")}
    plan = plan_run(resolve_run(find_recipe("masked-language-model"), changes).settings)[0].to_dict()
    assert plan["window"] == 64 and plan["train_tokens"] > plan["valid_tokens"] > 0 and plan["vocabulary"] <= 300


def test_mistakes_are_one_sentence(tmp_path):
    def resolved(changes):
        return resolve_run(find_recipe("masked-language-model"), changes)

    with pytest.raises(ConfigError, match="it names no training data; give --text FILE or --text FOLDER"):
        resolved({})
    with pytest.raises(ConfigError, match='model.preset: "gpt-tiny" is a language model, but the task masked'):
        resolved(STORIES | {"model.preset": "gpt-tiny"})
    with pytest.raises(ConfigError, match='train.select_by: "accuracy" is for classifiers'):
        resolved(STORIES | {"train.select_by": "accuracy"})
    with pytest.raises(ConfigError, match="sequences.length: 512 tokens are more than the 64 positions of the model"):
        train(tmp_path, STORIES | {"sequences.length": 512})
    with pytest.raises(ConfigError, match="sequences.phase1_length: 64 tokens are not fewer than the 64 of later"):
        train(tmp_path, STORIES | {"sequences.phase1_length": 64})
    timed = {"sequences.phase1_length": 24, "train.steps": 10_000_000, "train.minutes": 1, "train.schedule": "wsd"}
    with pytest.raises(ConfigError, match="sequences.phase1_length: the clock ends this run"):
        train(tmp_path, STORIES | timed)
    with pytest.raises(DataError, match="data: row 1 is not a text; give that, or a dict of columns"):
        regard.train("masked-language-model", SMALL, data=[("a", "b")])


def test_training_continues_on_another_text(tmp_path, text):
    first = train(tmp_path, STORIES)
    more = {name: value for name, value in SMALL.items() if name == "train"}
    more |= {"data.train.paths": [str(text)], "data.folder": str(tmp_path / "more"), "init_from": str(first.path)}
    tiny = {"train.learning_rate": 1e-9, "train.steps": 6}
    second = regard.train("masked-language-model", more | tiny, out=tmp_path / "second")
    before, after = read_bundle(first.best), read_bundle(second.best)
    assert after.tokenizers["tokenizer"].to_json() == before.tokenizers["tokenizer"].to_json()
    for name, weight in before.model.state_dict().items():
        assert_close(after.model.state_dict()[name], weight, atol=1e-5, rtol=0)
    assert after.facts["init_from"]["path"] == str(first.path) and len(after.facts["init_from"]["sha256"]) == 64
    assert f"Initialized from `{first.path}`" in (second.path / "README.md").read_text(encoding="utf-8")
    # Pretraining helps from the first update on.
    assert second.scores["valid"]["mlm_loss"] < 0.95 * math.log(before.tokenizers["tokenizer"].size)
    assert verify_resume(find_recipe("masked-language-model"), more, steps=4).is_exact


def test_a_folder_without_heads_gets_new_ones(tmp_path, text):
    import transformers

    tokenizer = bert_tokenizer()
    their_encoder(tmp_path / "bert", "BertModel", tokenizer)
    pretrained = f"hf:{tmp_path / 'bert'}"
    changes = {"data.train.paths": [str(text)], "data.folder": str(tmp_path / "own"), "init_from": pretrained}
    changes |= {"train": SMALL["train"] | {"steps": 4, "warmup": 1}, "model.next_sentence_head": True}
    run = regard.train("masked-language-model", changes, out=tmp_path / "run")
    bundle = read_bundle(run.best)
    assert bundle.model.next_sentence is not None and "untrained" not in bundle.facts
    theirs = transformers.AutoModel.from_pretrained(tmp_path / "bert")
    table = bundle.model.embedding.table.weight
    assert table.shape == theirs.embeddings.word_embeddings.weight.shape
    assert run.scores["valid"]["pairs"] > 0
    del changes["model.next_sentence_head"]
    alone = regard.train("masked-language-model", changes, out=tmp_path / "alone")
    assert alone.scores["valid"]["pairs"] == 0 and read_bundle(alone.best).model.next_sentence is None


@pytest.mark.parametrize(
    "changes, sentence",
    [
        ({"model.layers": 3}, "model.layers: 3 contradicts {path}, where it is 1; leave it out."),
        (
            {"text.size": 200},
            'text: the tokenizer comes from the pretrained model "{path}"; leave these settings out.',
        ),
    ],
)
def test_settings_that_contradict_the_pretrained_model_are_refused(changes, sentence, tmp_path):
    first = train(tmp_path, STORIES | {"train.steps": 2, "train.warmup": 1})
    given = STORIES | {"init_from": str(first.path)} | changes
    with pytest.raises(ConfigError) as refused:
        resolve_run(find_recipe("masked-language-model"), given)
    assert sentence.format(path=first.path) in str(refused.value)
    rate = resolve_run(
        find_recipe("masked-folder"), STORIES | {"init_from": str(first.path)}
    ).settings.train.learning_rate
    assert rate == pytest.approx(5e-5 * 768 / 32)


@pytest.mark.parametrize("where", ["train", "valid"])
def test_a_text_in_which_nothing_can_be_masked_is_refused_before_it_is_learned_from(tmp_path, text, where):
    unknown = tmp_path / "unknown.txt"
    unknown.write_text(f"{'x' * 500} {'y' * 500}\n\n{'u' * 500} {'v' * 500}\n")
    other = {"train": "valid", "valid": "train"}[where]
    changes = {f"data.{where}.paths": [str(unknown)], f"data.{other}.paths": [str(text)]}
    with pytest.raises(DataError, match=r"no token of this text can be masked, as it has no words or none of them"):
        train(tmp_path, changes | {"model.next_sentence_head": False})
    (tmp_path / "controls.txt").write_text("\x01\x02\x03")
    changes = {"data.train.paths": [str(tmp_path / "controls.txt")], "data.valid.paths": [str(text)]}
    with pytest.raises(DataError, match=r"^The tokenizer has only special tokens, as the text it was trained on has"):
        train(tmp_path, changes | {"model.next_sentence_head": False}, out="other")


@pytest.mark.parametrize("positions", [1, 2, 3, 7])
def test_a_model_without_room_for_a_sentence_is_refused(tmp_path, text, positions):
    with pytest.raises(
        ConfigError, match=rf"^sequences\.length: {positions} tokens leave no room for a sentence between"
    ):
        train(tmp_path, {"data.train.paths": [str(text)], "model.max_positions": positions})
