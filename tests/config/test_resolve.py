from typing import Literal

import pytest
from pydantic import Field, ValidationError, model_validator

from regard.config.overrides import nested, parse_overrides
from regard.config.resolve import Layer, resolve
from regard.config.settings import Settings, setting_names
from regard.errors import ConfigError


class Inner(Settings):
    heads: int = Field(8, ge=1)
    width: int = 512
    order: Literal["post", "pre"] = "post"
    betas: tuple[float, float] = (0.9, 0.98)

    @model_validator(mode="after")
    def _fits(self):
        if self.width % self.heads:
            raise ValueError(f"heads: {self.heads} does not divide width {self.width}")
        return self


class Outer(Settings):
    name: str
    model: Inner = Inner()
    is_shared: bool = True
    rate: float = 1e-3
    limit: int | None = None


def resolved(*layers):
    return resolve(Outer, [Layer(f"layer {number}", values) for number, values in enumerate(layers)])


def message(*layers):
    with pytest.raises(ConfigError) as error:
        resolved(*layers)
    return str(error.value)


def test_later_layers_win_and_tables_are_merged():
    found = resolved({"name": "a", "model": {"heads": 4, "width": 64}}, {"model": {"heads": 2}})
    assert (found.settings.name, found.settings.model.heads, found.settings.model.width) == ("a", 2, 64)


def test_the_source_of_every_value_is_known():
    found = resolved({"name": "a", "model": {"heads": 4}}, {"model": {"heads": 2}})
    assert found.source("model.heads") == "layer 1"
    assert found.source("name") == "layer 0"
    assert found.source("model.width") == "default"


def test_a_run_is_frozen():
    with pytest.raises(ValidationError):
        resolved({"name": "a"}).settings.name = "b"


def test_an_unknown_key_is_answered_with_its_path_value_and_the_nearest_name():
    assert message({"name": "a"}, {"model": {"hedas": 8}}) == (
        "model.hedas: unknown setting, given as 8 (from layer 1); did you mean model.heads?"
    )


def test_a_key_in_the_wrong_group_finds_its_home():
    assert message({"name": "a", "heads": 8}) == (
        "heads: unknown setting, given as 8 (from layer 0); did you mean model.heads?"
    )


def test_a_name_of_another_group_is_offered_only_where_it_is_the_same():
    unknown = "unknown setting, given as 8 (from layer 0)"
    assert message({"name": "a", "model": {"rate": 8}}) == f"model.rate: {unknown}; did you mean rate?"
    assert message({"name": "a", "model": {"grate": 8}}) == (
        f"model.grate: {unknown}; choose from heads, width, order, betas."
    )


def test_a_key_like_no_other_is_answered_with_the_known_ones():
    assert message({"name": "a", "zzz": 1}) == (
        "zzz: unknown setting, given as 1 (from layer 0); choose from name, model, is_shared, rate, limit."
    )


def test_wrong_types_are_named():
    assert message({"name": "a", "model": {"heads": "eight"}}) == (
        'model.heads: "eight" is not a whole number (from layer 0).'
    )
    assert message({"name": "a", "model": {"heads": 2.5}}) == "model.heads: 2.5 is not a whole number (from layer 0)."
    assert message({"name": "a", "is_shared": 1}) == "is_shared: 1 is not true or false (from layer 0)."
    assert message({"name": 3}) == "name: 3 is not text (from layer 0)."
    assert message({"name": "a", "model": 3}) == "model: 3 is not a table of settings (from layer 0)."
    assert message({"name": "a", "rate": "fast"}) == 'rate: "fast" is not a number (from layer 0).'
    assert message({"name": "a", "limit": "x"}) == 'limit: "x" is not a whole number (from layer 0).'


def test_numbers_out_of_range_and_words_out_of_the_list_are_named():
    assert message({"name": "a", "model": {"heads": 0}}) == (
        "model.heads: 0 is out of range, it must be greater than or equal to 1 (from layer 0)."
    )
    assert message({"name": "a", "model": {"order": "prenorm"}}) == (
        "model.order: \"prenorm\" is not one of 'post' or 'pre' (from layer 0)."
    )


def test_settings_that_do_not_fit_together_carry_their_path():
    assert message({"name": "a", "model": {"heads": 7}}) == "model.heads: 7 does not divide width 512"


def test_a_missing_value_is_asked_for():
    assert message({}) == "name: this setting is required; give it in the recipe or as name=VALUE."


def test_every_problem_gets_its_own_sentence():
    assert len(message({"zzz": 1, "rate": "fast"}).splitlines()) == 3


def test_lists_become_tuples_and_whole_numbers_pass_as_numbers():
    found = resolved({"name": "a", "rate": 1, "model": {"betas": [0.5, 0.6]}}).settings
    assert found.rate == 1.0 and found.model.betas == (0.5, 0.6)


def test_overrides_are_read_as_toml_and_bare_words_as_text():
    words = [
        "train.steps=2_000",
        "model.preset=transformer-small",
        "a.b=true",
        "a.c=[1, 2]",
        'a.d="x y"',
        "rate=1e-3",
    ]
    assert parse_overrides(words) == {
        "train": {"steps": 2000},
        "model": {"preset": "transformer-small"},
        "a": {"b": True, "c": [1, 2], "d": "x y"},
        "rate": 1e-3,
    }


def test_paths_and_dates_stay_text():
    assert parse_overrides(["data.path=a/b.tsv", "day=2020-01-02"]) == {
        "data": {"path": "a/b.tsv"},
        "day": "2020-01-02",
    }


def test_a_word_that_sets_nothing_is_refused():
    with pytest.raises(ConfigError) as error:
        parse_overrides(["steps"])
    assert str(error.value) == '"steps" is not a setting: write it as key=value, for example train.steps=1000.'


def test_dotted_names_and_tables_may_be_mixed():
    assert nested({"a.b": 1, "a": {"c": 2}}) == {"a": {"b": 1, "c": 2}}
    with pytest.raises(ConfigError, match="a already has a value"):
        nested({"a": 1, "a.b": 2})


def test_setting_names_reach_inside():
    assert {"name", "model", "model.heads", "model.betas"} <= set(setting_names(Outer))


def test_an_unknown_key_of_settings_without_any_is_to_be_left_out():
    with pytest.raises(ConfigError) as error:
        resolve(Settings, [Layer("the call", {"top": 3})])
    assert (
        str(error.value)
        == "top: unknown setting, given as 3 (from the call); there are no settings here, so leave it out."
    )
