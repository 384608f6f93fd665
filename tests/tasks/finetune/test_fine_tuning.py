import csv
import json

import pytest

import regard
from labeled import QUICK, SMALL_GPT, Telling, reviews, write_reviews
from language_folders import their_folder
from regard.checkpoint.bundle import read_bundle
from regard.checkpoint.identity import model_hash
from regard.data.settings.examples import LabelSource
from regard.errors import ConfigError, DataError, RunError
from regard.runs.planning.plan import plan_run
from regard.runs.planning.recipes import find_recipe, resolve_run
from regard.runs.run import Run
from regard.runs.scores.evaluate import evaluate_sets
from regard.runs.train import train
from regard.runs.verify import verify_resume

LANGUAGE = {
    "task": "language-model",
    "text": {"size": 400},
    "model": {"preset": "gpt-tiny", **SMALL_GPT, "dropout": 0.0, "embedding_dropout": 0.0},
    "train": {"steps": 60, "warmup": 5, "tokens_per_update": 500, "validate_every": 60, "learning_rate": 5e-3},
}
FINE = {name: value for name, value in QUICK.items() if name.startswith("train.")} | {"train.learning_rate": 5e-3}


@pytest.fixture(scope="module")
def language_model(tmp_path_factory) -> Run:
    """A language model pretrained on reviews, without their labels."""
    folder = tmp_path_factory.mktemp("language")
    (folder / "text.txt").write_text("\n\n".join(text for text, _ in reviews(400, seed=9)))
    source = {"paths": [str(folder / "text.txt")], "documents": "blank-lines"}
    settings = LANGUAGE | {"data": {"train": source, "folder": str(folder / "corpus")}}
    return train(settings, out=folder / "run")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reviews")
    return write_reviews(folder / "train.csv"), write_reviews(folder / "test.csv", 100, seed=1)


@pytest.fixture(scope="module")
def fine_tuned(language_model, files, tmp_path_factory) -> Run:
    """A classifier fine-tuned from the language model."""
    data = {"data.train.path": str(files[0]), "data.test.test.path": str(files[1])}
    out = tmp_path_factory.mktemp("runs") / "fine"
    return train("classify", FINE | data | {"init_from": str(language_model.path)}, out=out)


def written(folder, rows, name="a.csv"):
    with (folder / name).open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    return str(folder / name)


def test_a_language_model_is_fine_tuned_to_label(fine_tuned, language_model):
    record = fine_tuned.record
    scores = record.scores["test"]
    assert (
        scores["accuracy"] > 0.9 > scores["majority_baseline"] + 0.3
        and scores["macro_f1"] > 0.9
        and scores["loss"] < 0.5
    )
    assert [each["label"] for each in scores["classes"]] == ["kind", "unkind"]
    assert sum(map(sum, scores["confusion"])) == scores["examples"] == 100
    assert record.settings.plain["model"]["width"] == 32 and record.sources["model.width"].startswith(
        "pretrained model "
    )
    assert record.report.init_from.path == str(language_model.path) and len(record.report.init_from.sha256) == 64
    lines = [json.loads(line) for line in (fine_tuned.path / "metrics.jsonl").read_text().splitlines()]
    assert {"valid_loss", "valid_accuracy", "valid_macro_f1"} <= set(lines[-1])
    assert {"label", "lm"} <= set(lines[0])


def test_tokens_of_the_pretrained_model_keep_their_ids_and_the_checkpoint_holds_the_new_ones(
    fine_tuned, language_model
):
    before, after = read_bundle(language_model.best), read_bundle(fine_tuned.best)
    old, new = before.tokenizers["tokenizer"], after.tokenizers["tokenizer"]
    assert after.vocabularies.target == before.vocabularies.target + 3 == new.size
    text = reviews(1)[0][0]
    assert old.encode(text).ids == new.encode(text).ids
    assert after.facts["labels"] == ["kind", "unkind"] and after.facts["max_length"] == 64 and after.head.outputs == 2


