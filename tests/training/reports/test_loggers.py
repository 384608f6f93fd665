"""Loggers: TensorBoard, MLflow and Weights & Biases get the lines of metrics.jsonl, also when resumed."""

import json
import sys
from types import ModuleType, SimpleNamespace

import pytest

from commands import bad, good
from every_task import TASKS
from regard.errors import ConfigError, RunError
from regard.runs.planning.recipes import find_recipe, resolve_run
from regard.training.reports.loggers import check_loggers, open_loggers
from regard.training.reports.metrics_log import read_metrics

LINES = [{"step": 2, "loss": 2.0}, {"step": 4, "loss": 1.5, "valid_loss": 1.75}]


def tell(monkeypatch, name, **content):
    """Install a small fake of a module."""
    module = ModuleType(name)
    vars(module).update(content)
    monkeypatch.setitem(sys.modules, name, module)


def logged(name, folder, step=0):
    logger = open_loggers((name,), folder, step, {"task": "classify", "train.steps": 4})[name]
    for line in LINES:
        logger.write(line)
    logger.close()


def test_curves_reach_tensorboard_and_what_lies_past_the_checkpoint_is_dropped(tmp_path, monkeypatch):
    seen = []

    class SummaryWriter:
        def __init__(self, folder, purge_step):
            seen.append((folder, purge_step))

        def add_scalar(self, name, value, step):
            seen.append((name, value, step))

        def close(self):
            seen.append("closed")

    tell(monkeypatch, "torch.utils.tensorboard", SummaryWriter=SummaryWriter)
    logged("tensorboard", tmp_path, step=1)
    assert seen[0] == (str(tmp_path / "tensorboard"), 2) and seen[-1] == "closed"
    assert seen[1:-1] == [(name, value, line["step"]) for line in LINES for name, value in line.items()]


class FakeMlflow:
    """As much of MLflow's client as is used; what is logged is kept."""

    def __init__(self):
        self.runs, self.experiments = {}, {}

    def get_experiment_by_name(self, name):
        return self.experiments.get(name)

    def create_experiment(self, name):
        self.experiments[name] = SimpleNamespace(experiment_id=str(len(self.experiments)))
        return self.experiments[name].experiment_id

    def create_run(self, experiment, run_name):
        number = f"run{len(self.runs)}"
        self.runs[number] = {"experiment": experiment, "name": run_name, "params": {}, "metrics": [], "ended": 0}
        return SimpleNamespace(info=SimpleNamespace(run_id=number))

    def log_batch(self, run, metrics=(), params=()):
        self.runs[run]["params"] |= dict(params)
        self.runs[run]["metrics"] += [(name, value, step) for name, value, _, step in metrics]

    def set_terminated(self, run):
        self.runs[run]["ended"] += 1


def test_mlflow_gets_settings_and_metrics_and_a_resumed_run_continues_there(tmp_path, monkeypatch):
    client = FakeMlflow()
    entities = SimpleNamespace(Metric=lambda *values: values, Param=lambda *values: values)
    tell(monkeypatch, "mlflow", MlflowClient=lambda: client, entities=entities)
    monkeypatch.delenv("MLFLOW_EXPERIMENT_NAME", raising=False)
    folder = tmp_path / "mine"
    folder.mkdir()
    logged("mlflow", folder)
    expected = [(name, value, line["step"]) for line in LINES for name, value in line.items()]
    run = client.runs["run0"]
    assert run["metrics"] == expected and run["ended"] == 1 and run["name"] == "mine"
    assert run["params"] == {"task": "classify", "train.steps": "4"} and list(client.experiments) == ["regard"]
    logged("mlflow", folder, step=2)
    assert list(client.runs) == ["run0"] and run["metrics"] == expected * 2 and run["ended"] == 2
    monkeypatch.setenv("MLFLOW_EXPERIMENT_NAME", "other")
    logged("mlflow", folder)
    assert list(client.experiments) == ["regard", "other"] and client.runs["run1"]["experiment"] == "1"
    assert json.loads((folder / "loggers.json").read_text(encoding="utf-8")) == {"mlflow": "run1"}


