"""Every option of the verbs that call one function: its value reaches the call, or it is refused by its name."""

from collections.abc import Iterator
from unittest.mock import MagicMock

import click
import pytest

from commands import call
from regard.cli.verb import ListedVerbs
from regard.errors import RegardError

FEATURES = ("feature_data", "evaluate_features")
RESOLVE = "regard.runs.planning.recipes.resolve_run"
TRAIN = "regard.runs.train.train"
LOAD_WORDS = "regard.pipelines.word_vectors.load_word_vectors"
THREADS = "regard.training.device.machine.use_threads"
VERBS: dict[str, tuple[list[str], list[str]]] = {
    "doctor": (["translate"], ["regard.studies.doctor.examine.doctor"]),
    "race": (["translate"], ["regard.studies.race.race.race"]),
    "tune": (["translate"], ["regard.studies.tune.tune.tune"]),
    "transfer": (["--data", "d.csv"], ["regard.studies.transfer.transfer.transfer"]),
    "verify-resume": (["translate"], ["regard.runs.verify.verify_resume"]),
    "train": (
        ["translate"],
        ["regard.runs.planning.recipes.resolve_run", "regard.runs.processes.start_processes", TRAIN],
    ),
    "quickstart": ([], ["regard.runs.train.train"]),
    "plan": (["translate"], ["regard.api.plan"]),
    "config show": (["translate"], ["regard.runs.planning.explain.explain_recipe"]),
    "features": (
        ["r", "--data", "a.conll"],
        ["regard.studies.features.feature_data", "regard.studies.features.evaluate_features"],
    ),
    "inspect": (["r", "text"], ["regard.tasks.load.load", "regard.tasks.inspection.view_of"]),
    "average": (["r"], ["regard.runs.average.average"]),
    "export": (["r", "d"], ["regard.runs.export.exporters.write_export"]),
    "convert": (["r"], ["regard.runs.export.convert.convert"]),
    "bleu": (["a", "b", "--inline"], ["regard.metrics.bleu_report.score_bleu"]),
    "presets": ([], ["regard.runs.planning.plan.preset_parameters"]),
    "tokenizer train": (["f.txt"], ["regard.tasks.text.tokenizer.train_on_files"]),
    "tokenizer show": (["t.json", "text"], ["regard.tasks.load.load_tokenizer"]),
    "data miniature": ([], ["regard.miniature.export.exported"]),
    "runs delete": (["r"], ["regard.runs.store.listing.check_deletable"]),
    "vectors map": (
        ["v.txt", "a"],
        ["regard.pipelines.word_vectors.load_word_vectors", "regard.tasks.word_vectors.map.plot_map"],
    ),
    "serve": (["r"], ["regard.server.serving.serve_runs"]),
    "studio": (["runs"], ["regard.studio.serve.serve_studio"]),
}
"""Arguments of each verb, and the functions that it calls: the last one ends it."""
VALUES = {"--method": "tsne", "--precision": "bf16", "--quantize": "int8", "--of": "best", "--layers": "last"} | {
    "--kind": "unigram",
    "--pretokenizer": "byte-level",
    "--normalization": "nfc",
    "--special-tokens": "bert",
    "--tokenize": "char",
    "--side": "target",
    "--tagger": "linear",
    "--size": "300",
    "--seeds": "5",
    "--top": "5",
    "--max-body": "1000000",
    "--overlap": "0.5",
}
"""Values of options that take some of few."""
SHOWN = ("--help", "--json", "--quiet", "--yes", "--explain", "--inline", "--dry-run", "--fresh")
"""Options of what is printed, or asked, after the call: tests of their own."""


def options() -> Iterator[tuple[str, str, object]]:
    for verb in VERBS:
        command: object = ListedVerbs()[verb.split()[0]]
        for name in verb.split()[1:]:
            command = command.commands[name]
        for param in command.params:
            if param.param_type_name == "option" and not {*param.opts} & {*SHOWN}:
                yield verb, max(param.opts, key=len), param


def value_of(flag: str, param: object) -> list[str]:
    return [*param.secondary_opts, flag][:1] if param.is_flag else [flag, VALUES.get(flag, "3")]


class Reached(Exception):
    """The last function was called."""


@pytest.fixture
def calls(monkeypatch):
    """Return the calls of a command's functions, which do nothing."""
    made: list[str] = []

    def run(verb: str, words: list[str]) -> tuple[object, list[str]]:
        made.clear()
        arguments, functions = VERBS[verb]
        with monkeypatch.context() as patch:
            patch.setattr(THREADS, lambda *args: made.append(f"threads {args}"))
            for name in functions:

                def stub(*args, name=name, **named):
                    shown = {key: each for key, each in named.items() if key not in ("progress", "show", "began")}
                    made.append(f"{name} {[*map(plain, args)]} {shown}")
                    if name == functions[-1]:
                        raise Reached
                    return MagicMock()

                patch.setattr(name, stub)
            return call(*verb.split(), *arguments, *words).exception, list(made)

    return run


def plain(value: object) -> object:
    """Return an argument as it is compared: functions and reporters have an address in their names."""
    return "" if callable(value) or " object at 0x" in repr(value) else value


@pytest.mark.parametrize(
    ("verb", "flag", "param"), list(options()), ids=lambda value: value if isinstance(value, str) else ""
)
def test_a_flag_reaches_the_call_or_is_refused_by_its_name(verb, flag, param, calls):
    error, before = calls(verb, [])
    assert isinstance(error, Reached), error
    error, made = calls(verb, value_of(flag, param))
    if isinstance(error, Reached):
        assert made != before, f"{verb} ignores {flag}"
    else:
        assert isinstance(error, RegardError | click.ClickException), error
        assert flag in str(error) or flag[2:].replace("-", "_") in str(error)