@pytest.mark.parametrize("kind", ["gpt2", "llama"])
def test_a_model_of_hugging_face_is_fine_tuned(kind, files, tmp_path):
    reference = their_folder(tmp_path / "theirs", kind)
    start = f"hf:{tmp_path / 'theirs'}"
    changes = FINE | {"data.train.path": str(files[0]), "init_from": start, "train.steps": 3, "train.warmup": 1}
    run = train("classify", changes, out=tmp_path / "run")
    bundle = read_bundle(run.best)
    assert bundle.settings.width == 16 and bundle.facts["init_from"]["path"] == start
    assert bundle.facts["init_from"]["sha256"] == model_hash(start)
    new = bundle.tokenizers["tokenizer"].token_id("<|extract|>")
    assert new + 1 == bundle.vocabularies.target >= reference.config.vocab_size
    with pytest.raises(ConfigError, match=f"model.layers: 9 contradicts {start}, where it is 2; leave it out."):
        resolve_run(find_recipe("classify"), changes | {"model.layers": 9})


def test_a_classifier_is_trained_from_scratch_too(files, tmp_path):
    run = train("classify", QUICK | {"data.train.path": str(files[0])}, out=tmp_path / "run")
    assert run.record.scores["valid"]["accuracy"] > 0.9 and run.record.report.init_from is None


def test_pairs_encoded_in_both_orders_have_the_same_label_either_way(tmp_path):
    texts = reviews(240)
    rows = [
        (one, other, "same" if label == wanted else "other")
        for (one, label), (other, wanted) in zip(texts[::2], texts[1::2])
    ]
    path = written(tmp_path, [("sentence1", "sentence2", "label"), *rows])
    changes = {"data.train.path": path, "pair_encoding": "both-orders", "train.steps": 6, "model.max_positions": 128}
    run = train("classify", QUICK | changes, out=tmp_path / "run")
    classifier = regard.load(run.path)
    one, other, _ = rows[0]
    result, swapped = classifier((one, other)), classifier((other, one))
    assert result.probabilities == pytest.approx(swapped.probabilities, abs=1e-6) and result.row.texts == (one, other)
    assert 'classifier("your text", "and another").label' in (run.path / "README.md").read_text()


def test_a_language_model_learns_multiple_choice(language_model, tmp_path):
    rows = []
    for number, (text, _) in enumerate(reviews(300)):
        begun, _, rest = text.partition(" , ")
        choices = [rest, " ".join(reversed(rest.split()))]
        rows.append({"context": begun, "choices": choices[:: 1 if number % 2 else -1], "label": 1 - number % 2})
    path = tmp_path / "choices.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    changes = {"data.train.path": str(path), "init_from": str(language_model.path), "train.steps": 60}
    run = train("choose", FINE | changes, out=tmp_path / "run")
    scores = run.record.scores["valid"]
    assert scores["accuracy"] > 0.9 and scores["majority_baseline"] == 0.5 and "macro_f1" not in scores
    card = (run.path / "README.md").read_text()
    assert "The majority baseline is the accuracy of guessing" in card and "chooser(" in card
    assert evaluate_sets(run.path)["valid"]["accuracy"] == scores["accuracy"]


def test_resuming_changes_nothing(files, language_model):
    changes = FINE | {"data.train.path": str(files[0]), "init_from": str(language_model.path), "model.dropout": 0.1}
    assert verify_resume(find_recipe("classify"), changes, 6).is_exact


def test_a_run_resumes_without_its_pretrained_model(files, language_model, tmp_path):
    import shutil

    shutil.copytree(language_model.path, tmp_path / "start")
    changes = FINE | {"data.train.path": str(files[0]), "init_from": str(tmp_path / "start"), "train.steps": 4}
    run = train("classify", changes | {"train.schedule": "constant", "train.warmup": 1}, out=tmp_path / "run")
    shutil.rmtree(tmp_path / "start")
    assert regard.resume(run.path, {"train.steps": 6}).record.steps == 6


def test_a_changed_table_is_refused(tmp_path):
    path = write_reviews(tmp_path / "a.csv", 60)
    run = train(
        "classify", QUICK | {"data.train.path": str(path), "train.steps": 2, "train.warmup": 1}, out=tmp_path / "run"
    )
    write_reviews(path, 61)
    with pytest.raises(RunError, match="the file changed since the run began"):
        regard.resume(run.path, {"train.steps": 3})


