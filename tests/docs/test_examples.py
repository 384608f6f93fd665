"""README and every page of docs/ can be followed from top to bottom in an empty folder, as a reader would."""

import contextlib
import io
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

import regard
from regard.cli.main import app
from regard.progress import SILENT
from regard.runs import train as training
from regard.runs.run import Run
from regard.studies.doctor import lr_finder as rate
from regard.studies.doctor import speed
from regard.studies.race.figures import timing

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(sh|python|toml)\n(.*?)^```", re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r"\s+# ")
FILE = re.compile(r"# (\S+\.toml)\n")
QUICK = ("README.md", "own-text.md", "miniature.md", "tokenizers.md", "scores.md", "plugins.md")
"""Pages that are followed by `make test`; the others train much, and their verbs are tested in `cli` in any case."""

ROWS = 60
"""Examples that a reader's `--count` is lowered to."""

PAIRS: dict[str, object] = {
    "data.train.max_rows": 200,
    "model.width": 16,
    "model.feed_forward_width": 32,
    "text.size": 600,
    "train.steps": 2,
    "train.warmup": 1,
    "validation.bleu_sentences": 2,
}
TEXT: dict[str, object] = {"model.width": 16, "text.size": 400, "train.steps": 2, "train.warmup": 1}
ELMO: dict[str, object] = {"model.width": 8, "model.cell_width": 12, "model.filters": [[1, 4]], "text.words": 200}
LABELS: dict[str, object] = {"data.train.max_rows": 60, "train.steps": 2, "train.warmup": 1}
VECTORS: dict[str, object] = {"model.width": 8, "train.epochs": 1, "text.min_count": 1}
SETS = {
    "data.valid.max_rows": 20,
    **{f"data.test.{name}.max_rows": 2 for name in ("test", "unseen-pairs", "unseen-cases", "unseen-depth")},
}
STORIES = {"data.train.max_rows": 200, "data.valid.max_rows": 5, "data.test.test.max_rows": 5}
SIZES = ("model.width", "model.feed_forward_width", "text.size", "model.cell_width", "model.filters", "text.words")


def quick(recipe: str, preset: str | None = None, is_pretrained: bool = False) -> dict[str, object]:
    """Return the settings that make a run quick; a pretrained model brings its own sizes."""
    is_miniature = recipe.endswith("-miniature")
    if recipe.startswith("vectors"):
        values = VECTORS
    elif recipe.startswith(("classify", "regress", "tag", "answer", "choose")):
        values = LABELS | ({} if preset == "words" else {"model.width": 16, "text.size": 400})
        values |= STORIES | {"data.train.max_rows": 60} if is_miniature else {}
        values |= {"data.test.unseen-names.max_rows": 5} if recipe == "tag-miniature" else {}
    elif recipe.startswith(("language", "masked")):
        values = TEXT | (STORIES if is_miniature else {})
    elif recipe.startswith("elmo"):
        values = ELMO | {"train.steps": 2, "train.warmup": 1} | (STORIES if is_miniature else {})
    else:
        values = PAIRS | (SETS if recipe == "translate-miniature" else {})
        if preset is not None and not preset.startswith("transformer"):
            values = {name: value for name, value in values.items() if name != "model.feed_forward_width"}
    return {name: value for name, value in values.items() if not (is_pretrained and name in SIZES)}


def quick_train(recipe, overrides=None, *, original=training.train, **options):
    """Train as the page says, in two steps of a small model."""
    given = dict(overrides or {})
    changes = quick(str(recipe), given.get("model.preset"), given.get("init_from") is not None)
    return original(recipe, given | changes, **options)


def shrunk(words: list[str]) -> list[str]:
    """Return a command with what makes it quick appended."""
    verb, recipe = words[0], words[1] if len(words) > 1 else ""
    is_pretrained = "--init-from" in words
    chosen = next((word.partition("=")[2] for word in words if word.startswith("model.preset=")), None)
    if "--preset" in words:
        chosen = words[words.index("--preset") + 1]
    if "--resume" in words:
        steps = Run(Path(words[2])).record.steps + 1
        return [f"train.steps={steps}" if word.startswith("train.steps=") else word for word in words]
    if verb == "data":
        return [str(min(int(word), ROWS)) if words[at - 1] == "--count" else word for at, word in enumerate(words)]
    values: dict[str, object] = {}
    if verb == "train" and "--dry-run" in words:
        values = quick(recipe, chosen, is_pretrained)
    elif verb == "verify-resume":
        values = quick(recipe)
    elif verb == "doctor" and not is_pretrained:
        values = {name: value for name, value in quick(recipe, chosen).items() if name in SIZES or "max_rows" in name}
    elif verb == "transfer":
        values = {"train.steps": 2, "train.warmup": 1}
    elif verb == "race":
        values = {name: value for name, value in quick(recipe).items() if name != "train.steps"}
        values |= {"data.test.test.max_rows": 4, "data.valid.max_rows": 20} if recipe == "race-miniature" else {}
        words = [word if words[at - 1] != "--budget" else "2 steps" for at, word in enumerate(words)]
    return [*words, *(f"{name}={value}" for name, value in values.items())]


def follow_shell(line: str) -> None:
    """Run a line of a page: `regard` in this process, its output into the file it is sent to, the rest in a shell."""
    for command in COMMENT.split(line)[0].split(" && "):
        command = re.sub(r"^(REGARD_[A-Z_]+=\w+ )+", "", command.strip())
        if not command.startswith("regard "):
            assert command.startswith(("cut ", "mkdir ", "printf ", "git ", "make ", "cd ")), command
            if not command.startswith(("git ", "make ", "cd ")):
                subprocess.run(command, shell=True, check=True)
            continue
        words, _, file = command.partition(" > ")
        result = CliRunner().invoke(app, shrunk(shlex.split(words)[1:]))
        assert result.exit_code == 0, (command, result.output, result.exception)
        if file:
            Path(file.strip()).write_text(result.stdout, encoding="utf-8")


def follow(page: Path) -> None:
    """Run every block of a page in order."""
    for language, text in BLOCK.findall(page.read_text(encoding="utf-8")):
        if language == "sh":
            for line in filter(str.strip, text.splitlines()):
                follow_shell(line)
        elif language == "python":
            names: dict[str, object] = {}
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(text, str(page), "exec"), names)
        elif (name := FILE.match(text)) is not None:
            Path(name[1]).write_text(text, encoding="utf-8")


@pytest.fixture
def empty_folder(tmp_path, monkeypatch):
    """An empty folder, in which training is short."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(speed, "SECONDS", 0.2)
    monkeypatch.setattr(speed, "QUICK_SECONDS", 0.1)
    monkeypatch.setattr(rate.sweep, "__defaults__", (SILENT, 12))
    monkeypatch.setattr(timing, "LENGTHS", (4, 8))
    monkeypatch.setattr(training, "train", quick_train)
    monkeypatch.setattr(regard, "train", quick_train, raising=False)
    yield tmp_path
    shutil.rmtree(tmp_path)


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, id=page.name, marks=[] if page.name in QUICK else [pytest.mark.slow]) for page in PAGES],
)
def test_a_page_can_be_followed_in_an_empty_folder(page, empty_folder):
    follow(page)


def test_the_readme_shows_the_two_commands():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "make quickstart" in text and "make test" in text


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), target
