"""Tasks of rows: one of a package of others, installed by its entry point, does all that a built-in task does."""

import csv
import json
import shutil
from importlib import import_module
from pathlib import Path

import pytest
import torch

import regard
from commands import bad, good
from installed import installed, write_package
from regard import plugins
from regard.errors import CheckpointError, ConfigError, DataError
from regard.runs.run import Run
from regard.tasks.finetune.rows import RowPipeline

POINTS = {"regard.tasks": {"topics": "regard_topics:TASK"}}
PAGE = Path(__file__).parents[3] / "docs" / "plugins.md"
CODE = PAGE.read_text(encoding="utf-8").partition("```python\n")[2].partition("```")[0]
"""The one file of the package: the example of the documentation."""
WORDS = {"sport": "goal", "money": "price", "weather": "rain"}
TINY = ["model.layers=1", "model.width=16", "model.heads=2", "model.feed_forward_width=16", "text.size=300"]
TINY += ["train.warmup=1", "machine.threads=1", "max_length=32", "preflight=false"]


def write_topics(path: Path) -> Path:
    """Write 48 texts with the topics whose words they hold, none to three of them."""
    names = list(WORDS)
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["text", "topics"])
        for number in range(48):
            chosen = [name for bit, name in enumerate(names) if number >> bit & 1]
            rows.writerow([f"text {number} of {' '.join(WORDS[name] for name in chosen)}", "|".join(chosen)])
    return path


def options(folder: Path, steps: int) -> list[object]:
    return ["topics", "--data", write_topics(folder / "news.csv"), *TINY, f"train.steps={steps}", "--device", "cpu"]


@pytest.fixture
def package(monkeypatch, tmp_path):
    installed(monkeypatch, write_package(tmp_path / "package", "regard-topics", POINTS, {"regard_topics": CODE}))
    return tmp_path / "package"


@pytest.fixture
def topics(package):
    """The module of the package."""
    return import_module("regard_topics")


@pytest.fixture
def run(package, made_once, tmp_path) -> Run:
    """A trained model of the task; a copy, since it is resumed and scored."""

    def make(folder: Path) -> None:
        folder.mkdir()
        good("train", *options(folder, 4), "--out", folder / "run", "-q")

    return Run(Path(shutil.copytree(made_once("topics", make) / "run", tmp_path / "run")))


def test_it_trains_resumes_and_is_evaluated_against_another(run, tmp_path):
    record = run.record
    assert record.task == "topics" and record.steps == 4 and record.packages == {"topics": "regard-topics"}
    good("train", "--resume", run.path, "train.steps=6", "-q")
    assert run.record.steps == 6
    scores = json.loads(good("evaluate", run.path, "--against", run.path, "--json", "-q"))["valid"]
    assert 0 <= scores["micro_f1"] <= 1 and 0 <= scores["exact_match"] <= 1
    assert scores["against"]["differences"][0]["value"] == 0
    assert "topic tagger" in good("evaluate", run.path, "-q") or (run.path / "scores").is_dir()
    card = run.card().read_text(encoding="utf-8")
    assert "task `topics`" in card and "micro F1" in card


