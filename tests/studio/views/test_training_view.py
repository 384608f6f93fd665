import time

import pytest

from regard.errors import ConfigError, RunError
from regard.runs.run import Run
from regard.studio.settings import StudioSettings
from regard.studio.views.runs import RunRequest
from regard.studio.views.training import (
    FormRequest,
    RecipesRequest,
    StartRequest,
    resume_run,
    show_form,
    show_log,
    show_recipes,
    start_run,
    stop_run,
)

QUICK = {
    "data.train.max_rows": 1500,
    "data.valid.max_rows": 20,
    "data.test.test.max_rows": 5,
    **{f"data.test.unseen-{part}.max_rows": 2 for part in ("pairs", "cases", "depth")},
    "text.size": 700,
    "model.width": 32,
    "model.feed_forward_width": 32,
    "model.encoder_layers": 1,
    "model.decoder_layers": 1,
    "train.steps": 4000,
    "train.save_every": 5,
    "validation.bleu_sentences": 2,
    "preflight": False,
}


def wait(until, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if until():
            return True
        time.sleep(0.2)
    return False


def test_recipes_and_tasks_are_listed(tmp_path):
    lines = {each.name: each for each in show_recipes(StudioSettings(runs=tmp_path), RecipesRequest()).recipes}
    assert lines["translate-miniature"].task == "translate" and not lines["translate-miniature"].data_flags
    assert "--data" in lines["classify"].data_flags


def test_a_form_has_every_setting_with_its_value_and_reason(tmp_path):
    settings = StudioSettings(runs=tmp_path)
    view = show_form(settings, FormRequest(recipe="translate-miniature", values={"train.steps": "7"}))
    fields = {each.name: each for each in view.fields}
    assert (fields["train.steps"].value, fields["train.steps"].source) == ("7", "the command line")
    assert "adamw" in fields["train.optimizer"].choices and fields["train.optimizer"].doc
    assert fields["seed"].source == "default" and view.command == "regard train translate-miniature train.steps=7"
    needed = [each for each in show_form(settings, FormRequest(recipe="classify")).fields if each.is_required]
    assert [each.name for each in needed] == ["data.train.path"]


@pytest.mark.parametrize(
    ("recipe", "values", "sentence"),
    [
        ("/etc/passwd", {}, 'there is no recipe or task "/etc/passwd"'),
        ("translate-miniature", {"--overwrite": "1"}, "is not the name of a setting"),
        ("translate-miniature", {"train.stepz": "1"}, "did you mean"),
        ("translate-miniature", {"train.steps": "many"}, "train.steps"),
    ],
)
def test_mistakes_are_told_in_one_sentence(tmp_path, recipe, values, sentence):
    with pytest.raises(ConfigError) as error:
        show_form(StudioSettings(runs=tmp_path), FormRequest(recipe=recipe, values=values))
    assert sentence in str(error.value)


@pytest.mark.parametrize("name", ["../x", "a b", "-x", "a/../../x", ""])
def test_a_new_run_stays_in_the_folder(tmp_path, name):
    asked = StartRequest(recipe="translate-miniature", values={}, run=name)
    with pytest.raises((ConfigError, RunError)):
        start_run(StudioSettings(runs=tmp_path / "runs"), asked)


def test_a_run_is_started_stopped_and_resumed_in_processes_of_its_own(tmp_path):
    settings = StudioSettings(runs=tmp_path / "runs")
    values = {name: str(value).lower() for name, value in QUICK.items()}
    started = start_run(settings, StartRequest(recipe="translate-miniature", values=values, run="mine"))
    run = Run(settings.runs / "mine")
    assert wait(lambda: run.exists and (run.path / "metrics.jsonl").is_file() and run.has_checkpoint), show_log(
        settings, RunRequest(run="mine")
    ).text
    assert run.record.process.pid == started.pid
    with pytest.raises(RunError, match="is being trained right now"):
        resume_run(settings, RunRequest(run="mine"))
    with pytest.raises(RunError, match="there is a run of this name already"):
        start_run(settings, StartRequest(recipe="translate-miniature", values={}, run="mine"))
    assert stop_run(settings, RunRequest(run="mine")).state == "stopping"
    assert wait(lambda: run.state not in ("running", "preparing"))
    assert stop_run(settings, RunRequest(run="mine")).state == "not running"
    before = run.record.process.pid
    resume_run(settings, RunRequest(run="mine"))
    assert wait(lambda: run.state == "running" and run.record.process.pid != before)
    assert wait(lambda: stop_run(settings, RunRequest(run="mine")).state == "not running" or run.state != "running")
    assert wait(lambda: run.state not in ("running", "preparing"))
