"""Fine-tuned encoders: every task, from files to metrics."""

import csv
import json
from dataclasses import replace

import pytest

import regard
from encoder_folders import bert_tokenizer, small_encoder_bundle
from labeled import Telling, write_reviews
from regard.checkpoint.bundle import read_bundle, write_bundle
from regard.data.settings.examples import LabelSource, TagSource
from regard.errors import ConfigError, DataError
from regard.runs.planning import autopilot
from regard.runs.planning.plan import plan_run
from regard.runs.planning.recipes import find_recipe, resolve_run
from regard.runs.scores.evaluate import evaluate_sets
from regard.runs.train import train
from regard.runs.verify import verify_resume
from regard.tasks.planning.inputs import Survey
from tuning import BERT, asked, write_choices, write_questions, write_rated, write_tagged

MORE = {"train.steps": 200, "train.validate_every": 100}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tuning")


@pytest.fixture(scope="module")
def labeled(folder):
    source = {"data.train.path": str(write_reviews(folder / "reviews.csv"))}
    return train("classify", BERT | source, out=folder / "labels")


@pytest.fixture(scope="module")
def rated(folder):
    return train("regress", BERT | {"data.train.path": write_rated(folder / "pairs.csv")}, out=folder / "numbers")


@pytest.fixture(scope="module")
def tagging(folder):
    changes = {"data.test.test.path": write_tagged(folder / "test.conll", 60, seed=1)}
    source = {"data.train.path": write_tagged(folder / "words.conll")}
    return train("tag", BERT | source | changes, out=folder / "tags")


@pytest.fixture(scope="module")
def answering(folder):
    source = {"data.train.path": write_questions(folder / "asked.json", silent=0.3)}
    return train("answer", BERT | MORE | source, out=folder / "answers")


def test_an_encoder_learns_classification_with_a_tokenizer_of_its_own(labeled):
    scores, bundle = labeled.record.scores["valid"], read_bundle(labeled.best)
    assert scores["accuracy"] > 0.9 and scores["matthews"] > 0.8
    low, high = scores["intervals"]["accuracy"]
    assert low <= scores["accuracy"] <= high
    assert bundle.tokenizers["tokenizer"].mask_id is not None and bundle.settings.family == "bert"
    lines = [json.loads(line) for line in (labeled.path / "metrics.jsonl").read_text().splitlines()]
    assert "lm" not in lines[0]


def test_an_encoder_learns_regression_in_the_units_of_the_data(rated):
    scores = rated.record.scores["valid"]
    assert scores["spearman"] > 0.8 and scores["pearson"] > 0.8 and scores["mean_absolute_error"] < 5
    assert scores["scores"][0]["name"] == "Spearman %"
    regressor = regard.load(rated.path)
    few, many = regressor([("hat book cup", "hat book"), ("hat book cup", "key key")])
    assert 90 < few.number < 110 < many.number < 130
    errors = [abs(float(each["label"]) - float(each["predicted"])) for each in scores["errors"]]
    assert errors == sorted(errors, reverse=True)


def test_an_encoder_learns_to_tag(tagging):
    scores = tagging.record.scores["test"]
    assert scores["f1"] > 0.9 and scores["accuracy"] > 0.9 and scores["spans"] == 120
    assert [each["label"] for each in scores["classes"]] == ["LOC", "PER"]
    tagger = regard.load(tagging.path)
    answer = tagger("anna smith likes new rome !")
    assert answer.words == ("anna", "smith", "likes", "new", "rome", "!")
    assert [(span.text, span.kind) for span in answer.spans] == [("anna smith", "PER"), ("new rome", "LOC")]
    assert all(0.5 < span.probability <= 1 for span in answer.spans)


def test_an_encoder_learns_to_answer_and_when_not_to(answering):
    scores = answering.record.scores["valid"]
    assert scores["f1"] > 0.9 and scores["answerable_f1"] > 0.85 and scores["unanswerable_exact_match"] > 0.7
    answerer = regard.load(answering.path)
    assert answerer.has_unanswerable and answerer.threshold == scores["threshold"]
    first = next(each for each in asked(20, seed=5) if each["answers"])
    reply = answerer(first["question"], first["context"], count=3)
    assert reply.text == first["answers"][0]["text"] and len(reply.others) == 2
    begin, end = reply.best.begin, reply.best.end
    assert first["context"][begin:end] == reply.text
    assert answerer(first["question"], first["context"], threshold=-1e9).text == ""
    assert answerer(first["question"], first["context"], threshold=1e9).text == reply.text


