"""What a source file may hold: outside libraries have owners, files are short, nothing is executed from data."""

import ast
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "regard"

OWNERS = {
    "typer": ["cli"],
    "rich": ["cli", "reporting/bars.py", "reporting/live.py"],
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
    "fastapi": ["server", "studio"],
    "torch.distributed": [
        "training/parallel",
        "checkpoint/shards.py",
        "nn/layers/dtensor.py",
        "objectives/split_vocabulary.py",
    ],
    "torch.utils.tensorboard": ["training/reports/loggers.py"],
    "mlflow": ["training/reports/loggers.py"],
    "wandb": ["training/reports/loggers.py"],
}
NO_TORCH = ("config", "text", "metrics", "cli")

FILES = {str(path.relative_to(SOURCE)): path.read_text(encoding="utf-8") for path in sorted(SOURCE.rglob("*.py"))}
TREES = {place: ast.parse(text) for place, text in FILES.items()}


def imports(place: str) -> Iterator[str]:
    """Yield every module a file imports, also inside functions."""
    for node in ast.walk(TREES[place]):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{place}: imports are absolute"
            yield str(node.module)
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_outside_libraries_stay_with_their_owners():
    for place in FILES:
        for module in imports(place):
            for library, owners in OWNERS.items():
                if module == library or module.startswith(library + "."):
                    assert any(place.startswith(owner) for owner in owners), f"{place} imports {module}"
            if place.split("/")[0] in NO_TORCH:
                assert module.split(".")[0] != "torch", f"{place} imports torch"


def test_files_are_short_and_named_for_what_they_do():
    assert [place for place, text in FILES.items() if text.count("\n") > 300] == []
    unclear = {"utils", "util", "helpers", "common", "misc"}
    assert [place for place in FILES if Path(place).stem in unclear] == []


def test_nothing_is_executed_from_data():
    for place, tree in TREES.items():
        assert "pickle" not in set(imports(place)), place
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in {"eval", "exec"}, place
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                assert not (node.func.attr == "load" and ast.unparse(node.func.value) == "torch"), place


def test_only_masks_makes_masks():
    """A triangular or comparison mask made elsewhere would have a polarity of its own."""
    for place, text in FILES.items():
        if place.startswith("nn/") and not place.endswith("/masks.py"):
            assert ".tril(" not in text and ".triu(" not in text, place