def test_the_best_checkpoint_may_be_chosen_by_accuracy(files, tmp_path):
    changes = {"data.train.path": str(files[0]), "train.select_by": "accuracy"}
    run = train("classify", QUICK | changes, out=tmp_path / "run")
    lines = [json.loads(line) for line in (run.path / "metrics.jsonl").read_text().splitlines()]
    better = lambda line: (line["valid_accuracy"], -line["valid_loss"])  # the loss breaks ties
    best = max((line for line in lines if "valid_accuracy" in line), key=better)
    assert run.record.best_step == best["step"]
    for recipe, allowed in (("language-miniature", "loss"), ("translate-miniature", "loss, bleu")):
        with pytest.raises(ConfigError) as error:
            resolve_run(find_recipe(recipe), {"train.select_by": "accuracy"})
        assert str(error.value) == (
            'train.select_by: "accuracy" is for classifiers, taggers and multiple-choice models; choose one of '
            f"{allowed}."
        )
    with pytest.raises(ConfigError, match='"bleu" is for translators; choose one of loss, accuracy, micro_f1'):
        resolve_run(find_recipe("classify"), {"data.train.path": "a.csv", "train.select_by": "bleu"})


def test_suspicious_examples_are_counted_and_reported_once(tmp_path):
    long = " ".join(["and the play"] * 60)
    rows = [(f"well , {text} indeed it was as I say", "kind") for text, _ in reviews(200)]
    rows += [("a bad film", "unkind"), ("a dull book", "unkind"), (rows[0][0], "unkind"), (long, "kind")]
    rows += [("", "kind"), ("the room", "")]
    path = written(tmp_path, [("text", "label"), *rows])
    valid = written(tmp_path, [("text", "label"), *reviews(20, seed=2)], "valid.csv")
    progress = Telling()
    changes = {"data.train.path": path, "data.valid.path": valid, "train.steps": 2, "train.warmup": 1}
    run = train("classify", QUICK | changes, out=tmp_path / "run", progress=progress)
    counts = run.record.report.train
    assert counts.dropped == {"empty": 1, "without a label": 1} and counts.kept == 204 and counts.read == 206
    assert counts.labels == {"kind": 201, "unkind": 3} and counts.contradictory == counts.truncated == 1
    assert "train: 204 of 206 examples kept; dropped: 1 empty, 1 without a label." in progress.said
    assert [each for each in progress.warned if each.startswith("train: ")] == [
        'train: 201 examples are "kind" and only 3 "unkind", so accuracy hides how well that one is predicted; '
        "look at macro F1, and add examples of it.",
        "train: 1 texts occur with different labels, such as "
        f'"{rows[0][0][:60]}…" as kind and as unkind; no model can learn both.',
        "train: 1 of 204 examples are longer than 64 tokens (max_length), and the end of each is left out.",
    ]
    card = (run.path / "README.md").read_text()
    assert "| 1 empty, 1 without a label | kind 201, unkind 3 | 1 | " in card
    silent = Telling()
    train("classify", QUICK | changes | {"preflight": False}, out=tmp_path / "again", progress=silent)
    assert not any(each.startswith("train: ") for each in silent.warned)


def test_the_card_lists_labels_and_the_most_confident_errors(fine_tuned):
    card = (fine_tuned.path / "README.md").read_text()
    scores = fine_tuned.record.scores["test"]
    assert f"| test | 100 | {scores['loss']:.4f} | {scores['accuracy']:.4f} \\[" in card
    assert "### test, by label" in card and "| predicted kind | predicted unkind |" in card
    assert f"regard classify {fine_tuned.path}" in card
    for error in scores["errors"]:
        assert error["label"] != error["predicted"] and f"{error['probability']:.4f}" in card
    values = [error["probability"] for error in scores["errors"]]
    assert values == sorted(values, reverse=True)


def test_other_examples_are_evaluated(fine_tuned, files, tmp_path):
    own = evaluate_sets(fine_tuned.path)
    assert own["test"]["accuracy"] == fine_tuned.record.scores["test"]["accuracy"]
    other = evaluate_sets(fine_tuned.best, LabelSource(path=str(files[1])))
    assert other[str(files[1])]["loss"] == pytest.approx(own["test"]["loss"], abs=1e-6)
    with pytest.raises(RunError, match="a checkpoint alone has no test sets; give --data FILE."):
        evaluate_sets(fine_tuned.best)
    empty = written(tmp_path, [("text", "label"), ("", "kind")])
    with pytest.raises(DataError, match="no example has both a text and a label."):
        evaluate_sets(fine_tuned.best, LabelSource(path=empty))


def test_a_run_is_planned(files, language_model):
    changes = FINE | {"data.train.path": str(files[0]), "init_from": str(language_model.path)}
    plan, prepared = plan_run(resolve_run(find_recipe("classify"), changes).settings)
    assert plan.data["labels"] == 2 == len(prepared.data.labels) and plan.data["init_from"] == changes["init_from"]
    assert plan.data["train_examples"] + plan.data["valid_examples"] == 300