def test_damaged_ids_are_refused_in_one_sentence(tmp_path, monkeypatch):
    entities = SimpleNamespace(Metric=None, Param=None)
    tell(monkeypatch, "mlflow", MlflowClient=FakeMlflow, entities=entities)
    (tmp_path / "loggers.json").write_text('{"mlflow": 7}', encoding="utf-8")
    with pytest.raises(RunError, match=r"loggers.json: this is not the ids of loggers \(mlflow: .*\)"):
        logged("mlflow", tmp_path, step=2)


def test_weights_and_biases_gets_settings_and_lines_and_a_resumed_run_continues_there(tmp_path, monkeypatch):
    seen = []

    def init(**options):
        seen.append(options)
        run = SimpleNamespace(
            id=options["id"] or "abc", define_metric=lambda *name, **axis: seen.append((*name, axis))
        )
        run.log, run.finish = seen.append, lambda: seen.append("finished")
        return run

    tell(monkeypatch, "wandb", init=init)
    monkeypatch.delenv("WANDB_PROJECT", raising=False)
    logged("wandb", tmp_path)
    options = {"project": "regard", "name": tmp_path.name, "dir": str(tmp_path), "id": None, "resume": "allow"}
    options |= {"config": {"task": "classify", "train.steps": 4}}
    assert seen == [options, ("*", {"step_metric": "step"}), *LINES, "finished"]
    seen.clear()
    monkeypatch.setenv("WANDB_PROJECT", "other")
    logged("wandb", tmp_path, step=2)
    assert seen[0] == options | {"id": "abc", "project": "other"}


def test_weights_and_biases_offline_writes_into_the_folder(tmp_path, monkeypatch):
    pytest.importorskip("wandb")
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_SILENT", "true")
    logged("wandb", tmp_path)
    assert [path for path in tmp_path.rglob("*.wandb") if path.stat().st_size > 0]


def test_mlflow_itself_takes_the_lines(tmp_path, monkeypatch):
    mlflow = pytest.importorskip("mlflow")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", (tmp_path / "tracking").as_uri())
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    logged("mlflow", tmp_path)
    number = json.loads((tmp_path / "loggers.json").read_text(encoding="utf-8"))["mlflow"]
    history = mlflow.MlflowClient().get_metric_history(number, "loss")
    assert [(each.step, each.value) for each in history] == [(2, 2.0), (4, 1.5)]


def test_a_logger_that_is_not_installed_is_refused_before_anything_is_read(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "wandb", None)
    monkeypatch.setattr("regard.training.reports.loggers.find_spec", lambda name: None)
    expected = 'train.loggers: wandb is not installed; pip install "regard[wandb]" installs it, or leave it out.'
    with pytest.raises(ConfigError) as error:
        check_loggers(("wandb",))
    assert str(error.value) == expected
    words = TASKS["classify"].words(tmp_path / "data")
    assert bad("train", *words, "train.loggers=wandb", "--out", tmp_path / "run", "-q") == expected
    assert not (tmp_path / "run").exists()


def test_a_run_logs_each_of_its_lines(tmp_path, monkeypatch):
    seen = []
    run = SimpleNamespace(id="abc", define_metric=lambda *_, **__: None, log=seen.append, finish=lambda: None)
    tell(monkeypatch, "wandb", init=lambda **_: run)
    monkeypatch.setattr("regard.training.reports.loggers.find_spec", lambda name: True)
    good("train", *TASKS["classify"].words(tmp_path / "data"), "train.loggers=wandb", "--out", tmp_path / "run", "-q")
    assert seen and seen == read_metrics(tmp_path / "run" / "metrics.jsonl")


def test_several_loggers_are_named_with_commas_or_as_a_list():
    for given in ("mlflow, wandb", ["mlflow", "wandb"]):
        changes = {"data.train.path": "x.csv", "train.loggers": given}
        assert resolve_run(find_recipe("classify"), changes).settings.train.loggers == ("mlflow", "wandb")
    with pytest.raises(ConfigError, match=r"train\.loggers.*'tensorboard', 'mlflow' or 'wandb'"):
        resolve_run(find_recipe("classify"), {"data.train.path": "x.csv", "train.loggers": "neptune"})
