"""The layer rule: a package imports only from lower numbers, and outside libraries have owners."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "regard"

LAYERS = {
    "version": 0,
    "errors": 0,
    "escaping": 0,
    "progress": 0,
    "config": 1,
    "text": 1,
    "metrics": 1,
    "data": 2,
    "nn": 2,
    "models": 3,
    "objectives": 4,
    "decoding": 4,
    "checkpoint": 4,
    "inspection": 4,
    "training": 5,
    "interop": 5,
    "pipelines": 6,
    "studies": 7,
    "recipes": 7,
    "server": 8,
    "cli": 9,
}
# config is machinery that schemas of every layer build on, its own layer's included.
ALLOWED_BESIDE = {("text", "config"), ("metrics", "config"), ("errors", "escaping")}
TOP = {"__init__", "__main__"}  # the façade and `python -m regard` may see everything

OWNERS = {
    "typer": ["cli"],
    "rich": ["cli"],
    "tokenizers": ["text"],
    "sacrebleu": ["metrics"],
    "sklearn": ["metrics", "studies/vectors/maps.py"],
    "safetensors": ["checkpoint", "interop"],
    "datasets": ["data"],
    "matplotlib": ["studies/drawing.py", "studies/race/pictures.py"],
    "numba": ["nn/vectors_kernel.py"],
    "transformers": ["interop"],
    "onnx": ["interop"],
    "ctranslate2": ["interop"],
    "fastapi": ["server"],
    "torch.distributed": ["training/distributed.py"],
    "torch.utils.tensorboard": ["training/reports.py"],
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


def layer_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def test_every_package_has_a_layer():
    found = {path.relative_to(SOURCE).parts[0].removesuffix(".py") for path in FILES}
    assert found - TOP <= set(LAYERS)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_only_lower_layers(path):
    mine = layer_of(path)
    if mine in TOP:
        return
    for module in imports(path):
        parts = module.split(".")
        if parts[0] != "regard" or len(parts) < 2 or parts[1] not in LAYERS:
            continue
        theirs = parts[1]
        if theirs == mine or (mine, theirs) in ALLOWED_BESIDE:
            continue
        assert LAYERS[theirs] < LAYERS[mine], f"{path}: {mine} ({LAYERS[mine]}) imports {theirs} ({LAYERS[theirs]})"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_outside_libraries_stay_with_their_owners(path):
    place = str(path.relative_to(SOURCE))
    for module in imports(path):
        for library, owners in OWNERS.items():
            if module == library or module.startswith(library + "."):
                assert any(place.startswith(owner) for owner in owners), f"{place} imports {module}"
        if layer_of(path) in NO_TORCH:
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
    for path in (SOURCE / "nn").glob("*.py"):
        if path.name != "masks.py":
            assert ".tril(" not in path.read_text(encoding="utf-8") and ".triu(" not in path.read_text(
                encoding="utf-8"
            )