@pytest.mark.parametrize(
    ("rows", "changes", "sentence"),
    [
        ([("", "x")], {}, "no example has both a text and a label."),
        (
            [("a", "x"), ("b", "x")],
            {},
            'every example has the label "x", so there is nothing to distinguish; give some of another.',
        ),
        (
            [(str(n), str(n)) for n in range(60)],
            {},
            "60 labels for 60 examples are too many; name the right column with label_column.",
        ),
    ],
)
def test_examples_that_teach_nothing_are_refused(tmp_path, rows, changes, sentence):
    path = written(tmp_path, [("text", "label"), *rows])
    with pytest.raises(DataError) as error:
        train("classify", QUICK | {"data.train.path": path} | changes, out=tmp_path / "run")
    assert str(error.value) == f"{path}: {sentence}"


def test_sets_that_do_not_fit_together_are_refused(tmp_path, files):
    strange = written(tmp_path, [("text", "label"), ("a film", "kind"), ("a song", "odd")])
    pair = written(tmp_path, [("text_a", "text_b", "label"), ("a film", "a song", "kind")], "pair.csv")
    blank = written(tmp_path, [("text", "label"), ("", "kind")], "blank.csv")
    for path, sentence in (
        (
            strange,
            'valid: the label "odd" (once) does not occur in the training set (kind, unkind); add examples of it '
            "there, or leave these out.",
        ),
        (pair, "valid: it has 2 texts per example, but the training set has 1; name the columns of both."),
        (blank, f"{blank}: no example has both a text and a label."),
    ):
        with pytest.raises(DataError) as error:
            train(
                "classify", QUICK | {"data.train.path": str(files[0]), "data.valid.path": path}, out=tmp_path / "run"
            )
        assert str(error.value) == sentence


def test_settings_that_contradict_the_pretrained_model_are_refused(language_model, files, quick_run, tmp_path):
    start, data = str(language_model.path), {"data.train.path": str(files[0])}
    for changes, sentence in (
        ({"model.width": 64}, f"model.width: 64 contradicts {start}, where it is 32; leave it out."),
        (
            {"model.preset": "gpt2"},
            f'model.preset: "gpt2" cannot be chosen, the model comes from {start}; leave it out.',
        ),
        (
            {"text.size": 900},
            f'text: the tokenizer comes from the pretrained model "{start}"; leave these settings out.',
        ),
        (
            {"init_from": str(quick_run.path)},
            f"init_from: {quick_run.path} is a sequence-to-sequence model, but the task classify starts from a "
            "language model or a text encoder or a bidirectional language model or a word embedding model; name one.",
        ),
        (
            {"max_length": 65},
            "max_length: 65 tokens are more than the 64 positions of the model; lower it.",
        ),
        (
            {"pair_encoding": "both-orders"},
            'pair_encoding: "both-orders" is for two texts per example, and these have one; leave it out.',
        ),
    ):
        with pytest.raises(ConfigError) as error:
            train("classify", FINE | data | {"init_from": start} | changes, out=tmp_path / "run")
        assert str(error.value) == sentence
    assert not (tmp_path / "run").exists()
    settings = resolve_run(find_recipe("classify"), data | {"init_from": start, "model.dropout": 0.3}).settings
    assert settings.model.dropout == 0.3 and settings.train.learning_rate == 0.0015  # 768 / 32 times that of GPT


def test_a_pretrained_model_replaces_a_recipes_model(language_model, files, tmp_path):
    recipe = tmp_path / "mine.toml"
    recipe.write_text(f'task = "classify"\ndata.train.path = "{files[0]}"\ntext.size = 99\nmodel.preset = "gpt2"\n')
    settings = resolve_run(find_recipe(str(recipe)), {"init_from": str(language_model.path)}).settings
    assert settings.model.width == 32 and settings.text.size == 16_000


def test_a_row_from_memory_without_a_label_is_refused(tmp_path):
    with pytest.raises(DataError) as error:
        train("classify", data=[("a house", "noun"), ("to go",)], out=tmp_path / "run")
    assert str(error.value) == (
        "data: row 2 is not (text, label) or (text1, text2, label); give that, or a dict of columns."
    )
    assert not (tmp_path / "run").exists()
