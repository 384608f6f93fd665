"""Files are read through one reader: no module but those roots parses JSON, and no name becomes a path unchecked."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "regard"
OWN = [
    *(SOURCE / "checkpoint").rglob("*.py"),
    *(SOURCE / "training").rglob("*.py"),
    *(SOURCE / "tasks").rglob("*.py"),
    *(SOURCE / "runs").rglob("*.py"),
    *(SOURCE / "studies").rglob("*.py"),
    *(SOURCE / "data" / "corpus").rglob("*.py"),
]


def calls(path: Path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner = node.func.value.id if isinstance(node.func.value, ast.Name) else ""
            yield owner, node.func.attr


@pytest.mark.parametrize("path", OWN, ids=lambda path: str(path.relative_to(SOURCE)))
def test_our_own_files_are_read_through_records(path):
    assert not {("json", "loads"), ("json", "load")} & set(calls(path))


@pytest.mark.parametrize("path", OWN, ids=lambda path: str(path.relative_to(SOURCE)))
def test_folders_are_removed_without_following_links(path):
    """`remove_folder` removes a link itself; elsewhere what is removed was just found in, or written to, a folder."""
    just_found = {
        "checkpoint/verification.py",
        "checkpoint/atomic.py",
        "runs/store/folder.py",
        "runs/store/listing.py",
    }
    assert ("shutil", "rmtree") not in set(calls(path)) or str(path.relative_to(SOURCE)) in just_found