def test_it_is_examined_and_raced(package, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = options(tmp_path, 2)
    assert "sentence pairs" not in good("doctor", *words, "--quick", "-q")
    small = [word for word in words if not str(word).startswith("train.steps")]
    race = ["race", *small, "--models", "bert-tiny,bert-mini", "--budget", "2 steps", "--out", "race", "-q"]
    good(*race)
    assert "micro F1" in Path("race/report.html").read_text(encoding="utf-8")


def test_it_is_loaded_and_predicts(run, topics, tmp_path):
    model = regard.load(run.path, task="topics")
    assert isinstance(model, RowPipeline) and model.task == "topics"
    result = model("A goal at any price.")
    assert isinstance(result, topics.TopicResult) and set(result.probabilities) == set(WORDS)
    assert model("A goal at any price.", threshold=0.999).topics == ()
    many = model(["A goal at any price.", "rain"], threshold=0.001)
    assert [each.topics for each in many] == [("money", "sport", "weather")] * 2
    assert many[0].text == "money|sport|weather" and many[0].probabilities == pytest.approx(result.probabilities)
    assert result.to_dict()["text"] == "A goal at any price." and next(model.map(iter(["rain"]))).row.text == "rain"
    (tmp_path / "new.csv").write_text("text\nA goal\n", encoding="utf-8")
    table = model.table(tmp_path / "new.csv", threshold=0.001)
    assert [each.topics for each in table.results if each] == [("money", "sport", "weather")]
    with pytest.raises(ConfigError, match="threshold: 2 is out of range, it must be less than 1"):
        model("A goal.", threshold=2)
    with pytest.raises(DataError, match="line 2 is empty; give some text."):
        model(["A goal.", " "])


def test_it_is_called_from_the_command_line(run, tmp_path):
    for verb in ("topics", "predict"):
        assert good(verb, run.path, "A goal", "rain", "--threshold", "0.001", "-q") == "money|sport|weather\n" * 2
    row = json.loads(good("topics", run.path, "A goal", "--threshold", "0.999", "--json", "-q"))
    assert row["text"] == "A goal" and row["topics"] == [] and set(row["probabilities"]) == set(WORDS)
    (tmp_path / "new.csv").write_text("text\nA goal\n", encoding="utf-8")
    table = good("topics", run.path, "--file", tmp_path / "new.csv", "--threshold", "0.001", "-q")
    assert table == "text,topics\nA goal,money|sport|weather\n"


def test_its_losses_leave_out_rows_that_fill_a_bucket(topics):
    from regard.objectives.head import HeadObjective

    scores, labels = torch.randn(3, 4), torch.ones(3, 4)
    padded = torch.cat([labels, torch.full((2, 4), torch.nan)])
    more = torch.cat([scores, torch.randn(2, 4)]).requires_grad_()
    objective = HeadObjective(losses=topics.TASK.losses)
    total = objective._sum(more, padded)
    assert total.item() == pytest.approx(topics.TASK.losses(scores, labels).sum().item())
    total.backward()
    assert more.grad[:3].all() and not more.grad[3:].any()


def test_rows_are_read_from_columns_of_their_names(topics, tmp_path):
    from regard.data.settings.examples import ExampleSource
    from regard.progress import SILENT

    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "one", "topics": ["a", "b"]}\n{"text": "two"}\n', encoding="utf-8")
    rows, columns = topics.TASK.read(ExampleSource(path=str(path)), SILENT, {})
    assert rows == [topics.TopicRow("one", ("a", "b")), topics.TopicRow("two", ())] and columns == {}
    path = tmp_path / "b.csv"
    path.write_text("Topics,text\na | b,one\n,two\n", encoding="utf-8")
    assert topics.TASK.read(ExampleSource(path=str(path)), SILENT, {})[0] == rows
    assert topics.TASK.read(ExampleSource(path=str(path), max_rows=1), SILENT, {})[0] == rows[:1]
    path.write_text("title,topics\none,a\n", encoding="utf-8")
    with pytest.raises(DataError, match=r'b.csv: there is no column "text" \(title, topics\).'):
        topics.TASK.read(ExampleSource(path=str(path)), SILENT, {})
    path = tmp_path / "c.jsonl"
    path.write_text('{"text": 7}\n', encoding="utf-8")
    with pytest.raises(DataError, match="c.jsonl: record 1: text is 7, which is no text; correct it."):
        topics.TASK.read(ExampleSource(path=str(path)), SILENT, {})


def test_a_model_of_a_task_that_is_not_installed_names_its_package(run, package, monkeypatch):
    shutil.rmtree(package)
    installed(monkeypatch)
    sentence = '"topics" comes from the package regard-topics, which is not installed; pip install regard-topics.'
    with pytest.raises(CheckpointError) as error:
        regard.load(run.path)
    assert str(error.value) == f"{run.best / 'config.json'}: {sentence}"
    assert bad("card", run.path) == f"{run.path / 'run.json'}: {sentence}"


def test_facts_that_do_not_fit_the_head_are_refused(run, topics):
    path = run.best / "config.json"
    config = json.loads(path.read_text(encoding="utf-8"))
    bundle = regard.load(run.path).bundle
    bundle.facts["topics"] = config["topics"][:1]
    with pytest.raises(CheckpointError, match="the facts of this model are for 1 outputs of its head"):
        topics.TASK.pipeline(bundle, plugins.LoadOptions())
