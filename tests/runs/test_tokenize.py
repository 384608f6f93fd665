import pytest

from commands import bad, good
from regard import miniature
from regard.errors import ConfigError
from regard.runs.planning.recipes import find_recipe, resolve_run
from regard.runs.tokenize import tokenize_run

SENTENCES = [pair.target for pair in miniature.pairs("train", 300)]


@pytest.fixture
def books(tmp_path):
    folder = tmp_path / "books"
    folder.mkdir()
    for number in range(3):
        (folder / f"{number}.txt").write_text("\n\n".join(SENTENCES[100 * number : 100 * (number + 1)]))
    return folder


def words_of(books, tmp_path, name):
    return {"data.train.paths": [str(books)], "data.folder": str(tmp_path / name), "train.steps": 2}


@pytest.mark.parametrize("task", ["language-model", "masked-language-model", "elmo"])
def test_a_run_finds_its_text_tokenized(task, books, tmp_path):
    sizes = {"text.words": 200} if task == "elmo" else {"text.size": 400}
    settings = resolve_run(find_recipe(task), words_of(books, tmp_path, "corpus") | sizes).settings
    made = tokenize_run(settings)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "corpus").rglob("*.npy")}
    assert set(made.sets) == {"train", "valid"} and len(before) >= 6  # ids and chunks of three inputs
    again = tokenize_run(settings)
    assert again == made and {path: path.stat().st_mtime_ns for path in before} == before


def test_the_command_tokenizes_and_trains_nothing(books, tmp_path):
    words = [f"data.folder={tmp_path / 'corpus'}", "text.size=400"]
    good("train", "language-model", "--text", str(books), "--tokenize-only", *words)
    assert len(list((tmp_path / "corpus" / "train").glob("*.ids.npy"))) == 3 and not (tmp_path / "runs").exists()
    assert "has no meaning with --resume" in bad("train", "--resume", str(tmp_path), "--tokenize-only")


def test_data_that_is_not_running_text_is_refused(tmp_path):
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("ein Hund\ta dog\n" * 30)
    settings = resolve_run(find_recipe("translate"), {"data.train.path": str(pairs)}).settings
    with pytest.raises(ConfigError, match=r"^--tokenize-only: data of the task translate are .* \(--text\)\.$"):
        tokenize_run(settings)
