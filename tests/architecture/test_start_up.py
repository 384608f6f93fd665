"""Starting up stays quick because heavy libraries load only when they are used."""

import subprocess
import sys

import structure
from regard.cli.listing import PANELS

HELP = """
from contextlib import redirect_stdout
from io import StringIO
from regard.cli.main import app
for verb in {verbs}:
    with redirect_stdout(StringIO()) as shown:
        app([verb, "--help"], standalone_mode=False)
    assert "Usage" in shown.getvalue(), verb
"""


def modules_after(statement: str) -> set[str]:
    code = f"{statement}\nimport sys\nprint(' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_regard_loads_no_heavy_library():
    assert not {"torch", "numpy", "tokenizers", "pydantic", "typer"} & modules_after("import regard")


def test_the_command_line_starts_without_torch():
    assert not {"torch", "numpy", "tokenizers", "sacrebleu"} & modules_after("import regard.cli.main")


def test_the_public_names_are_there():
    import regard

    functions = (
        "train resume load load_encoder evaluate compare plan doctor race tune transfer export runs tasks presets "
        "recipes"
    )
    classes = (
        "Run Pipeline Result Translator Generator Encoder Classifier Regressor Tagger QuestionAnswerer "
        "MultipleChoice WordVectors Evaluation Comparison Trace Settings"
    )
    errors = "RegardError ConfigError DataError CheckpointError RunError RunInterrupted"
    assert dir(regard) == sorted(["__version__", *f"{functions} {classes} {errors}".split()])
    assert all(callable(getattr(regard, name)) for name in functions.split())
    assert all(isinstance(getattr(regard, name), type) for name in f"{classes} {errors}".split())


def test_a_package_with_the_name_of_a_function_is_called_like_it(tmp_path):
    import regard
    import regard.runs.train
    import regard.tasks.load

    assert regard.tasks() == regard.api.tasks() and "translate" in regard.tasks()
    assert regard.tasks.load.load is regard.load and regard.runs(tmp_path) == []


def test_modules_of_settings_load_no_torch():
    names = [name for name in structure.modules() if structure.is_settings(name)]
    statement = "\n".join(f"import {name}" for name in names)
    assert len(names) > 15 and "torch" not in modules_after(statement)


def test_tasks_are_declared_without_torch():
    loaded = modules_after("from regard import registry\nassert all(each.operations for each in registry.tasks())")
    assert "regard.tasks.translate.task" in loaded and "torch" not in loaded


def test_the_help_of_every_verb_comes_from_declarations_that_load_no_torch():
    # In one process: what any verb loads would be there.
    loaded = modules_after(HELP.format(verbs=[verb for verbs in PANELS.values() for verb in verbs]))
    assert {"regard.cli.verbs.evaluate", "regard.cli.predict.operations"} <= loaded
    assert not {"torch", "safetensors", "sklearn", "sacrebleu", "scipy"} & loaded


def test_tasks_are_listed_without_importing_them():
    loaded = modules_after("from regard import registry\nassert registry.task_names()")
    assert not {"torch", "pydantic", "regard.tasks.contract"} & loaded