def test_an_encoder_learns_to_choose(folder):
    run = train("choose", BERT | {"data.train.path": write_choices(folder / "choices.jsonl")}, out=folder / "choices")
    assert run.record.scores["valid"]["accuracy"] > 0.9
    chooser = regard.load(run.path)
    assert chooser("a friend called anna of rome", ["key the has", "has the key of ben"]).number == 1


def test_a_batch_is_predicted_as_one_by_one(rated, tagging, answering):
    for run, given in (
        (rated, [("hat book", "key"), ("cup " * 9, "key key"), ("a", "b")]),
        (tagging, ["anna likes rome .", "the new paris sees ben smith today and so on and on", "oslo"]),
        (answering, [(each["question"], each["context"]) for each in asked(6, seed=3)]),
    ):
        pipeline = regard.load(run.path)
        together = pipeline(given)
        for each, answer in zip(given, together, strict=True):
            alone = pipeline([each])[0]
            for name in ("tags", "text", "words"):
                assert getattr(alone, name, None) == getattr(answer, name, None)
            if run is rated:
                assert alone.number == pytest.approx(answer.number, abs=1e-3)


def test_a_fine_tuned_model_is_fine_tuned_for_another_task(labeled, folder, tmp_path):
    source = {"data.train.path": write_tagged(tmp_path / "a.conll", 60), "init_from": str(labeled.path)}
    quick = {"train.steps": 3, "train.warmup": 1, "train.validate_every": 3}
    run = train("tag", source | quick, out=tmp_path / "run")
    before, after = read_bundle(labeled.best), read_bundle(run.best)
    assert after.head.kind == "token-classification" and after.settings == before.settings
    assert run.record.settings.plain["train"]["learning_rate"] == pytest.approx(3e-5 * 768 / 32)
    drift = before.model.body.embedding.table.weight - after.model.body.embedding.table.weight
    assert 0 < drift.abs().max() < 0.1


@pytest.mark.parametrize("wanted, length", [(None, 20), (28, 28)])
def test_max_length_is_that_of_pretraining_unless_set(folder, tmp_path, wanted, length):
    write_bundle(tmp_path / "bert", small_encoder_bundle(bert_tokenizer(), {"length": 20}, max_positions=32))
    source = {
        "data.train.path": str(write_reviews(tmp_path / "reviews.csv", 24)),
        "init_from": str(tmp_path / "bert"),
    }
    run = train(
        "classify", source | {"max_length": wanted, "train.steps": 1, "train.warmup": 0}, out=tmp_path / "run"
    )
    assert read_bundle(run.best).facts["max_length"] == length


def test_fine_tuning_takes_three_epochs_of_many_rows_unless_set(labeled, folder, monkeypatch):
    monkeypatch.setattr(autopilot, "survey", lambda source, lines: Survey(20_000, 1_000_000))
    source = {"data.train.path": str(folder / "reviews.csv"), "init_from": str(labeled.path)}
    settings = resolve_run(find_recipe("classify"), source).settings
    train_settings = settings.train.planned(10)
    assert (train_settings.steps, train_settings.warmup, train_settings.validate_every) == (30, 3, 3)
    assert settings.train.examples_per_update == 32 and settings.train.select_by == "accuracy"
    assert settings.train.schedule == "linear" and settings.train.optimizer == "adamw"
    plan, _ = plan_run(settings)
    assert plan.epochs == 3.0 and plan.updates == 3 * plan.updates_per_epoch
    given = resolve_run(find_recipe("classify"), source | {"train.steps": 7}).settings.train
    assert given.epochs is None and given.planned(10).steps == 7
    both = resolve_run(find_recipe("classify"), source | {"train.steps": 7, "train.epochs": 0.5}).settings.train
    assert both.planned(10).steps == 5
    tokens = resolve_run(find_recipe("classify"), source | {"train.tokens_per_update": 500}).settings.train
    assert tokens.examples_per_update is None and tokens.epochs == 3
    scratch = {"data.train.path": str(folder / "reviews.csv"), "model.preset": "bert-tiny"}
    assert resolve_run(find_recipe("classify"), scratch).settings.train.epochs == 10


