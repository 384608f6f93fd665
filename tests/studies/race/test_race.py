"""A race from start to report, interrupted and continued."""

import json
import math
import re

import pytest

import regard
from racing import results_of, stopped_race
from regard.errors import ConfigError, DataError, RunError
from regard.runs.run import Run
from regard.studies.race import race as course
from regard.studies.race.entrants import Lineup, enter
from regard.studies.race.race import race
from regard.studies.race.report import page
from regard.studies.race.translating import TranslationRace


@pytest.fixture(scope="module")
def straight(lineup, tmp_path_factory):
    """A race that nobody disturbed."""
    return race(lineup, "12 steps", out=tmp_path_factory.mktemp("straight") / "it")


def altered(lineup: Lineup, **changes) -> Lineup:
    """Return the lineup with other settings."""
    overrides = {name.replace("__", "."): value for name, value in changes.items()}
    return Lineup("translate", lineup.models, overrides={**lineup.overrides, **overrides})


def test_a_race_ends_in_runs_results_pictures_and_a_report(straight):
    assert straight.is_finished
    results = straight.results
    assert [member["name"] for member in results["members"]] == ["transformer-tiny", "transformer-small"]
    hashes, tokenizers = set(), set()
    for member in results["members"]:
        run = straight.run(member["name"])
        assert run.record.state == "finished" and run.record.steps == member["steps"] == 12
        assert member["parameters"] == run.record.parameters
        assert len(member["curve"]) == 6  # every second step: at most ten points
        assert member["lengths"] and all(member["reach"][side]["gradient"] for side in ("source", "target"))
        assert all(abs(sum(row) - 1) < 0.01 for row in member["alignment"]["weights"])
        times = member["times"]["by_length"]
        assert len(times["training_ms"]) == len(times["decoding_ms"]) == len(times["lengths"]) == 2
        assert isinstance(regard.load(run.path)("ein Hund").text, str)
        hashes.add(run.record.report.model_dump()["hash"])
        tokenizers.add((run.best / "tokenizer.json").read_text())
    assert len(hashes) == 1 and len(tokenizers) == 1
    pictures = {path.stem for path in straight.path.glob("*.png")}
    assert {
        "bleu-time",
        "bleu-length",
        "gradient-target",
        "gradient-source",
        "time-training",
        "time-decoding",
        "ladder",
    } <= pictures
    assert {"alignment-transformer-tiny", "alignment-transformer-small"} <= pictures
    assert all(
        member["alignment"]["source"] == results["members"][0]["alignment"]["source"] for member in results["members"]
    )


def test_the_report_needs_nothing_else(straight):
    written = straight.report.read_text(encoding="utf-8")
    assert "http" not in written and "@import" not in written and "<script" not in written and "<link" not in written
    assert not re.findall(r'(?:src|href)="(?!#|data:)', written)
    assert written.count("<svg") == written.count("</svg>") == 9
    assert "prefers-color-scheme: dark" in written and "width=device-width" in written
    names = re.findall(r'\bid="([^"]+)"', written)
    assert len(names) == len(set(names))
    assert set(re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', written)) <= {(n, "") for n in names} | {
        ("", n) for n in names
    }
    assert "published, Multi30k" in written and "36.5" in written


def test_the_report_says_what_was_the_same_and_escapes_what_users_name(straight):
    assert "pairs, tokenizer and seed (1); scored on valid (" in page(straight.results, [])
    named = page(straight.results | {"vary": "seed=1,2", "set": "<b>&", "failed": {"gru": "<script>"}}, [])
    assert "<td>36.5</td>" in page(straight.results, []) and "<td>36.5</td>" not in named
    assert "pairs and tokenizer; scored on &lt;b&gt;&amp; (" in named
    assert "<b>" not in named and "<script" not in named
    sentence = page(straight.results | {"sentence": {"source": "<i>", "target": "$x"}}, [])
    assert "“&lt;i&gt;” → “$x”" in sentence


