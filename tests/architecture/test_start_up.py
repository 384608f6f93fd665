"""Starting up stays quick because heavy libraries load only when they are used."""

import subprocess
import sys

import structure


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

    assert callable(regard.train) and callable(regard.load) and callable(regard.evaluate) and callable(regard.resume)
    assert set(regard.__all__) == {"RegardError", "__version__", "evaluate", "load", "resume", "train"}


def test_modules_of_settings_load_no_torch():
    names = [name for name in structure.modules() if structure.is_settings(name)]
    statement = "\n".join(f"import {name}" for name in names)
    assert len(names) > 15 and "torch" not in modules_after(statement)


def test_tasks_are_listed_without_importing_them():
    loaded = modules_after("from regard import registry\nassert registry.task_names()")
    assert not {"torch", "pydantic", "regard.tasks.contract"} & loaded
