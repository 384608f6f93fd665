import json
import shutil

import numpy as np
import pytest

import regard
from commands import bad, good
from regard import miniature
from regard.checkpoint.bundle import read_weights
from regard.errors import ConfigError, DataError, RunError
from regard.runs.execute import RunSpec, execute
from regard.runs.planning.recipes import find_recipe, resolve_run
from regard.runs.resume import resume
from regard.runs.run import Run
from regard.runs.train import train
from regard.runs.verify import verify_resume


@pytest.fixture
def book(tmp_path, monkeypatch):
    """A folder of stories, and the folder that commands run in."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "books"
    folder.mkdir()
    stories = list(miniature.texts("train", 400))
    (folder / "a.txt").write_text("\n\n".join(stories[:300]), encoding="utf-8")
    (folder / "b.txt").write_text("\n\n".join(stories[300:]), encoding="utf-8")
    return folder


def settings(folder, **more):
    return {
        "data.train.paths": [str(folder)],
        "model.width": 16,
        "text.min_count": 2,
        "train.epochs": 2.0,
        "train.words_per_update": 4096,
        "machine.threads": 1,
        **more,
    }


def test_a_run_trains_and_is_queried(book):
    run = train("vectors", settings(book))
    record = run.record
    assert record.state == "finished" and record.report.train.words > 5000
    losses = [json.loads(line)["pair"] for line in (run.path / "metrics.jsonl").read_text().splitlines()]
    assert losses[-1] < losses[0]
    vectors = regard.load(run.path)
    word = vectors.words[5]
    assert len(vectors.neighbors(word)) == 10 and vectors.width == 16
    assert good("vectors", "neighbors", run.path, word, "--top", 1).startswith(f"{word}\t")
    assert "regard vectors neighbors" in (run.path / "README.md").read_text()
    for form, ending in (("word2vec", ".txt"), ("word2vec-binary", ".bin"), ("glove", ".glove.txt")):
        good("convert", run.path, "--to", form)
        again = regard.load(run.path.with_name(run.path.name + ending))
        assert again.words == vectors.words and np.array_equal(again.vectors, vectors.vectors)
    assert "the file exists" in bad("convert", run.path, "--to", "glove")
    assert any(row["path"].endswith("vectors") for row in json.loads(good("runs", "list", "--json")))


@pytest.mark.parametrize("algorithm", ["skip-gram", "cbow"])
@pytest.mark.parametrize("engine", ["kernel", "batches"])
def test_resuming_on_one_thread_changes_nothing(book, algorithm, engine):
    changes = settings(book, **{"model.algorithm": algorithm, "train.engine": engine})
    verified = verify_resume(find_recipe("vectors"), changes, steps=7)
    assert verified.is_exact, verified


def test_an_interrupted_run_is_resumed(book):
    resolved = resolve_run(find_recipe("vectors"), settings(book))
    straight, cut = Run(book.parent / "straight"), Run(book.parent / "cut")
    execute(straight, RunSpec(resolved))
    execute(cut, RunSpec(resolved, stop_at=2))
    assert cut.record.state == "interrupted" and cut.record.steps == 2
    resume(cut.path)
    assert cut.record.state == "finished"
    one, other = read_weights(straight.latest), read_weights(cut.latest)
    assert all(np.array_equal(one[name].numpy(), other[name].numpy()) for name in one)
    with pytest.raises(RunError, match="this run is finished"):
        resume(cut.path)


def test_text_that_is_known_is_not_counted_again(book):
    train("vectors", settings(book))
    made = next((book.parent / "corpora").glob("*/word-counts.npy"))
    before = made.stat().st_mtime_ns
    train("vectors", settings(book), out="again")
    assert made.stat().st_mtime_ns == before
    with (book / "b.txt").open("a") as file:
        file.write("\n\nOnce more.")
    train("vectors", settings(book), out="third")
    assert made.stat().st_mtime_ns != before


def test_several_threads_train_and_report_that_they_do_not_repeat(book, monkeypatch):
    import torch

    messages = []

    class Messages(regard.progress.Progress):
        def info(self, message):
            messages.append(message)

    threads = torch.get_num_threads()
    try:
        run = train("vectors", settings(book, **{"machine.threads": 2}), progress=Messages())
    finally:
        torch.set_num_threads(threads)
    assert run.record.state == "finished"
    assert any("without locks" in sentence for sentence in messages)
    assert "without locks" in (run.path / "README.md").read_text()


def test_phrases_have_vectors(book):
    text = " ".join(f"new york is big and {word} old york is new" for word in "abcdefgh") + " "
    (book / "a.txt").write_text("\n\n".join([text.replace("old york", f"old w{n % 40}") for n in range(30)]))
    run = train("vectors", settings(book, **{"text.phrases": 1, "text.phrase_threshold": 2.0}))
    assert "new_york" in regard.load(run.path).index


def test_scores_are_kept(book):
    (book.parent / "pairs.txt").write_text("the a 5\na the 4\nthe and 3\n")
    words = json.dumps([str(book.parent / "pairs.txt")])
    good(
        "train", "vectors", "--text", book, "model.width=16", f"evaluation.similarities={words}", "--threads", 1, "-q"
    )
    run = Run(book.parent / "runs" / "vectors")
    assert next(iter(run.scores.values()))["pairs"] == 3
    assert "Spearman" in (run.path / "README.md").read_text()


def test_a_dry_run_counts(book):
    plan = json.loads(good("train", "vectors", "--text", book, "--dry-run", "--json", "-q"))
    assert plan["task"] == "vectors" and plan["train_words"] > 5000 and plan["updates_per_epoch"] == 1
    assert not (book.parent / "runs").exists()


@pytest.mark.parametrize(
    "changes, error, words",
    [
        ({"text.min_count": 10**6}, DataError, "occur 1,000,000 times or more"),
        ({"data.train.paths": ["none.txt"]}, DataError, "none.txt: there is no such file"),
        ({"evaluation.analogies": "none.txt"}, DataError, "none.txt: there is no such file"),
        ({"objective.window": 0}, ConfigError, "objective.window: 0 is out of range"),
        ({"train.optimizer": "adam"}, ConfigError, "train.optimizer: unknown setting"),
        ({"model.preset": "gpt-tiny"}, ConfigError, "the task vectors needs a word vector model"),
        ({"train.learning_rate": 1e30}, RunError, "lower train.learning_rate (now 1.25e+29)"),
    ],
)
def test_mistakes_are_one_sentence(book, changes, error, words):
    with pytest.raises(error) as refused:
        train("vectors", settings(book, **changes))
    assert words in str(refused.value) and "\n" not in str(refused.value)


def test_a_text_without_words_is_refused(book):
    shutil.rmtree(book)
    book.mkdir()
    (book / "a.txt").write_text("… — !\n\n🦊")
    with pytest.raises(DataError, match="there is no text in it"):
        train("vectors", settings(book))
    assert not (book.parent / "runs").exists()


def test_loaded_vectors_name_their_source(book):
    run = train("vectors", settings(book))
    assert repr(regard.load(run.path)).endswith(f" words, 16 dimensions, {run.path})")


def test_a_text_of_one_word_is_refused(book):
    shutil.rmtree(book)
    book.mkdir()
    (book / "a.txt").write_text("hello " * 9, encoding="utf-8")
    with pytest.raises(DataError, match='it has only one word, "hello", which has no context words'):
        train("vectors", settings(book))


def test_the_doctor_reports_whether_there_is_enough_text(book):
    assert "too few for good neighbors" in good("doctor", "vectors", "--text", book)


def test_vectors_are_initialized_from_a_run_and_from_a_file(book):
    first = train("vectors", settings(book), out="first")
    good("convert", "first", "--to", "glove")
    given, stays = regard.load("first"), {"train.learning_rate": 1e-9, "train.final_rate": 1e-9, "train.epochs": 1.0}
    contexts = read_weights(first.best)["contexts.weight"]
    for pretrained, has_contexts in (("first", True), ("first.glove.txt", False)):
        run = train("vectors", settings(book, **stays, init_from=pretrained), out=f"after-{pretrained}")
        vectors, weights = regard.load(run.path), read_weights(run.best)
        assert vectors.words == given.words
        np.testing.assert_allclose(vectors.vectors, given.vectors, atol=1e-4)
        np.testing.assert_allclose(weights["contexts.weight"], contexts if has_contexts else 0.0, atol=1e-4)
        facts = run.record.report.init_from
        assert facts.path == pretrained and facts.covered == len(given.words)
        assert f"Initialized from `{pretrained}`" in (run.path / "README.md").read_text()
    assert verify_resume(find_recipe("vectors"), settings(book, init_from="first"), steps=3).is_exact


@pytest.mark.parametrize(
    "pretrained, sentence",
    [
        ("first", "model.width: 8 is not the dimension 16 of the vectors in first; set model.width=16."),
        ("books", "init_from: books holds no word vectors"),
        ("nowhere.txt", "nowhere.txt: there is no such file"),
        ("others.txt", "init_from: no word of the text has a vector in others.txt"),
    ],
)
def test_vectors_that_cannot_initialize_others_are_refused(book, pretrained, sentence):
    train("vectors", settings(book, **{"train.epochs": 0.5}), out="first")
    (book.parent / "others.txt").write_text("qqqq 1 2 3 4 5 6 7 8\nzzzz 1 2 3 4 5 6 7 8\n")
    with pytest.raises((ConfigError, DataError)) as refused:
        train("vectors", settings(book, **{"model.width": 8}, init_from=pretrained), out="second")
    assert sentence in str(refused.value)
