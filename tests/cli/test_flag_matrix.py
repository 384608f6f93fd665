"""Each flag of the verbs that touch a run, for each task: honored, or refused in one sentence that names it."""

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from commands import call, good
from every_task import TASKS
from regard.cli.options import Given
from regard.cli.run_options import COLUMNS, RUN_FLAGS, run_overrides
from regard.cli.task_options import honored, owners
from regard.errors import ConfigError, RegardError
from regard.runs.planning.recipes import find_recipe, resolve_run
from regard.tasks.contract import find_task

SCORED = ("translate", "language-model")
LENSES = ("language-model", "masked-language-model")
RUNNING = ("language-model", "masked-language-model", "elmo", "vectors")
TABLES = ("classify", "regress", "choose", "tag", "answer")
ATTEND = ("translate", "language-model", "masked-language-model", *TABLES)
INPUTS = {
    "fill": ["A [MASK] sleeps."],
    "regress": ["a dog", "a cat"],
    "answer": ["who?", "it is anna ."],
    "choose": ["the dog", "sleeps", "reads"],
}
"""Arguments of the verbs that take other than a text."""


@dataclass(frozen=True)
class Flag:
    """A flag with its value, the tasks whose models honor it, and the sign of it in what is printed."""

    words: tuple[str, ...]
    tasks: tuple[str, ...]
    sign: Callable[[str], bool] = bool

    @property
    def name(self) -> str:
        return self.words[0]


def refused(*words: Any) -> str:
    """Return the one sentence that a command is refused with."""
    result = call(*words)
    assert result.exit_code != 0, result.output
    assert isinstance(result.exception, RegardError) or result.exit_code == 2, result.exception
    sentence = str(result.exception) if isinstance(result.exception, RegardError) else result.stderr
    assert sentence.count("\n") <= 1 and "Traceback" not in sentence
    return sentence


SCORE = (
    Flag(("--inline",), SCORED),
    Flag(("--as-one-text",), ("language-model",)),
    Flag(("--stride", "4"), ("language-model",)),
    Flag(("--score-eos",), ("language-model",), lambda out: "</s>" in out or "endoftext" in out),
    Flag(
        ("--alternatives", "2"), ("language-model",), lambda out: len(json.loads(out)["texts"][0]["alternatives"]) > 0
    ),
    Flag(("--max-source-length", "500"), ("translate",)),
    Flag(("--quantize", "int8"), ("language-model",), lambda out: "weights_cost" in json.loads(out)),
    Flag(("--ensemble", "{run}"), ("translate",)),
)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("flag", SCORE, ids=lambda flag: flag.name)
def test_score(flag, task, tiny_runs, tmp_path):
    run = tiny_runs / task
    (tmp_path / "a.txt").write_text("the dog sleeps .\n")
    files = [tmp_path / "a.txt"] * (2 if task == "translate" else 1)
    words = ("score", run, *files, *(word.format(run=run) for word in flag.words), "--json", "-q")
    if task in flag.tasks:
        assert flag.sign(good(*words))
        return
    sentence = refused(*words)
    kind = find_task(task).wording.noun
    is_scored = task in SCORED
    assert (
        (flag.name in sentence or flag.name[2:] in sentence) and kind in sentence
        if is_scored
        else ("this is neither a translator nor a language model" in sentence)
    )


INSPECT = (
    Flag(("--attention", "self"), ("language-model", "masked-language-model", *TABLES)),
    Flag(("--attention", "cross"), ("translate",), lambda out: json.loads(out)["attention"] == "cross"),
    Flag(("--layer", "0"), ATTEND),
    Flag(
        ("--head", "0"),
        ("translate", "language-model", "masked-language-model", *TABLES),
        lambda out: '"head": 0' in out,
    ),
    Flag(("--top", "1"), ATTEND),
    Flag(("--logit-lens",), LENSES, lambda out: len(json.loads(out)["blocks"]) > 0),
    Flag(("--iterations", "2"), ()),
    Flag(("--out", "{out}"), ATTEND),
)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("flag", INSPECT, ids=lambda flag: " ".join(flag.words[:2]))
def test_inspect(flag, task, tiny_runs, tmp_path):
    words = [word.format(out=tmp_path / "a.png") for word in flag.words]
    texts = {"regress": ["a dog", "a cat"], "answer": INPUTS["answer"], "choose": INPUTS["choose"]}
    command = ("inspect", tiny_runs / task, *texts.get(task, ["the dog sleeps ."]), *words, "--json")
    if task in flag.tasks:
        assert flag.sign(good(*command)) and (flag.name != "--out" or (tmp_path / "a.png").is_file())
        return
    sentence = refused(*command)
    kind = find_task(task).wording.noun
    assert any(word in sentence for word in (flag.name, flag.words[-1], "attention: this model has none", kind)), (
        sentence
    )