def test_a_run_of_epochs_ends_and_resumes_when_given_more(folder, tmp_path):
    changes = {name: value for name, value in BERT.items() if name != "train.steps"}
    source = {"data.train.path": str(write_reviews(tmp_path / "a.csv", 80)), "train.epochs": 2}
    run = train("classify", changes | source | {"train.warmup": 1, "train.validate_every": 2}, out=tmp_path / "run")
    steps = run.record.steps
    assert steps == run.record.updates and run.record.state == "finished"
    with pytest.raises(regard.RegardError, match="finished at step .* give train.epochs=N above those it has had"):
        regard.resume(run.path)
    assert regard.resume(run.path, {"train.epochs": 3}).record.steps > steps


@pytest.mark.parametrize("task", ["regress", "tag", "answer"])
def test_resuming_changes_nothing(task, tmp_path):
    write = {"regress": write_rated, "tag": write_tagged, "answer": write_questions}[task]
    source = {
        "data.train.path": write(
            tmp_path / ("a.json" if task == "answer" else "a.csv" if task == "regress" else "a.conll"), 60
        )
    }
    changes = BERT | source | {"model.dropout": 0.1}
    assert verify_resume(find_recipe(task), changes, 4).is_exact


def test_every_set_has_a_passport_and_two_models_are_compared(tagging, labeled, folder, tmp_path):
    facts = json.loads((tagging.path / "scores" / "test.json").read_text())
    assert facts["set"] == "test" and facts["scores"][0]["signature"] == "60 sentences|conlleval"
    lines = (tagging.path / "scores" / "test.outputs.txt").read_text().splitlines()
    assert len(lines) == 60 and set(" ".join(lines).split()) <= {"O", "B-PER", "I-PER", "B-LOC", "I-LOC"}
    quick = {"train.steps": 2, "train.warmup": 1, "train.validate_every": 2}
    settings = BERT | {"data.train.path": str(folder / "words.conll")} | quick
    worse = train("tag", settings | {"data.test.test.path": str(folder / "test.conll")}, out=tmp_path / "worse")
    evaluated = evaluate_sets(tagging.path, against=worse.path)["test"]
    (f1, _) = evaluated.comparison.differences
    assert f1.metric.label == "F1" and f1.is_significant and f1.first_is_better
    again = evaluate_sets(tagging.path, against=worse.path / "scores" / "test.json")["test"]
    assert again.comparison.differences == evaluated.comparison.differences
    with pytest.raises(DataError, match="the sources of their test sets differ"):
        source = TagSource(path=str(folder / "words.conll"))
        evaluate_sets(tagging.path, source, against=worse.path / "scores" / "test.json")
    with pytest.raises(ConfigError, match='its task is "classify", and only models of the same task'):
        evaluate_sets(tagging.path, against=labeled.path)
    with pytest.raises(ConfigError, match="--test-set other: .* is a tagger, whose test sets are test; name one of"):
        evaluate_sets(tagging.path, test_set="other")


def test_cards_show_metrics_intervals_and_errors(labeled, rated, tagging, answering):
    card = labeled.card().read_text()
    assert "confusion-valid.png" in card and (labeled.path / "confusion-valid.png").stat().st_size > 1000
    assert "95 % interval" in card and "Matthews" in card
    assert "largest errors" in (rated.path / "README.md").read_text()
    card = (tagging.path / "README.md").read_text()
    assert "### test, by label" in card and f"regard tag {tagging.path}" in card
    card = (answering.path / "README.md").read_text()
    assert "exact match of unanswerable questions" in card and "threshold" in card


def test_the_next_token_loss_is_for_language_models_only(folder, tmp_path):
    source = {"data.train.path": str(folder / "reviews.csv"), "objective.lm_weight": 0.5}
    with pytest.raises(ConfigError, match="objective.lm_weight: 0.5 is for language models"):
        train("classify", BERT | source, out=tmp_path / "run")


def test_tags_and_answers_need_an_encoder(folder, quick_run):
    for changes, sentence in (
        ({"model.preset": "gpt-tiny"}, '"gpt-tiny" is a language model, but the task tag needs a text encoder'),
        (
            {"init_from": str(quick_run.path)},
            "is a sequence-to-sequence model, but the task tag starts from a text encoder",
        ),
    ):
        with pytest.raises(ConfigError) as error:
            resolve_run(find_recipe("tag"), {"data.train.path": "a.conll"} | changes)
        assert sentence in str(error.value)


