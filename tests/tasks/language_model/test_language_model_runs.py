"""Language models from text files to scores."""

import json
import math
from dataclasses import replace

import pytest

import regard
from regard.data.settings.text import TextSource
from regard.errors import ConfigError, DataError, RunError
from regard.progress import Progress
from regard.runs.planning.plan import plan_run
from regard.runs.planning.recipes import find_recipe, resolve_run
from regard.runs.scores.evaluate import evaluate_sets
from regard.runs.verify import verify_resume
from regard.tasks.language_model.task import LanguageEvaluation

SMALL = {
    "text.size": 400,
    "model.preset": "gpt-tiny",
    "model.width": 32,
    "model.heads": 2,
    "model.layers": 2,
    "model.feed_forward_width": 64,
    "model.max_positions": 32,
    "train": {"steps": 30, "tokens_per_update": 512, "warmup": 5, "validate_every": 10, "learning_rate": 5e-3},
}
RECURRENT = {
    "text.size": 400,
    "model.preset": "lstm-lm",
    "model.width": 32,
    "model.embedding_width": 16,
    "model.layers": 1,
    "window": 24,
    "train": {"steps": 30, "tokens_per_update": 512, "warmup": 5, "validate_every": 10, "learning_rate": 2e-2},
}


class Messages(Progress):
    """Keeps what is reported."""

    def __init__(self):
        self.messages = []

    def info(self, message):
        self.messages.append(message)


STORIES = {"data.train": {"paths": ["miniature:train"], "max_rows": 300}}


@pytest.fixture
def text(tmp_path):
    """A folder of files, each a document."""
    folder = tmp_path / "books"
    folder.mkdir()
    for number, document in enumerate(regard.miniature.documents("train", 120)):
        (folder / f"{number:03}.txt").write_text(document + "\n", encoding="utf-8")
    return folder


def train(tmp_path, settings, **more):
    own = {"data.folder": str(tmp_path / "corpus")}
    return regard.train("language-model", settings | own | more, out=tmp_path / "run")


@pytest.mark.parametrize(
    "settings", [pytest.param(SMALL, id="gpt"), pytest.param(RECURRENT, id="lstm", marks=pytest.mark.slow)]
)
def test_a_folder_of_text_becomes_a_model_with_scores_and_a_card(tmp_path, text, settings):
    run = train(tmp_path, settings, **{"data.train.paths": [str(text)]})
    record = run.record
    assert record.state == "finished" and record.task == "language-model"
    scores = record.scores["valid"]
    assert scores["tokens"] == record.report.valid.tokens
    total = scores["loss"] * scores["tokens"]
    assert scores["perplexity"] == pytest.approx(math.exp(scores["loss"]))
    assert scores["bits_per_byte"] == pytest.approx(total / math.log(2) / record.report.valid.bytes)
    assert scores["word_perplexity"] == pytest.approx(math.exp(total / record.report.valid.words))
    losses = [line["valid_loss"] for line in _metrics(run) if "valid_loss" in line]
    assert losses[-1] < losses[0]
    card = (run.path / "README.md").read_text(encoding="utf-8")
    assert "regard generate" in card and "bits per byte" in card and str(text) in card
    assert (run.path / "curves.png").is_file()