VERBS = ("translate", "generate", "classify", "regress", "tag", "answer", "choose", "fill", "vectors neighbors")
ENCODERS = ("masked-language-model", "elmo", "classify", "regress", "tag", "answer", "choose")


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_is_for_the_models_of_its_task(verb, task, tiny_runs):
    words = (*verb.split(), tiny_runs / task, *INPUTS.get(verb, ["the"]), "--json")
    if verb in [each.name for each in find_task(task).operations]:
        assert json.loads(good(*words).splitlines()[0])
    else:
        sentence = refused(*words)
        assert f"{tiny_runs / task}: this is {find_task(task).wording.noun}" in sentence and "regard " in sentence


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("verb", ["embed", "similar"])
@pytest.mark.parametrize("flags", [("--pooling", "max"), ("--layer", "0")], ids=lambda flags: flags[0])
def test_texts_are_embedded_by_any_encoder(flags, verb, task, tiny_runs):
    words = (verb, tiny_runs / task, "the dog", *(["a cat"] if verb == "similar" else []), *flags, "--json")
    config = json.loads((find_run(tiny_runs / task) / "config.json").read_text())
    is_encoder = config["model"]["family"] in ("bert", "elmo")
    if is_encoder:
        assert good(*words)
    elif task == "vectors" and verb == "similar":
        assert f"{flags[0]}" in refused(*words) or flags[0][2:] in refused(*words)
    else:
        assert str(tiny_runs / task) in refused(*words)


def find_run(path: Path) -> Path:
    from regard.checkpoint.store import find_checkpoint

    return find_checkpoint(path)


@pytest.mark.parametrize("task", TASKS)
def test_cards_lists_averages_and_exports_are_for_every_task(task, tiny_runs, tmp_path):
    shutil.copytree(tiny_runs / task, tmp_path / "runs" / task)
    run = tmp_path / "runs" / task
    assert json.loads(good("card", run, "--json"))["card"] == str(run / "README.md")
    (row,) = json.loads(good("runs", tmp_path / "runs", "--json"))
    assert row["task"] == task and task in good("runs", tmp_path / "runs")
    for words, sign in (((), "averaged"), (("--of", "best", "--out", tmp_path / "mean"), "mean")):
        result = call("average", run, *words, "--json")
        if result.exit_code == 0:
            assert Path(json.loads(result.stdout)["path"]).name == sign
        else:
            assert str(run) in str(result.exception) and isinstance(result.exception, RegardError)
    result = call("export", run, tmp_path / "hf", "--to", "hf", "--json", "-q")
    if result.exit_code:
        assert isinstance(result.exception, RegardError) and "Hugging Face" in str(result.exception)
    else:
        assert (tmp_path / "hf" / "config.json").is_file()
    assert "--to" in refused("convert", run, "--to", "x") and "to: " in refused(
        "export", run, tmp_path / "o", "--to", "x"
    )
    good("runs", "delete", run, "--yes", "--force")
    assert not run.exists()


DATA = {
    "data.train.source": ("translate",),
    "data.train.target": ("translate",),
    "data.train.path": ("translate", "language-model", *TABLES),
    "data.train.paths": RUNNING,
}
"""The settings of training data that flags set, and the tasks that have them."""
COLUMN_TASKS = {
    "source_column": ("translate",),
    "target_column": ("translate",),
    "text_column": ("classify", "regress"),
    "label_column": ("classify", "regress", "choose", "tag"),
}


def data_of(task: str) -> dict[str, Any]:
    return {"text": ["a.txt"]} if task in RUNNING else {"data": "a.tsv"}


def given(**flags: Any) -> Given:
    names = [*(flag.name for flag in RUN_FLAGS.values()), *(flag.name for flag in COLUMNS)]
    return Given(dict.fromkeys(names) | flags)


def settled(task: str, **flags: Any) -> dict[str, Any]:
    """Return the settings of train, doctor, race and verify-resume, which all read these flags alike."""
    return resolve_run(find_recipe(task), run_overrides([], given(**flags))).settings.model_dump(mode="json")


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("setting", DATA)
def test_a_flag_of_data_reaches_the_settings_or_is_refused_by_its_name(setting, task):
    flag = RUN_FLAGS[setting]
    value: Any = ["a.txt"] if setting.endswith("paths") else "a.tsv"
    other = {"source": {"target": "b"}, "target": {"source": "b"}}.get(flag.name, {})
    if task in DATA[setting]:
        train = settled(task, **{flag.name: value}, **other)["data"]["train"]
        assert train[setting.rpartition(".")[2]] == value
        return
    with pytest.raises(ConfigError) as error:
        settled(task, **{flag.name: value})
    assert f"--{flag.name}" in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("name", COLUMN_TASKS)
def test_a_column_reaches_the_settings_or_is_refused(name, task):
    flags = data_of(task) | {name: ["word"] if name == "text_column" else "word"}
    if task in COLUMN_TASKS[name]:
        assert settled(task, **flags)["data"]["train"][name] == "word"
    else:
        with pytest.raises(ConfigError, match=name):
            settled(task, **flags)


@pytest.mark.parametrize("task", TASKS)
def test_flags_of_every_run_reach_its_settings(task):
    settings = settled(task, **data_of(task), seed=7, languages=["de"], threads=1, device="cpu", deterministic=True)
    assert (settings["seed"], settings["languages"]) == (7, ["de"])
    machine = settings["machine"]
    assert (machine["threads"], machine["device"], machine["deterministic"]) == (1, "cpu", True)


def test_an_option_of_another_task_is_refused_with_the_models_it_is_for():
    schemas = {task: task.evaluation for task in map(find_task, ("translate", "language-model", "classify"))}
    task = find_task("classify")
    assert owners(schemas, "stride") == "language models"
    with pytest.raises(ConfigError, match="--stride 4: for language models, and r is a classifier; leave it out."):
        honored(task, "r", Given(stride=4), schemas)
    assert honored(find_task("language-model"), "r", Given(stride=4, papers=False), schemas) == {"stride": 4}
