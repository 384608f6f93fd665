"""What a source file may hold: outside libraries have owners, files are short, nothing is executed from data."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "regard"

OWNERS = {
    "typer": ["cli"],
    "rich": ["cli", "reporting/bars.py"],
    "tokenizers": ["text"],
    "sacrebleu": ["metrics"],
    "sklearn": ["metrics", "tasks/word_vectors/map.py"],
    "safetensors": ["checkpoint", "interop"],
    "datasets": ["data"],
    "matplotlib": ["reporting/drawing.py", "studies/race/charts.py"],
    "numba": ["nn/kernels/word2vec.py"],
    "transformers": ["interop"],
    "onnx": ["interop"],
    "ctranslate2": ["interop"],
    "fastapi": ["server"],
    "torch.distributed": ["training/parallel/process_group.py"],
    "torch.utils.tensorboard": ["training/metrics_log.py"],
}
NO_TORCH = ("config", "text", "metrics", "cli")

FILES = sorted(SOURCE.rglob("*.py"))


def imports(path: Path) -> Iterator[str]:
    """Yield every module a file imports, also inside functions."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            yield str(node.module)
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_outside_libraries_stay_with_their_owners(path):
    place = str(path.relative_to(SOURCE))
    for module in imports(path):
        for library, owners in OWNERS.items():
            if module == library or module.startswith(library + "."):
                assert any(place.startswith(owner) for owner in owners), f"{place} imports {module}"
        if path.relative_to(SOURCE).parts[0] in NO_TORCH:
            assert module.split(".")[0] != "torch", f"{place} imports torch"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_files_are_short_and_named_for_what_they_do(path):
    assert path.read_text(encoding="utf-8").count("\n") <= 300
    assert path.stem not in {"utils", "util", "helpers", "common", "misc"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_nothing_is_executed_from_data(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert "pickle" not in set(imports(path))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in {"eval", "exec"}
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            assert not (node.func.attr == "load" and ast.unparse(node.func.value) == "torch")


def test_only_masks_makes_masks():
    """A triangular or comparison mask made elsewhere would have a polarity of its own."""
    for path in (SOURCE / "nn").rglob("*.py"):
        if path.name != "masks.py":
            assert ".tril(" not in path.read_text(encoding="utf-8") and ".triu(" not in path.read_text(
                encoding="utf-8"
            )
