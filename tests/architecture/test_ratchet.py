"""The layer rule and the counts of scripts/structure.py, which may fall but never rise."""

import tomllib
from functools import cache
from pathlib import Path

import pytest

import structure

counts = cache(structure.counts)
BOUNDS = tomllib.loads(Path(__file__).with_name("ratchet.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", BOUNDS["counts"])
def test_no_count_rises(name):
    count = counts()[name]
    assert count <= BOUNDS["counts"][name], f"{name}: `python scripts/structure.py {name!r}` shows where"
    assert count == BOUNDS["counts"][name], f"{name}: only {count} are left; write that into ratchet.toml"


def test_every_count_has_a_bound():
    assert set(counts()) == set(BOUNDS["counts"])


def test_every_package_has_a_layer():
    for module in structure.modules():
        if module not in structure.FACADES:
            structure.layer_of(module)


def test_no_folder_holds_more_than_twenty_files():
    assert {name: size for name, size in structure.folder_sizes().items() if size > 20} == {}


def test_package_files_hold_a_docstring_only():
    """One import path for each name, and no cycle through a package; the façades excepted."""
    for path in structure.files():
        name = structure.module_of(path)
        if path.name == "__init__.py" and name != "regard" and not name.startswith("regard.miniature"):
            assert len(structure.tree(path).body) == 1, path
