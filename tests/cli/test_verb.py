"""Commands reject values that typer lets through, and name the value that it rejects."""

from pathlib import Path
from typing import Annotated, Literal

import pytest
import typer
from typer.testing import CliRunner

from regard.cli.verb import LARGEST, Verbs
from regard.errors import ConfigError

app = Verbs()


@app.callback()
def _group() -> None:
    pass


@app.command("work")
def work(
    run: Annotated[str, typer.Argument(metavar="RUN")],
    texts: Annotated[list[str] | None, typer.Argument(metavar="[TEXT]...")] = None,
    count: int = 1,
    share: float = 0.5,
    of: Literal["last", "best"] = "last",
    out: Path = Path("x"),
) -> None:
    typer.echo(f"{run} {texts} {count} {share} {of} {out}")


def outcome(*words):
    return CliRunner().invoke(app, ["work", *words])


def refused(*words) -> str:
    error = outcome(*words).exception
    assert isinstance(error, ConfigError), error
    return str(error)


def test_good_values_reach_the_verb():
    result = outcome("r", "a", "b", "--count", "3", "--share", ".25", "--of", "best")
    assert result.exit_code == 0 and result.stdout == "r ['a', 'b'] 3 0.25 best x\n"


def test_empty_values_are_refused_but_for_texts():
    assert outcome("r", "").exit_code == 0
    assert refused(" ") == "RUN: this is empty; name one."
    assert refused("r", "--out", "") == "--out: this is empty; give a value, or leave the option out."


def test_bytes_that_are_not_text_are_refused_but_in_paths_to_read():
    assert refused("r", "a\udcff") == 'TEXT: "a\\udcff" is not UTF-8 text; convert it first.'
    assert refused("r", "--out", "a\udcff").startswith("--out: ")
    assert not isinstance(outcome("a\udcff").exception, ConfigError)
    assert refused("a\0").startswith("RUN: ")


@pytest.mark.parametrize("value", ["nan", "inf", "1_0", "²"])
def test_numbers_are_plain(value):
    result = outcome("r", "--share", value)
    assert result.exit_code != 0
    if isinstance(result.exception, ConfigError):
        assert str(result.exception) == (
            f'--share: "{value}" is not a plain number; write it in digits, such as 3 or 0.5.'
        )


def test_numbers_are_not_huge():
    assert outcome("r", "--count", str(LARGEST)).exit_code == 0
    assert (
        refused("r", "--count", str(LARGEST + 1)) == f'--count: "{LARGEST + 1}" is too large; give at most {LARGEST}.'
    )


def test_a_long_value_is_shortened():
    assert len(refused("r", "--share", "9" * 500)) < 200