@pytest.fixture
def undrawn(monkeypatch):
    """Leave the report out, which takes longer than a race of a few steps."""
    monkeypatch.setattr(course, "write_report", lambda results, folder: None)


def test_an_interrupted_race_ends_as_one_never_disturbed(straight, tmp_path, lineup, undrawn):
    out = tmp_path / "stopped" / "it"
    for member, step in (("transformer-tiny", 5), ("transformer-small", 7)):
        found = stopped_race(lineup, "12 steps", out, member, step)
        assert not found.is_finished and found.run(member).record.state == "interrupted"
        assert found.run(member).record.steps < 12
    assert found.results["waiting"] == ["transformer-small"]
    race(lineup, "12 steps", out=out)
    assert found.is_finished
    assert results_of(found) == results_of(straight)
    for name in ("transformer-tiny", "transformer-small"):
        weights = [(each.run(name).latest / "model.safetensors").read_bytes() for each in (found, straight)]
        assert weights[0] == weights[1]


def test_a_race_stopped_while_measuring_goes_on(straight, tmp_path, lineup, monkeypatch, undrawn):
    def stop(*_):
        raise KeyboardInterrupt

    out = tmp_path / "stopped" / "it"
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(TranslationRace, "measure", stop)
        race(lineup, "12 steps", out=out)
    assert results_of(race(lineup, "12 steps", out=out)) == results_of(straight)


def test_a_time_becomes_steps_once(tmp_path, lineup, undrawn):
    out = tmp_path / "timed"
    found = stopped_race(lineup, "0.3s", out, step=2)
    plan = found.record.plan
    assert all(each.seconds_per_step > 0 and each.steps >= 2 for each in plan.values())
    race(lineup, "0.3s", out=out)
    assert found.record.plan == plan
    for name, planned in plan.items():
        settings = found.run(name).record.settings.plain["train"]
        assert settings["steps"] == planned.steps == found.run(name).record.steps
        recipe = next(each for each in enter(lineup) if each.name == name).settings.train
        assert settings["warmup"] == math.ceil(recipe.warmup * planned.steps / recipe.steps)
    assert "steps per second in the trial" in page(found.results, [])


@pytest.mark.parametrize(("budget", "steps"), [("2 epochs", 12), ("0.5 epochs", 3), ("3k tokens", 9)])
def test_epochs_and_tokens_become_steps(tmp_path, lineup, undrawn, budget, steps):
    found = stopped_race(lineup, budget, tmp_path / "it")
    assert {each.steps for each in found.record.plan.values()} == {steps}


def test_the_same_must_be_asked_for_to_go_on(tmp_path, lineup, undrawn):
    out = tmp_path / "it"
    stopped_race(lineup, "3 steps", out)

    def refused(other: Lineup, budget: str) -> str:
        with pytest.raises(RunError) as error:
            race(other, budget, out=out)
        return str(error.value)

    way_out = "); repeat the original request to resume it, replace it with --overwrite, or choose another folder "
    way_out += "with --out."
    begun = f"{out}: there is a race here already, with a different request ("
    assert refused(lineup, "4 steps") == begun + "its budget is 3 steps, not 4 steps" + way_out
    other = altered(lineup, seed=2)
    assert refused(other, "3 steps") == begun + "seed of transformer-tiny is 1, not 2" + way_out
    other = Lineup("translate", ["transformer-tiny", "transformer-base"], overrides=lineup.overrides)
    members = "its members are transformer-tiny, transformer-small, not transformer-tiny, transformer-base"
    assert refused(other, "3 steps") == begun + members + way_out
    race(lineup, "2 steps", out=out, overwrite=True)
    assert json.loads((out / "race.json").read_text())["asked"]["budget"] == "2 steps"


