import pytest

from regard.tasks.checks.sizes import size_findings
from regard.training.settings import OPEN_END


def one(findings, name):
    (finding,) = (finding for finding in findings if finding.name == name)
    return finding


def test_sound_sizes_are_found_sound(material, sound):
    findings = size_findings(material(sound))
    assert {finding.severity for finding in findings} == {"ok"}
    assert one(findings, "validation").sentence == "250 pairs are used for validation."


@pytest.mark.parametrize(("warmup", "how"), [(300, "is hardly ever at"), (900, "never reaches")])
def test_a_warm_up_that_is_too_long_is_reported(material, sound, warmup, how):
    finding = one(size_findings(material(sound, train__warmup=warmup, train__schedule="inverse-sqrt")), "warmup")
    assert finding.severity == "warning" and finding.way_out == "shorten the warm-up: train.warmup=50"
    assert finding.sentence == f"The warm-up takes {warmup} of 500 updates, so the learning rate {how} its peak."


def test_runs_that_are_too_short_or_too_long_are_reported(material, sound):
    brief = one(size_findings(material(sound, train__steps=20, train__warmup=2)), "epochs")
    assert brief.severity == "note" and brief.sentence.endswith("epochs and leaves out most of the text.")
    assert brief.settings["train.steps"] == brief.metrics["updates_per_epoch"]
    endless = {"train__steps": 90_000, "train__patience": 0}
    finding = one(size_findings(material(sound, **endless)), "epochs")
    assert finding.severity == "warning" and finding.way_out == "stop early: train.patience=8"
    assert one(size_findings(material(sound, **endless | {"train__patience": 8})), "epochs").severity == "ok"


def test_the_limit_of_a_run_that_ends_itself_is_not_its_length(material, sound):
    clock = {"train__minutes": 1.5, "train__schedule": "wsd", "train__steps": OPEN_END, "train__warmup": 10}
    (finding,) = (each for each in size_findings(material(sound, **clock)) if each.name == "epochs")
    assert finding.severity == "ok" and finding.sentence.endswith("make an epoch; the run ends after 1.5 minutes.")
    limited = one(size_findings(material(sound, **clock | {"train__steps": 90_000})), "epochs")
    assert limited.severity == "ok" and "; the run has at most " in limited.sentence
    patient = {"train__schedule": "wsd", "train__patience": 6, "train__steps": 90_000}
    finding = one(size_findings(material(sound, **patient)), "epochs")
    assert finding.severity == "ok" and finding.sentence.endswith(
        "epochs, or fewer when validation no longer improves."
    )


def test_updates_as_large_as_the_data_are_reported(material, sound):
    finding = one(size_findings(material(sound, train__tokens_per_update=60_000)), "update")
    assert finding.severity == "note" and "of the training set: an epoch has only 1." in finding.sentence
    assert finding.settings["train.tokens_per_update"] < 2000


def test_a_single_validation_is_reported(material, sound):
    finding = one(size_findings(material(sound, train__validate_every=600)), "validations")
    assert finding.way_out == "validate more often: train.validate_every=50"


def test_a_small_validation_set_is_reported_and_can_be_made_larger(material, sound):
    train_only = {"train": sound["train"]}
    finding = one(size_findings(material(train_only)), "validation")
    assert finding.severity == "warning" and finding.remedy == "hold out more"
    remedied = material(train_only, data__valid_fraction=finding.settings["data.valid_fraction"])
    assert 150 < len(remedied.valid) < 250
    given = one(size_findings(material(sound | {"valid": sound["valid"][:40]})), "validation")
    assert (given.severity, given.way_out) == ("warning", "validate on more pairs")
    assert given.sentence == "Only 40 pairs are used for validation: the choice of the best checkpoint is noisy."


def test_pairs_that_are_too_long_are_reported_with_a_limit_that_spares_most(material, sound):
    found = material(sound, data__cleaning__max_tokens=20)
    finding = one(size_findings(found), "too-long")
    assert finding.severity == "problem" and "are longer than 20 tokens and were dropped." in finding.sentence
    before = found.reports["train"].dropped["too long"]
    limit = finding.settings["data.cleaning.max_tokens"]
    after = material(sound, data__cleaning__max_tokens=limit).reports["train"].dropped["too long"]
    assert after < 0.15 * before


def test_a_bound_of_the_model_is_raised_with_that_of_the_cleaning(material, sound):
    found = material(sound, model__positions="learned", model__max_positions=20)
    assert set(one(size_findings(found), "too-long").settings) == {"data.cleaning.max_tokens", "model.max_positions"}


def test_models_too_large_for_their_text_are_reported(material, sound):
    finding = one(size_findings(material(sound, model__width=512, model__feed_forward_width=4096)), "parameters")
    assert finding.severity == "warning" and finding.settings == {"model.preset": "transformer-tiny"}
    assert finding.sentence.endswith("per token: such a model overfits.")


def test_too_little_text_is_reported(material, sound):
    findings = size_findings(material({"train": sound["train"][:300], "valid": sound["valid"]}, text__size=5000))
    assert one(findings, "few-pairs").sentence == (
        "There are only 300 training pairs, too few to train a translator."
    )
    assert one(findings, "vocabulary").sentence.startswith(
        "text.size asks for 5,000 tokens, but a vocabulary trained on this text has only "
    )
