"""The registry: names of tasks without an import, and tasks that keep the contract."""

import subprocess
import sys

import pytest

from installed import installed, write_package
from regard import registry
from regard.checkpoint.facts import TaskFacts
from regard.errors import ConfigError
from regard.runs.planning.explain import explain_recipe
from regard.tasks.contract import Task
from regard.tasks.record import DataReport, ScoresRecord
from regard.tasks.settings import RunSettings


def test_names_are_listed_without_importing_torch_or_a_task():
    program = (
        "import sys; from regard import registry; names = registry.task_names(); "
        "assert registry.has_task('translate') and not registry.has_task('nonsense'); "
        "print(len(names), [name for name in sys.modules if name.split('.')[0] in ('torch', 'pydantic', 'numpy') "
        "or name.startswith('regard.tasks')])"
    )
    output = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert output == f"{len(registry.task_names())} []\n"


def test_looking_up_one_task_imports_no_other():
    program = (
        "import sys; from regard import registry; registry.task('classify'); "
        "print([name for name in sys.modules if name.startswith('regard.tasks.') and name.endswith('.task')])"
    )
    output = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert output == "['regard.tasks.classify.task']\n"


@pytest.mark.parametrize("name", registry.TASKS.built_in)
def test_every_built_in_task_keeps_the_contract(name):
    task = registry.task(name)
    assert isinstance(task, Task) and task.name == name and registry.task(name) is task
    wording = task.wording
    assert all((wording.noun, wording.plural, wording.data_flags, wording.tokens, wording.shorten, wording.examples))
    assert wording.noun.split()[0] in ("a", "an", "word")
    assert any(operation.call and operation.variable in operation.call for operation in task.operations)
    assert all(operation.name and operation.summary.endswith(".") for operation in task.operations)
    keys = [metric.key for metric in task.metrics]
    assert keys and len(set(keys)) == len(keys)
    assert all(format(1.0, metric.format) and metric.label for metric in task.metrics)
    assert task.files.kinds and issubclass(task.files.facts, TaskFacts)
    assert issubclass(task.report, DataReport) and issubclass(task.scores, ScoresRecord)
    assert len(task.counted) == 2 and task.loss_curve.unit
    assert any(each.source.startswith("planned: ") for each in explain_recipe(name)) or name == "vectors"


@pytest.mark.parametrize("name", registry.TASKS.built_in)
def test_the_settings_of_every_task_are_those_of_its_name(name):
    task = registry.task(name)
    model = next(each.settings for each in registry.FAMILIES if each.kind == task.files.kinds[0])
    schema = task.settings(model)
    assert issubclass(schema, RunSettings) and schema.model_fields["task"].default == name


def test_no_two_tasks_have_one_metric_selected_in_different_directions():
    directions = {(metric.key, metric.best) for task in registry.tasks() for metric in task.metrics}
    keys = [key for key, _ in directions]
    assert sorted(keys) == sorted(set(keys))


@pytest.mark.parametrize("name", ["nonsense", "", "Translate"])
def test_an_unknown_task_is_refused_with_the_list(name):
    assert not registry.has_task(name)
    with pytest.raises(ConfigError) as error:
        registry.task(name)
    assert str(error.value) == f'task: "{name}" is not one of {", ".join(registry.task_names())}.'


