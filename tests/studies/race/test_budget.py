import pytest

from regard.errors import ConfigError
from regard.studies.race.budget import Budget, parse_budget


@pytest.mark.parametrize(
    ("text", "kind", "amount"),
    [
        ("90s", "seconds", 90),
        ("10m", "seconds", 600),
        ("10 min", "seconds", 600),
        ("1h30m", "seconds", 5400),
        ("1 hour 30 minutes", "seconds", 5400),
        ("1.5h", "seconds", 5400),
        ("2000 steps", "steps", 2000),
        ("2,000steps", "steps", 2000),
        ("2k steps", "steps", 2000),
        ("1 step", "steps", 1),
        ("5 epochs", "epochs", 5),
        ("0.5 epochs", "epochs", 0.5),
        ("3M tokens", "tokens", 3_000_000),
        ("250k tokens", "tokens", 250_000),
    ],
)
def test_times_and_amounts_are_understood(text, kind, amount):
    assert parse_budget(text) == Budget(kind, amount)


@pytest.mark.parametrize(
    "text", ["", "10", "3M", "soon", "10 parsecs", "10m of steps", "-5m", "ten steps", "5m 3", "10ms"]
)
def test_anything_else_is_refused_with_examples(text):
    with pytest.raises(ConfigError) as error:
        parse_budget(text)
    assert str(error.value) == (
        f'--budget: "{text}" is neither a duration nor a count; write it like 10m, 1h30m, 2000 steps, 5 epochs or 3M '
        "tokens."
    )


@pytest.mark.parametrize("text", ["0s", "0 steps", "0.2 steps"])
def test_nothing_is_no_budget(text):
    with pytest.raises(ConfigError) as error:
        parse_budget(text)
    assert str(error.value) == f'--budget: "{text}" leaves nothing to train; increase it.'


@pytest.mark.parametrize("text", ["1h30m", "45s", "2,000 steps", "2.5 epochs", "3,000,000 tokens"])
def test_a_budget_is_written_so_that_it_can_be_read_again(text):
    assert str(parse_budget(text)) == text
