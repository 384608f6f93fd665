"""The files of races and transfers: a damaged one is a sentence, and no name in them leads out of the folder."""

import json

import pytest

from regard.errors import RunError
from regard.studies.race.folder import Race, claim_race
from regard.studies.transfer.folder import Transfer, TransferRun, claim_transfer

ASKED = {"recipe": "r", "budget": "3 steps", "vary": None, "members": {"one": {"a": 1}, "two": {"a": 2}}}
PLAN = {name: {"steps": 3, "parameters": 4, "seconds_per_step": None} for name in ("one", "two")}
METRICS = {"accuracy": 0.5, "seconds": 1.0, "parameters": 3, "trainable_parameters": 2, "machine": {}}
ODD = [None, [], {}, "x", 1.5, -1, True, [[1]]]


@pytest.fixture
def race(tmp_path) -> Race:
    found = Race(tmp_path / "races" / "it")
    found.begin(ASKED, PLAN)
    return found


def refusal(call) -> str:
    with pytest.raises(RunError) as error:
        call()
    assert "\n" not in str(error.value) and str(error.value).endswith(".")
    return str(error.value)


@pytest.mark.parametrize("field", ["format", "asked", "plan"])
def test_the_record_of_a_race_is_of_its_types(race, field):
    whole = json.loads(race.file.read_text())
    for value in ODD:
        race.file.write_text(json.dumps(whole | {field: value}))
        said = refusal(lambda: claim_race(race.path, ASKED, overwrite=False))
        assert said.startswith(
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
def test_odd_results_are_a_sentence(race, text):
    (race.path / "results.json").write_text(text)
    said = refusal(lambda: race.results)
    assert "this is not the results of a race (" in said and said.endswith("; the same command writes them again.")


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


def test_figures_of_a_cell_are_of_their_types_or_none(tmp_path):
    transfer = claim_transfer(tmp_path / "it", {"seeds": 1}, overwrite=False)
    cell = TransferRun("bert", 20, 1)
    transfer.store(cell, METRICS)
    assert transfer.metrics(cell) == METRICS
    path = transfer.path / "cells" / "bert-20-1.json"
    for field in METRICS:
        for value in [each for each in ODD if not (field == "machine" and each == {})]:
            if field in ("accuracy", "seconds") and isinstance(value, int | float) and not isinstance(value, bool):
                continue
            path.write_text(json.dumps(METRICS | {field: value}))
            assert transfer.metrics(cell) is None


def test_the_record_of_a_transfer_is_of_its_types(tmp_path):
    claim_transfer(tmp_path / "it", {"seeds": 1}, overwrite=False)
    for value in [each for each in ODD if each != {}]:
        (tmp_path / "it" / "transfer.json").write_text(json.dumps({"format": 2, "asked": value}))
        assert "transfer.json: this is not the record of a transfer" in refusal(
            lambda: Transfer(tmp_path / "it").record
        )