def test_pairs_that_are_too_long_for_a_member_are_counted_and_told(straight, tmp_path, lineup, undrawn):
    short = Lineup("translate", vary="decode.max_source_length=8,100", overrides=lineup.overrides)
    results = race(short, "2 steps", out=tmp_path / "it").results
    first, second = (each["too_long"] for each in results["members"])
    assert 0 < first < results["sentences"] and second == 0
    notice = f": {first} of {results['sentences']} pairs exceed its maximum length; their"
    assert notice in page(results, []) and page(results, []).count("exceed its maximum length") == 1
    assert "exceed its maximum length" not in page(straight.results, [])


def test_a_folder_with_other_things_is_refused(tmp_path, lineup):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    with pytest.raises(RunError) as error:
        race(lineup, "2 steps", out=tmp_path / "mine")
    assert str(error.value) == (
        f"{tmp_path / 'mine'}: this exists and is not a race; choose another folder with --out."
    )


def test_a_folder_that_cannot_be_written_is_told_before_any_trial(tmp_path, lineup):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(RunError, match=r"nothing can be written there \(.*file does not allow it\); choose another"):
        race(lineup, "10s", out=tmp_path / "file" / "race")


def test_steps_are_said_once(tmp_path, lineup):
    with pytest.raises(ConfigError) as error:
        race(altered(lineup, train__steps=9), "10m")
    assert (
        str(error.value)
        == 'train.steps: the budget is already 10m; leave one of them out, or give --budget "9 steps".'
    )


def test_a_member_that_fails_does_not_stop_the_others(tmp_path, lineup, monkeypatch, undrawn):
    whole = course.execute

    def fail(run: Run, *rest):
        if run.path.name == "transformer-tiny":
            raise RunError("It went wrong.")
        return whole(run, *rest)

    monkeypatch.setattr(course, "execute", fail)
    found = race(lineup, "2 steps", out=tmp_path / "it")
    assert found.results["failed"] == {"transformer-tiny": "It went wrong."}
    assert [member["name"] for member in found.results["members"]] == ["transformer-small"]
    assert "transformer-tiny failed: It went wrong." in page(found.results, [])
    monkeypatch.setattr(course, "execute", whole)
    assert not race(lineup, "2 steps", out=tmp_path / "it").results["failed"]


def test_a_member_that_cannot_go_on_is_not_taken_for_one_that_was_stopped(tmp_path, lineup, monkeypatch, undrawn):
    out = tmp_path / "it"
    stopped_race(lineup, "3 steps", out)

    def fail(*_, **__):
        raise RunError("The text is gone.")

    monkeypatch.setattr(course, "resume", fail)
    found = race(lineup, "3 steps", out=out)
    assert found.results["failed"] == {"transformer-tiny": "The text is gone."}
    assert found.run("transformer-tiny").record.state == "failed"
    path = found.run("transformer-tiny").path / "run.json"
    record = json.loads(path.read_text())
    kept = {name: record[name] for name in ("format", "task", "settings", "sources")}
    path.write_text(json.dumps(kept | {"state": "preparing"}))
    measured = found.measures("transformer-small")
    measured.write_text(measured.read_text()[:100])
    (out / "results.json").write_text("{")
    with pytest.raises(RunError) as error:
        _ = found.results
    assert str(error.value) == (
        f"{out / 'results.json'}: this is not the results of a race (line 1: Expecting property name enclosed "
        "in double quotes); the same command writes them again."
    )
    again = race(lineup, "3 steps", out=out).results  # killed while it prepared, files damaged
    assert again["failed"] == {"transformer-tiny": "The text is gone."} and again["members"][0]["lengths"]


def test_planning_leaves_nothing_behind_when_it_fails(tmp_path, lineup):
    other = altered(lineup, data__train__path=str(tmp_path / "missing.tsv"))
    with pytest.raises(DataError, match="missing.tsv"):
        race(other, "4 steps", out=tmp_path / "it")
    assert not (tmp_path / "it").exists()