def test_what_is_no_text_is_no_task():
    assert not registry.has_task(None) and not registry.has_task(["translate"])


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Return a function that installs a package whose module `code` is its one task `summarize`."""

    def install(code="TASK = object()", package="regard-summaries", name="summarize", group="regard.tasks"):
        module = package.replace("-", "_")
        points = {group: {name: f"{module}:TASK"}}
        installed(monkeypatch, write_package(tmp_path / package, package, points, {module: code}))

    return install


COMPLETE = "from regard.registry import TASKS\nfrom types import SimpleNamespace\nTASK = SimpleNamespace(**{each: 0 "
COMPLETE += "for each in TASKS.needs} | {'name': 'summarize'})"


def test_a_task_of_an_installed_package_is_found_after_the_built_in_ones(install):
    install(COMPLETE)
    assert registry.task_names() == [*registry.TASKS.built_in, "summarize"]
    assert registry.has_task("summarize") and registry.task("summarize").name == "summarize"
    assert [task.name for task in registry.tasks()][-1] == "summarize"
    with pytest.raises(ConfigError, match=r'"other" is not one of translate, .*, choose, summarize\.$'):
        registry.task("other")
    assert registry.packages_of("summarize", "bert") == {"summarize": "regard-summaries"}
    assert registry.packages_of("translate", "transformer") == {}


@pytest.mark.parametrize(
    ("group", "offers", "setting", "name"),
    [
        ("regard.tasks", registry.TASKS, "task", "translate"),
        ("regard.families", registry.FAMILIES, "model.family", "bert"),
        ("regard.exporters", registry.EXPORTERS, "to", "hf"),
    ],
)
def test_a_package_that_takes_the_name_of_what_is_built_in_is_refused(install, group, offers, setting, name):
    install(name=name, group=group)
    with pytest.raises(ConfigError) as error:
        offers.find(name)
    assert str(error.value) == (
        f'{setting}: "{name}" is built in, and the package regard-summaries has it too; uninstall that, or rename '
        "its entry point."
    )
    assert offers.names() == [*offers.built_in] and offers.package(name) is None
    others = [each for each in offers.built_in if each != name]
    assert all(offers.find(each) is not None for each in others[:1])


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        (
            "import nonsense_of_nobody",
            "it does not import (ModuleNotFoundError: No module named 'nonsense_of_nobody')",
        ),
        ("1 / 0", "it does not import (ZeroDivisionError: division by zero)"),
        ("a b", "it does not import (SyntaxError: invalid syntax (regard_summaries.py, line 1))"),
        ("x = 1", "it does not import (AttributeError: module 'regard_summaries' has no attribute 'TASK')"),
        ("class TASK: name = 'summarize'", "regard_summaries:TASK has no wording"),
        (COMPLETE.replace("'summarize'", "'shorten'"), 'regard_summaries:TASK has the name "shorten"'),
    ],
)
def test_a_broken_package_is_refused_by_its_name_and_leaves_the_others_alone(install, code, problem):
    sys.modules.pop("regard_summaries", None)
    install(code)
    with pytest.raises(ConfigError) as error:
        registry.task("summarize")
    assert str(error.value) == (
        f'task: "summarize" of the package regard-summaries cannot be used: {problem}; update the package, or '
        f"uninstall it."
    )
    assert (
        registry.task("classify").name == "classify" and registry.task_of_model("encoder", "regression") == "regress"
    )


def test_two_packages_that_offer_one_name_are_refused(install):
    install()
    install(package="regard-digests")
    with pytest.raises(ConfigError) as error:
        registry.task("summarize")
    assert str(error.value) in [
        f'task: "summarize" comes from {first} and {second}; uninstall all but one of them.'
        for first, second in (("regard-summaries", "regard-digests"), ("regard-digests", "regard-summaries"))
    ]


def test_what_a_missing_package_brought_is_named():
    assert registry.missing_package({}) == registry.missing_package({"translate": "regard"}) == ""
    assert registry.missing_package({"summarize": "regard-summaries"}) == (
        '"summarize" comes from the package regard-summaries, which is not installed; pip install regard-summaries.'
    )


@pytest.mark.parametrize(
    ("kind", "head", "name"),
    [
        ("seq2seq", None, "translate"),
        ("conditional-masked-lm", None, "translate"),
        ("causal-lm", None, "language-model"),
        ("encoder", None, "masked-language-model"),
        ("bidirectional-lm", None, "elmo"),
        ("word-vectors", None, "vectors"),
        ("encoder", "classification", "classify"),
        ("causal-lm", "classification", "classify"),
        ("encoder", "regression", "regress"),
        ("encoder", "similarity", "regress"),
        ("encoder", "token-classification", "tag"),
        ("encoder", "extractive-qa", "answer"),
        ("encoder", "multiple-choice", "choose"),
    ],
)
def test_the_task_of_a_model_follows_from_its_kind_and_head(kind, head, name):
    assert registry.task_of_model(kind, head) == name


def test_a_model_that_no_task_has_is_refused():
    with pytest.raises(ConfigError) as error:
        registry.task_of_model("seq2seq", "classification")
    assert str(error.value) == "head.kind: no task has a seq2seq model with a head of the kind classification."