def _metrics(run):
    return [json.loads(line) for line in (run.path / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("settings", [SMALL, RECURRENT], ids=["gpt", "lstm"])
def test_an_interruption_changes_nothing(tmp_path, settings):
    changes = settings | STORIES | {"data.folder": str(tmp_path / "corpus")}
    assert verify_resume(find_recipe("language-model"), changes, steps=8).is_exact


def test_text_that_changed_is_refused_unless_it_was_meant_to(tmp_path, text):
    run = train(tmp_path, SMALL, **{"data.train.paths": [str(text)]})
    (text / "000.txt").write_text("Something else altogether.\n", encoding="utf-8")
    with pytest.raises(RunError, match="The training data is not what the run began with"):
        regard.resume(run.path, {"train.steps": 40})
    assert regard.resume(run.path, {"train.steps": 40}, force=True).record.steps == 40


def test_the_tokenizer_and_the_text_are_made_once(tmp_path, text, monkeypatch):
    paths = {"data.train.paths": [str(text)]}
    first = train(tmp_path, SMALL, **paths)
    monkeypatch.setattr("regard.tasks.text.tokenizer.train_tokenizer", None)  # would be called again
    settings = SMALL | paths | {"data.folder": str(tmp_path / "corpus"), "seed": 2}
    second = regard.train("language-model", settings, out=tmp_path / "second")
    assert second.record.report.hash == first.record.report.hash


def test_added_text_is_tokenized_alone(tmp_path, text, monkeypatch):
    """The tokenizer is kept as long as most of the text is what it was made from, and nothing is read twice."""
    paths = {"data.train.paths": [str(text)]}
    train(tmp_path, SMALL, **paths)
    made = (tmp_path / "corpus" / "tokenizer.json").read_bytes()
    (text / "999.txt").write_text("Once more, with feeling.\n" * 30, encoding="utf-8")
    (text / "000.txt").write_text("It was changed.\n" * 9, encoding="utf-8")
    progress, encoded = Messages(), []
    encode = regard.text.tokenizer.Tokenizer.encode_batch
    monkeypatch.setattr(
        "regard.text.tokenizer.Tokenizer.encode_batch",
        lambda self, texts: encoded.extend(texts) or encode(self, texts),
    )
    settings = SMALL | paths | {"data.folder": str(tmp_path / "corpus")}
    regard.train("language-model", settings, out=tmp_path / "second", progress=progress)
    assert sorted(text.split()[0] for text in encoded) == ["It", "Once"]
    assert (tmp_path / "corpus" / "tokenizer.json").read_bytes() == made
    assert progress.messages[0] == (
        f"{tmp_path / 'corpus' / 'tokenizer.json'}: trained on 119 of these 121 inputs before, and kept, so that "
        f"only the others are tokenized; delete it to train one on all."
    )
    (text / "big.txt").write_text("Something else entirely.\n" * 3000, encoding="utf-8")
    regard.train("language-model", settings, out=tmp_path / "third", progress=progress)
    assert (tmp_path / "corpus" / "tokenizer.json").read_bytes() != made


def test_a_run_is_evaluated_on_other_text_and_on_its_own(tmp_path, text):
    run = train(tmp_path, SMALL, **{"data.train.paths": [str(text)]})
    own = evaluate_sets(run.path)["valid"]
    assert replace(own, files=()).to_dict() == run.record.scores["valid"]
    source = TextSource(paths=(str(text / "001.txt"),))
    (default,) = evaluate_sets(run.path, source).values()
    closer = evaluate_sets(run.path, source, options=LanguageEvaluation(stride=1))[source.name]
    assert default["tokens"] == closer["tokens"]
    assert default.decode["stride"] == 16 and closer.decode["stride"] == 1
    with pytest.raises(RunError, match="a checkpoint alone has no test sets; give --text FILE"):
        evaluate_sets(run.best)


def test_a_plan_counts_the_text(tmp_path):
    changes = SMALL | STORIES | {"data.folder": str(tmp_path / "corpus")}
    plan = plan_run(resolve_run(find_recipe("language-model"), changes).settings)[0].to_dict()
    assert plan["window"] == 32 and plan["train_tokens"] > plan["valid_tokens"] > 0 and plan["vocabulary"] <= 400


def test_mistakes_are_one_sentence(tmp_path):
    def resolved(changes):
        return resolve_run(find_recipe("language-model"), changes)

    with pytest.raises(ConfigError, match="it names no training data; give --text FILE or --text FOLDER"):
        resolved({})
    with pytest.raises(ConfigError, match='model.preset: "transformer-tiny" is a sequence-to-sequence model'):
        resolved(STORIES | {"model.preset": "transformer-tiny"})
    with pytest.raises(ConfigError, match='train.select_by: "bleu" is for translators; choose one of loss'):
        resolved(STORIES | {"train.select_by": "bleu"})
    with pytest.raises(ConfigError, match="window: 64 tokens are more than the 32 positions of the model"):
        train(tmp_path, SMALL | STORIES | {"window": 64})
    (tmp_path / "empty.txt").write_text(" \n")
    with pytest.raises(DataError, match=r"empty.txt: there is no text in it"):
        train(tmp_path, SMALL | {"data.train.paths": [str(tmp_path / "empty.txt")]})
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9\n")
    with pytest.raises(DataError, match=r"latin.txt: line 1 is not UTF-8"):
        train(tmp_path, SMALL | {"data.train.paths": [str(tmp_path / "latin.txt")]})
    with pytest.raises(DataError, match="there is no such file"):
        train(tmp_path, SMALL | {"data.train.paths": [str(tmp_path / "nothing.txt")]})
    with pytest.raises(DataError, match="data: row 1 is not a text; give that, or a dict of columns"):
        regard.train("language-model", SMALL, data=[("a", "b")])


def test_bytes_are_the_default_of_bpe_alone():
    settings = lambda **changes: resolve_run(find_recipe("language-model"), STORIES | changes).settings.text
    assert settings().pretokenizer == "byte-level" and settings(**{"text.kind": "char"}).pretokenizer == "metaspace"
    assert settings(**{"text.pretokenizer": "metaspace"}).pretokenizer == "metaspace"
