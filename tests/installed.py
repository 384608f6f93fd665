"""Packages that are installed by their entry points alone: a folder on the path of imports, without pip."""

from pathlib import Path

import pytest

from regard import registry

REGISTRIES = (registry.TASKS, registry.FAMILIES, registry.EXPORTERS)


def write_package(folder: Path, package: str, points: dict[str, dict[str, str]], code: dict[str, str]) -> Path:
    """Write modules and the metadata of a package, whose entry points are groups of names with `module:attribute`."""
    folder.mkdir(parents=True, exist_ok=True)
    for module, text in code.items():
        (folder / f"{module}.py").write_text(text, encoding="utf-8")
    about = folder / f"{package.replace('-', '_')}-1.0.dist-info"
    about.mkdir(exist_ok=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n", encoding="utf-8")
    lines = [
        f"[{group}]\n" + "".join(f"{name} = {at}\n" for name, at in each.items()) for group, each in points.items()
    ]
    (about / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")
    return folder


def installed(monkeypatch: pytest.MonkeyPatch, *folders: Path) -> None:
    """Install the packages of folders until the test ends."""
    for folder in folders:
        monkeypatch.syspath_prepend(folder)
    for each in REGISTRIES:
        monkeypatch.setattr(each, "_offered", None)
        monkeypatch.setattr(each, "_loaded", dict(each._loaded))
