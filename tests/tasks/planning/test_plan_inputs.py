"""What plans are made of."""

from types import SimpleNamespace

import pytest

from regard.tasks.planning.inputs import Default, PlanInput, Survey, characters_per_token


def test_larger_vocabularies_have_longer_tokens():
    of = lambda size: characters_per_token(SimpleNamespace(kind="bpe", size=size))
    assert 2.5 < of(1000) < of(8000) < of(32_000) < 4.6 and of(10) == 1.5
    assert characters_per_token(SimpleNamespace(kind="char")) == 1.0
    assert characters_per_token(SimpleNamespace(words=50_000)) == 6.0


def test_tokens_are_those_of_one_side():
    settings = SimpleNamespace(text=SimpleNamespace(kind="char"))
    plan = PlanInput(settings, frozenset(), Survey(10, 1000, sides=2), parameters=250)
    assert plan.tokens == 500 and plan.tokens_per_parameter == 2.0 and not plan.is_gpu
    assert PlanInput(settings, frozenset(), None).tokens_per_parameter is None


@pytest.mark.parametrize(("given", "value"), [((), 7), (("train.steps",), 3)])
def test_what_is_given_holds_over_what_is_planned(given, value):
    plan = PlanInput(SimpleNamespace(train=SimpleNamespace(steps=3)), frozenset(given), None)
    assert plan.value("train.steps", [Default("train.steps", 7, "a reason")]) == value
    assert plan.value("train.steps", ()) == 3 and plan.is_bounded == bool(given)
