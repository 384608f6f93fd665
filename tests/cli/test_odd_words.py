"""Every option of every verb refuses what no value can be, before anything is read or written."""

import inspect
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple, get_type_hints

import pytest
import typer

from commands import bad, good
from regard.cli.main import UsageError, app
from regard.cli.tools.runs import delete
from regard.errors import RegardError, RunError
from regard.registry import task_names


def verbs(group=None, words=()):
    """Yield the words and the command of every verb."""
    for name, command in (group or typer.main.get_command(app)).commands.items():
        if hasattr(command, "commands"):
            yield from verbs(command, (*words, name))
        else:
            yield [*words, name], command


class Words(NamedTuple):
    """A verb and the words before a value; it is parsed alone, as whole command lines by the hundred take minutes."""

    command: Any
    words: list[str]

    def refused(self, value: str) -> str:
        with pytest.raises((RegardError, UsageError)) as error:
            self.command.make_context("verb", [*self.words, value])
        reason = error.value
        return str(reason) if isinstance(reason, RegardError) else reason.format_message()


def options():
    """Yield the words before every option that takes a value, and the option."""
    for words, command in verbs():
        needed = ["x" for param in command.params if param.param_type_name == "argument" and param.required]
        given = [
            word
            for param in command.params
            if param.param_type_name == "option" and param.required
            for word in (param.opts[0], "x")
        ]
        kinds = get_type_hints(inspect.unwrap(command.callback, stop=lambda each: hasattr(each, "__signature__")))
        for param in command.params:
            if param.param_type_name == "option" and not param.is_flag and param.name != "help":
                kind = str(kinds[param.name])
                said = Words(command, [*needed, *given, param.opts[0]])
                yield pytest.param(said, param, kind, id=" ".join([*words, param.opts[0]]))


OPTIONS = list(options())
NUMBERS = [each for each in OPTIONS if "int" in each.values[2] or "float" in each.values[2]]


@pytest.mark.parametrize(("words", "param", "kind"), OPTIONS)
def test_no_option_is_empty_or_made_of_bytes_that_are_no_text(words, param, kind):
    name = max(param.opts, key=len)
    empty = f"{name}: this is empty; give a value, or leave the option out."
    said = words.refused("")
    assert said == empty or said.startswith("Invalid value for '")
    if "Path" not in kind or param.name == "out":
        said = words.refused("a\udcff")
        assert said == f'{name}: "a\\udcff" is not UTF-8 text; convert it first.' or said.startswith("Invalid value")


@pytest.mark.parametrize(("words", "param", "kind"), NUMBERS)
def test_numbers_are_plain_finite_and_not_huge(words, param, kind):
    name = max(param.opts, key=len)
    digits = ("99999999999", "1" + "0" * 400, "1" + "0" * 5000)
    for value in ("nan", "inf", "-inf", "1e400", "²", "1_0", "0x10", "many", *digits):
        said = words.refused(value)
        assert said.startswith((f"{name}: ", "Invalid value for '")) and len(said) < 300, said


@pytest.mark.parametrize("value", ["-1", "4294967296"])
@pytest.mark.parametrize(("words", "param", "kind"), [each for each in OPTIONS if each.values[1].name == "seed"])
def test_a_seed_is_one_of_those_that_there_are(words, param, kind, value):
    assert "'--seed'" in words.refused(value)


def test_an_odd_value_is_one_sentence():
    assert bad("answer", "x", "--threshold", "nan") == (
        '--threshold: "nan" is not a plain number; write it in digits, such as 3 or 0.5.'
    )
    assert (
        bad("fill", "x", "--candidates", "") == "--candidates: this is empty; give a value, or leave the option out."
    )
    assert bad("vectors", "map", "x", "--seed", -1).startswith("Invalid value for '--seed': ")


@pytest.mark.parametrize(
    "words", [["translate", ""], ["train", ""], ["runs", "list", ""], ["import", "", "--out", "x"]]
)
def test_a_place_is_never_empty(words):
    assert bad(*words).endswith(": this is empty; name one.")


def run(shell: str, *words: str) -> subprocess.CompletedProcess[bytes]:
    """Run the command line in a shell that has done something to its streams."""
    command = [sys.executable, "-m", "regard", *words]
    return subprocess.run(["bash", "-c", f'"$@" {shell}', "bash", *command], capture_output=True, timeout=60)


@pytest.mark.parametrize("shell", [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_closed_streams_are_no_crash(shell):
    done = run(shell, "data", "miniature")
    assert done.returncode == 0 and done.stderr == b""
    assert run(shell, "nothing").returncode == 2


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device here")
def test_a_full_output_is_told_once():
    for words in (["--version"], ["data", "miniature", "--count", "2000"]):
        done = run(">/dev/full", *words)
        assert done.returncode == 2 and done.stderr.endswith(b"No space left on device; free some space.\n"), done
        assert done.stderr.startswith(b"regard: ") and done.stderr.count(b"\n") == 1
    assert run("2>/dev/full", "nothing").returncode == 2


def test_a_reader_that_goes_away_is_no_mistake():
    done = run("| head -1", "data", "miniature", "--count", "3000")
    assert done.stderr == b"" and done.stdout.count(b"\n") == 1


def test_nobody_answers_where_standard_input_is_closed(quick_run, monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(RunError, match="not confirmed, so nothing was deleted"):
        delete(quick_run.path)
    assert quick_run.path.is_dir()


def test_words_that_are_no_text_are_told_on_one_line():
    for words in (["classify", "x", b"\xff"], ["train", "classify", b"train.steps=\xff"], [b"\xff\x1b"]):
        done = subprocess.run([sys.executable, "-m", "regard", *words], capture_output=True, timeout=60)
        assert done.returncode == 2 and done.stderr.count(b"\n") == 1 and b"\\udcff" in done.stderr
        assert b"\x1b" not in done.stderr


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("DefaultCPUAllocator: not enough memory: you tried")])
def test_too_little_memory_is_a_sentence(monkeypatch, error):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr("regard.cli.main.app", fail)
    assert bad("recipes").startswith("There is not enough memory; ")


@pytest.mark.parametrize("task", task_names())
def test_every_task_shows_its_defaults(task):
    lines = good(
        "config", "show", task, "data.valid_fraction=0.1" if task == "language-model" else "seed=1"
    ).splitlines()
    assert any(line.startswith("data.train.path") and "(required)" in line for line in lines)
    assert any(line.startswith("model.") for line in lines) and any(line.startswith("train.") for line in lines)
