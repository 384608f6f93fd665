"""`regard tune`: what reaches the tuning, and what is printed of it."""

import json
from pathlib import Path

import pytest

from regard.cli.verbs.studies import tune
from regard.studies.tune.folder import Tuning

RESULTS = {
    "metric": "accuracy",
    "trials": [
        {"round": 1, "name": "plan", "steps": 1200, "score": 0.71234},
        {"round": 1, "name": "rate x 2", "steps": 1200, "score": None},
    ],
    "verdict": "The plan is kept.",
}


class Done(Tuning):
    """A tuning whose results are at hand."""

    results = RESULTS


@pytest.fixture
def calls(monkeypatch):
    made = []

    def run_tuning(recipe, overrides, **options):
        made.append((recipe, overrides, options))
        return Done(Path("t"))

    monkeypatch.setattr("regard.studies.tune.tune.tune", run_tuning)
    return made


def test_time_folder_and_settings_reach_the_tuning(calls):
    tune("classify", ["seed=3"], data="a.csv", minutes=5.0, out=Path("x"), overwrite=True, quiet=True)
    ((recipe, overrides, options),) = calls
    assert recipe == "classify" and overrides == {"data.train.path": "a.csv", "seed": 3}
    assert (options["minutes"], options["out"], options["overwrite"]) == (5.0, Path("x"), True)


def test_trials_verdict_and_recipe_are_printed(calls, capsys):
    tune("classify", data="a.csv", quiet=True)
    assert capsys.readouterr().out.splitlines() == [
        "round\ttrial\tsteps\tvalid accuracy",
        "1\tplan\t1,200\t0.7123",
        "1\trate x 2\t1,200\t",
        "The plan is kept.",
        "recipe: t/recipe.toml",
    ]
    assert calls[0][2]["minutes"] == 30.0


def test_json_holds_all_results(calls, capsys):
    tune("classify", data="a.csv", quiet=True, json=True)
    assert json.loads(capsys.readouterr().out) == {"tune": "t", "recipe": "t/recipe.toml"} | RESULTS
