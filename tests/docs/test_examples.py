"""Every example in the README and in docs/ runs."""

import re
import shlex
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

import regard
from elmos import elmo_bundle
from encoder_folders import bert_tokenizer, small_encoder_bundle
from generators import language_bundle, tokenizer_of
from golden_vectors import GOLDEN
from labeled import write_reviews
from regard import miniature
from regard.checkpoint.bundle import write_bundle
from regard.cli.main import app
from regard.progress import SILENT
from regard.registry import task_names
from regard.runs.run import Run
from regard.studies.doctor import lr_finder as rate
from regard.studies.doctor import speed
from regard.studies.race.figures import timing
from tuning import write_questions, write_rated, write_tagged

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)

QUICK = {
    "data.train.max_rows": 200,
    "model.width": 16,
    "model.feed_forward_width": 32,
    "text.size": 600,
    "train.steps": 2,
    "train.warmup": 1,
    "validation.bleu_sentences": 2,
}

SIZES = ("model.width", "model.feed_forward_width", "text.size")


TRANSFORMER_ONLY = "model.feed_forward_width"

SETS = {
    "data.valid.max_rows": 20,
    **{f"data.test.{name}.max_rows": 2 for name in ("test", "unseen-pairs", "unseen-cases", "unseen-depth")},
}
"""What makes the sets of a translator of the miniature world quick to score."""

QUICK_TEXT = {"model.width": 16, "text.size": 400, "train.steps": 2, "train.warmup": 1}
"""What makes the example of a language model quick."""


def quick_text(recipe: str) -> dict[str, object]:
    """Return what makes the example of a language model quick."""
    stories = {"data.train.max_rows": 200, "data.valid.max_rows": 5, "data.test.test.max_rows": 5}
    return QUICK_TEXT | (stories if recipe in ("language-miniature", "masked-miniature") else {})


QUICK_LABELS: dict[str, object] = {"train.steps": 2, "train.warmup": 1}
"""What makes fine-tuning quick."""


def quick_labels(recipe: str, is_pretrained: bool) -> dict[str, object]:
    """Return what makes fine-tuning quick; a pretrained model brings its own sizes."""
    stories = {"data.train.max_rows": 60, "data.valid.max_rows": 5, "data.test.test.max_rows": 5}
    stories |= {"data.test.unseen-names.max_rows": 5} if recipe == "tag-miniature" else {}
    sizes: dict[str, object] = {} if is_pretrained else {"model.width": 16, "text.size": 400}
    return QUICK_LABELS | sizes | (stories if recipe.endswith("-miniature") else {"data.train.max_rows": 60})


def quick_for(preset: str | None, recipe: str = "translate", is_pretrained: bool = False) -> dict[str, object]:
    """Return what makes an example quick; other families have no feed-forward layers."""
    if recipe.startswith("vectors"):
        return {"model.width": 8, "train.epochs": 1, "text.min_count": 1}
    if recipe.startswith(("classify", "reviews", "regress", "tag", "answer", "choose")):
        return quick_labels(recipe, is_pretrained)
    if recipe.startswith(("language", "masked")):
        return quick_text(recipe) if not is_pretrained else QUICK_LABELS  # a pretrained model brings its own sizes
    if recipe.startswith("elmo"):
        sizes = {"model.width": 8, "model.cell_width": 12, "model.filters": "[[1,4]]", "text.words": 200}
        stories = {"data.train.max_rows": 60, "data.valid.max_rows": 5, "data.test.test.max_rows": 5}
        return sizes | QUICK_LABELS | (stories if recipe == "elmo-miniature" else {})
    quick = QUICK | (SETS if recipe == "translate-miniature" else {})
    if is_pretrained:
        return {name: value for name, value in quick.items() if name not in SIZES}
    if preset is None or preset.startswith("transformer"):
        return quick
    return {name: value for name, value in quick.items() if name != TRANSFORMER_ONLY}


def blocks(page: Path, language: str) -> list[str]:
    return [text for name, text in BLOCK.findall(page.read_text(encoding="utf-8")) if name == language]