def test_warnings_count_in_the_unit_of_the_task(tmp_path):
    text = "anna\tB-PER\nleaves\tO\n\nanna\tO\nleaves\tO\n\n" + "".join("the\tO\n" * 70) + "\nben\tB-PER\n"
    (tmp_path / "a.conll").write_text(text)
    valid = write_tagged(tmp_path / "v.conll", 5)
    progress = Telling()
    changes = {"data.train.path": str(tmp_path / "a.conll"), "train.steps": 1, "train.warmup": 0}
    (tmp_path / "v.conll").write_text("ben\tB-PER\n")
    train("tag", BERT | changes | {"data.valid.path": valid}, out=tmp_path / "run", progress=progress)
    assert "train: 4 of 4 sentences kept; dropped: none." in progress.said
    assert [each for each in progress.warned if each.startswith("train: ")] == [
        'train: 1 texts occur with different labels, such as "anna leaves" as B-PER O and as O O; no model can learn '
        "both.",
        "train: 1 of 4 sentences are longer than 64 tokens (max_length), and each is split into chunks "
        "without context from each other.",
    ]


def test_other_sets_must_fit(tagging, rated, tmp_path):
    (tmp_path / "a.conll").write_text("anna\tB-THING\n")
    with pytest.raises(DataError, match='the label "B-THING" .once. does not occur in the training set'):
        evaluate_sets(tagging.path, TagSource(path=str(tmp_path / "a.conll")))
    with (tmp_path / "a.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("text", "score"), ("a", "1"), ("b", "2")])
    with pytest.raises(DataError, match="it has 1 texts per example, but the training set has 2"):
        evaluate_sets(rated.path, LabelSource(path=str(tmp_path / "a.csv")))


def test_numbers_that_are_all_the_same_teach_nothing(tmp_path):
    (tmp_path / "a.csv").write_text("text,score\n" + "".join(f"word {n},3\n" for n in range(60)))
    with pytest.raises(DataError, match="every example has the number 3"):
        train("regress", BERT | {"data.train.path": str(tmp_path / "a.csv")}, out=tmp_path / "run")


def test_a_bi_encoder_predicts_from_the_cosine_of_both_vectors(tmp_path):
    path = write_rated(tmp_path / "a.csv", 200, alike=True)
    changes = {"data.train.path": path, "pair_encoding": "bi-encoder", "train.steps": 60}
    run = train("regress", BERT | changes, out=tmp_path / "run")
    assert run.record.scores["valid"]["spearman"] > 0.8
    bundle, regressor = read_bundle(run.best), regard.load(run.path)
    assert bundle.head.kind == "similarity" and bundle.head.pooling == "mean"
    one, other = regressor([("key hat", "cup"), ("cup", "key hat")])
    assert one.number == pytest.approx(other.number, abs=1e-3)
    assert regressor(("key hat", "key hat")).number == pytest.approx(110, abs=1e-3)


def test_pair_encoding_and_pooling_must_fit(folder, tmp_path):
    source = {"data.train.path": str(write_reviews(tmp_path / "a.csv", 30))}
    (tmp_path / "b.csv").write_text("text,score\n" + "".join(f"word {n},{n % 5}\n" for n in range(60)))
    with pytest.raises(
        ConfigError, match='pair_encoding: "bi-encoder" is for two texts per example, and these have one'
    ):
        changes = BERT | {"data.train.path": str(tmp_path / "b.csv"), "pair_encoding": "bi-encoder"}
        train("regress", changes, out=tmp_path / "run")
    with pytest.raises(ConfigError, match='pooling: "mean" is for text encoders'):
        train("classify", source | {"model.preset": "gpt-tiny", "pooling": "mean"}, out=tmp_path / "run")


def test_a_text_embedding_model_keeps_its_pooling(tmp_path, rated, folder):
    bundle = read_bundle(rated.best)
    made = replace(
        bundle, task="masked-language-model", model=bundle.model.body, facts={"embed": {"pooling": "mean"}}, head=None
    )
    write_bundle(tmp_path / "pretrained", made)
    quick = {
        "init_from": str(tmp_path / "pretrained"),
        "train.steps": 2,
        "train.warmup": 1,
        "train.validate_every": 2,
    }
    pairs = train("regress", quick | {"data.train.path": str(folder / "pairs.csv")}, out=tmp_path / "pairs")
    assert read_bundle(pairs.best).facts["pair_encoding"] == "bi-encoder"
    reviews = str(write_reviews(tmp_path / "reviews.csv", 40))
    labels = train("classify", quick | {"data.train.path": reviews}, out=tmp_path / "labels")
    assert read_bundle(labels.best).head.pooling == "mean"
    chosen = {"data.train.path": reviews, "pooling": "token"}
    assert read_bundle(train("classify", quick | chosen, out=tmp_path / "chosen").best).head.pooling == "token"
