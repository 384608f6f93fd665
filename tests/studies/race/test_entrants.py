import pytest

from installed import installed, write_package
from regard.errors import ConfigError
from regard.progress import Progress
from regard.studies.race.entrants import Lineup, enter


def refused(*args, **options) -> str:
    with pytest.raises(ConfigError) as error:
        enter(Lineup(*args, **options))
    return str(error.value)


def test_each_model_is_a_member_with_the_recipes_settings():
    members = enter(Lineup("race-miniature", ["transformer-tiny", "transformer-small"], overrides={"seed": 7}))
    assert [member.name for member in members] == ["transformer-tiny", "transformer-small"]
    assert [member.settings.model.feed_forward_width for member in members] == [256, 1024]
    for member in members:
        assert member.settings.seed == 7 and member.settings.model.embeddings == "target"
    assert members[0].settings.data == members[1].settings.data
    plain = {"dropout": 0.0}  # planned from the size of each model
    assert len({member.settings.text.model_copy(update=plain).model_dump_json() for member in members}) == 1


def test_all_values_of_a_setting_are_raced():
    members = enter(Lineup("race-miniature", vary="model.norm_order"))
    orders = [member.settings.model.norm_order for member in members]
    assert [member.name for member in members] == [f"transformer-tiny-{order}" for order in orders]
    assert set(orders) >= {"pre", "post"}


def test_named_values_of_a_setting_are_raced():
    members = enter(Lineup("race-miniature", vary="train.learning_rate=1e-3,0.01"))
    assert [member.settings.train.learning_rate for member in members] == [0.001, 0.01]
    assert [member.name for member in members] == ["transformer-tiny-0.001", "transformer-tiny-0.01"]
    models = ["transformer-tiny", "transformer-small"]
    assert len(enter(Lineup("race-miniature", models, vary="model.norm_order=pre,post"))) == 4


def test_a_truth_value_has_two_values():
    members = enter(Lineup("race-miniature", vary="model.scales_embeddings"))
    assert [member.name for member in members] == ["transformer-tiny-false", "transformer-tiny-true"]


def test_mistakes_are_named():
    assert refused("race-miniature", ["transformer-tony", "transformer-tiny"]) == (
        'model.preset: there is no preset "transformer-tony"; did you mean transformer-tiny?'
    )
    assert refused("race-miniature", ["transformer-tiny"]) == (
        'A race needs two members, and there is only "transformer-tiny"; name more with --models, or a setting with '
        "--vary."
    )
    assert refused("race-miniature", ["transformer-tiny"] * 2) == (
        '--models: "transformer-tiny" is named twice; name each model once.'
    )
    models = ["transformer-tiny", "transformer-small"]
    assert refused("race-miniature", models, overrides={"model.preset": "transformer-big"}) == (
        "model.preset: a race takes its models from --models; leave one of the two out."
    )
    assert refused("race-miniature", models, overrides={"model.widht": 8}).startswith(
        "model.widht: unknown setting, given as 8 (from the command line); did you mean model.width?"
    )


def test_the_six_scores_are_raced_alone():
    members = enter(Lineup("race-miniature", ["gru-attention"], "model.alignment"))
    scores = ["cosine", "additive", "location", "general", "dot", "scaled-dot"]
    assert [member.name for member in members] == [f"gru-attention-{score}" for score in scores]
    assert [member.settings.model.alignment for member in members] == scores


def test_mistakes_in_what_is_varied_are_named():
    assert refused("race-miniature", vary="model.norm_ordre") == (
        "--vary model.norm_ordre: unknown setting; did you mean model.norm_order?"
    )
    assert refused("race-miniature", vary="model.width") == (
        "--vary model.width: name the values to try, as in --vary model.width=VALUE,VALUE."
    )
    assert refused("race-miniature", vary="model") == (
        "--vary model: this is a group of settings; name one of them, such as model.family."
    )
    assert refused("race-miniature", vary="text.size=10,20") == (
        "--vary text.size: members of a race share data and tokenizer; vary another setting."
    )
    assert refused("race-miniature", vary="train.steps=10,20") == (
        "--vary train.steps: a race sets this with --budget; vary another setting."
    )
    assert refused("race-miniature", vary="model.norm_order=pre,past").startswith(
        'model.norm_order: "past" is not one of '
    )
    assert refused("race-miniature", ["gru"], vary="model.alignment=dot,dott") == (
        "model.alignment: \"dott\" is not one of 'none', 'cosine', 'additive', 'location', 'general', 'dot' or "
        "'scaled-dot' (from the command line)."
    )
    assert refused("race-miniature", vary="seed=1,1") == (
        '--vary: two values would both be called "transformer-tiny-1"; name each value once.'
    )


PLAIN = """
from pydantic import Field
from torch import nn
from regard.models.base.family import Family, Preset
from regard.models.base.settings import ModelSettings

class PlainSettings(ModelSettings):
    family: str = "plain"
    width: int = Field(8)

FAMILY = Family(PlainSettings, lambda *_: nn.Linear(2, 2), "seq2seq", (Preset("plain", "", {}),))
"""


def test_a_setting_that_only_some_models_have_is_left_out_elsewhere(monkeypatch, tmp_path):
    code = {"plain_family": PLAIN}
    points = {"regard.families": {"plain": "plain_family:FAMILY"}}
    installed(monkeypatch, write_package(tmp_path, "plain", points, code))
    said = []

    class Telling(Progress):
        def info(self, message):
            said.append(message)

    overrides = {"model.heads": 2, "model.width": 32}
    members = enter(Lineup("race-miniature", ["plain", "transformer-tiny"], overrides=overrides), Telling())
    assert [member.settings.model.width for member in members] == [32, 32]
    assert members[1].settings.model.heads == 2 and members[1].settings.model.embeddings == "target"
    assert "model.heads (from the command line) is not a setting of plain, and is left out there." in said
    assert "model.embeddings (from recipe race-miniature) is not a setting of plain, and is left out there." in said
