"""The files of a race: a damaged one is one sentence, and no name in them leads out of the folder."""

import json

import pytest

from regard.errors import RunError
from regard.studies.race.folder import Race, check_writable, claim_race
from regard.studies.race.records import AskedRecord, PlannedRecord, RaceRecord

ASKED = {"recipe": "r", "budget": "3 steps", "vary": None, "members": {"one": {"a": 1}, "two": {"a": 2}}}
REQUEST = AskedRecord.model_validate(ASKED)
PLAN = {name: {"steps": 3, "parameters": 4, "seconds_per_step": None} for name in ("one", "two")}
WRONG_TYPES = [None, [], {}, "x", 1.5, -1, True, [[1]]]


@pytest.fixture
def race(tmp_path) -> Race:
    race = Race(tmp_path / "races" / "it")
    race.begin(REQUEST, {name: PlannedRecord(**each) for name, each in PLAN.items()})
    return race


def refusal(call) -> str:
    with pytest.raises(RunError) as error:
        call()
    assert "\n" not in str(error.value) and str(error.value).endswith(".")
    return str(error.value)


@pytest.mark.parametrize("field", ["format", "asked", "plan"])
def test_the_record_of_a_race_is_of_its_types(race, field):
    whole = json.loads(race.file.read_text())
    for value in WRONG_TYPES:
        race.file.write_text(json.dumps(whole | {field: value}))
        sentence = refusal(lambda: claim_race(race.path, REQUEST, overwrite=False))
        assert sentence.startswith(
            f"{race.file}: this is not the record of a race that this version of regard can read ("
        )


@pytest.mark.parametrize("name", ["../../../victim", "/victim", "a/b", ".."])
def test_no_member_leads_out_of_the_race(race, name):
    whole = json.loads(race.file.read_text())
    whole["plan"][name] = whole["asked"]["members"][name] = PLAN["one"]
    race.file.write_text(json.dumps(whole))
    refusal(lambda: race.is_finished)
    refusal(lambda: race.run("../../victim"))
    refusal(lambda: race.measures("../../victim"))


@pytest.mark.parametrize("text", ["[]", "{}", "{", '{"columns": 1}', '{"columns": [], "members": [], "failed": {}}'])
def test_damaged_results_are_one_sentence(race, text):
    (race.path / "results.json").write_text(text)
    sentence = refusal(lambda: race.results)
    assert "this is not the results of a race (" in sentence and sentence.endswith(
        "; the same command writes them again."
    )


def test_a_member_whose_record_is_damaged_has_not_ended(race):
    run = race.run("one")
    run.path.mkdir(parents=True)
    (run.path / "run.json").write_text('{"state": "finished", "scores": 5}')
    assert not race.has_ended("one") and not race.is_finished and run.state == ""


def test_clearing_removes_links_and_follows_none(tmp_path, race):
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "kept.txt").write_text("mine")
    (race.path / "runs").symlink_to(victim)
    race.clear()
    assert (victim / "kept.txt").read_text() == "mine" and not (race.path / "runs").is_symlink()


def test_the_results_of_a_race_have_every_metric_of_its_columns(race):
    times = {"seconds": 1.0, "tokens_per_second": 2.0}
    member = {"name": "one", "parameters": 3, "steps": 4, "times": times, "bleu": 5.0}
    column = {"label": "BLEU", "key": "bleu", "format": ".2f", "best": "max"}
    path = race.path / "results.json"
    path.write_text(json.dumps({"columns": [column], "members": [member], "failed": {}}))
    assert race.results["members"][0]["bleu"] == 5.0
    for columns, reason in (
        ([column | {"key": "ter"}], "ter of one is not a number"),
        ([column | {"format": "nonsense"}], "nonsense is not a number format"),
    ):
        path.write_text(json.dumps({"columns": columns, "members": [member], "failed": {}}))
        assert reason in refusal(lambda: race.results)


def test_a_race_plans_exactly_its_members():
    with pytest.raises(ValueError, match=r"plan and asked.members do not have the same names \(two\)"):
        RaceRecord.model_validate({"format": 2, "asked": ASKED, "plan": {"one": PLAN["one"]}})


def test_a_folder_below_a_file_is_not_writable(tmp_path):
    check_writable(tmp_path / "new" / "race")
    (tmp_path / "file").write_text("")
    assert "nothing can be written there" in refusal(lambda: check_writable(tmp_path / "file" / "race"))