@pytest.fixture
def desk(tmp_path, monkeypatch, quick_run, masked_run, pairs):
    """A folder with the files the examples name: a finished run, parallel text, and a recipe."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(speed, "SECONDS", 0.2)
    monkeypatch.setattr(rate.sweep, "__defaults__", (SILENT, 12))
    monkeypatch.setattr(timing, "LENGTHS", (4, 8))
    for name in ("quickstart", "mine"):
        shutil.copytree(quick_run.path, tmp_path / "runs" / name)
    shutil.copytree(masked_run.path, tmp_path / "runs" / "student")
    for side, suffix in (("source", "de"), ("target", "en")):
        text = "".join(getattr(pair, side) + "\n" for pair in pairs)
        (tmp_path / f"a.{suffix}").write_text(text)
        (tmp_path / f"b.{suffix}").write_text(text[:400].rsplit("\n", 1)[0] + "\n")
    shutil.copy(tmp_path / "a.en", tmp_path / "distilled.en")
    lines = min(len((tmp_path / f"b.{suffix}").read_text().splitlines()) for suffix in ("de", "en"))
    for suffix in ("de", "en"):
        path = tmp_path / f"b.{suffix}"
        path.write_text("".join(line + "\n" for line in path.read_text().splitlines()[:lines]))
    (tmp_path / "books").mkdir()
    for number, story in enumerate(miniature.documents("train", 60)):
        (tmp_path / "books" / f"{number}.txt").write_text(story)
    (tmp_path / "more.txt").write_text(story)
    for name, split in (("stories.txt", "train"), ("more-stories.txt", "test")):
        (tmp_path / name).write_text("\n\n".join(miniature.documents(split, 60)))
    write_reviews(tmp_path / "reviews.csv", 60)
    write_rated(tmp_path / "alike.csv", 60)
    write_tagged(tmp_path / "words.conll", 60)
    words = (tmp_path / "words.conll").read_text().replace("\t", ",")
    (tmp_path / "words.csv").write_text(f"word,tag\n{words}")
    write_questions(tmp_path / "questions.json", 60, silent=0.3)
    write_bundle(tmp_path / "runs" / "stories", language_bundle(tokenizer_of("byte-level"), window=24))
    write_bundle(tmp_path / "runs" / "elmo", elmo_bundle())
    write_bundle(tmp_path / "runs" / "bert", small_encoder_bundle(bert_tokenizer()))
    table = GOLDEN | {"the": (0.1, 0.2, -0.3, 0.1), "good": (0.5, -0.1, 0.2, 0.1)}
    (tmp_path / "glove.txt").write_text("".join(f"{word} {' '.join(map(str, row))}\n" for word, row in table.items()))
    (tmp_path / "pairs.tsv").write_text("".join(f"{pair.source}\t{pair.target}\n" for pair in pairs[:20]))
    (tmp_path / "archive.toml").write_text(blocks(ROOT / "docs" / "own-text.md", "toml")[0])
    return tmp_path


def quick_train(recipe, overrides=None, **options):
    from regard.runs.train import train

    given = overrides or {}
    changes = quick_for(given.get("model.preset"), recipe, "init_from" in given)
    return train(recipe, (overrides or {}) | changes, **options)


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "python")], ids=lambda page: page.name)
def test_python_examples_run(page, desk, monkeypatch):
    monkeypatch.setattr(regard, "train", quick_train, raising=False)
    for code in blocks(page, "python"):
        names: dict[str, object] = {}
        exec(compile(code, str(page), "exec"), names)
        assert len(names) > 1


def commands(page: Path) -> list[list[str]]:
    lines = []
    for block in blocks(page, "sh"):
        for line in block.splitlines():
            words = shlex.split(line.split(" > ")[0], comments=True)
            while words and re.fullmatch(r"REGARD_[A-Z_]+=\w+", words[0]):
                words = words[1:]  # variables of the environment
            if words and words[0] == "regard":
                lines.append(words[1:])
    return lines


SLOW = ("race.md",)
"""Five races take half a minute; one in Python, and the verb in `cli`, are looked at in any case."""


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=page.name, marks=[pytest.mark.slow] if page.name in SLOW else [])
        for page in PAGES
        if commands(page)
    ],
)
def test_commands_run(page, desk):
    for words in commands(page):
        if words[0] == "train" and "--resume" not in words:
            chosen = next((word.partition("=")[2] for word in words if word.startswith("model.preset=")), None)
            quick = [f"{name}={value}" for name, value in quick_for(chosen, words[1], "--init-from" in words).items()]
            out = (
                []
                if "--out" in words or "--dry-run" in words
                else ["--out", f"runs/{len(list((desk / 'runs').iterdir()))}"]
            )
            words = [*words, *quick, *out, "--overwrite"]
        if words[0] == "verify-resume":
            words = [*words, *(f"{name}={value}" for name, value in quick_for(None, words[1]).items())]
        if words[0] == "doctor":
            sizes = {} if "--init-from" in words else quick_for(None, words[1]) if words[1] in task_names() else QUICK
            words = [*words, *(f"{name}={value}" for name, value in sizes.items() if name in SIZES)]
        if words[0] == "transfer":
            words = [*words, "train.steps=2", "train.warmup=1"]
        if words[0] == "race":
            quick = {name: value for name, value in quick_for(None, words[1]).items() if name != "train.steps"}
            if "race-miniature" in words:
                quick |= {"data.test.test.max_rows": 4, "data.valid.max_rows": 20}
            words = [word if words[number - 1] != "--budget" else "2 steps" for number, word in enumerate(words)]
            words = [*words, *(f"{name}={value}" for name, value in quick.items())]
        if words[:2] == ["train", "--resume"]:
            steps = Run(Path(words[2])).record.steps + 1
            words = [word if not word.startswith("train.steps=") else f"train.steps={steps}" for word in words]
        result = CliRunner().invoke(app, words)
        assert result.exit_code == 0, (words, result.output, result.exception)


def test_the_readme_shows_the_two_commands():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "make quickstart" in text and "make test" in text


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), target


def test_recipes_in_the_documentation_resolve(desk):
    from regard.runs.planning.recipes import find_recipe, resolve_run

    assert resolve_run(find_recipe("archive.toml"), {}).settings.model.dropout == 0.2
