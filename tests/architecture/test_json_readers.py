"""Files are read through one reader: no module but those roots parses JSON, and no name becomes a path unchecked."""

import ast
from pathlib import Path

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


def test_our_own_files_are_read_through_records():
    assert [path for path in OWN if {("json", "loads"), ("json", "load")} & set(calls(path))] == []


def test_folders_are_removed_without_following_links():
    """`remove_folder` removes a link itself; elsewhere what is removed was just found in, or written to, a folder."""
    just_found = [
        "checkpoint/atomic.py",
        "checkpoint/verification.py",
        "runs/store/folder.py",
        "runs/store/listing.py",
    ]
    removing = [str(path.relative_to(SOURCE)) for path in OWN if ("shutil", "rmtree") in set(calls(path))]
    assert set(removing) <= set(just_found)
