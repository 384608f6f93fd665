"""The pages of the studio: short files, nothing from other hosts, nothing built under version control."""

import json
import re
from pathlib import Path

WEB = Path(__file__).parents[2] / "web"
GENERATED = "messages.ts"
SOURCES = [
    path
    for suffix in ("ts", "svelte", "css")
    for path in sorted((WEB / "src").rglob(f"*.{suffix}"))
    if path.name != GENERATED
]


def test_files_are_short():
    assert len(SOURCES) > 30
    assert [path.name for path in SOURCES if path.read_text(encoding="utf-8").count("\n") > 300] == []
    folders = {path.parent for path in SOURCES}
    assert all(len(list(folder.glob("*.*"))) <= 20 for folder in folders)


def test_pages_name_no_other_host():
    for path in [*SOURCES, WEB / "index.html"]:
        addresses = re.findall(r"https?://[^\s\"'`)]+", path.read_text(encoding="utf-8"))
        assert set(addresses) <= {"http://www.w3.org/2000/svg"}, path.name


def test_the_lock_file_holds_no_addresses():
    lock = (WEB / "package-lock.json").read_text(encoding="utf-8")
    assert '"resolved"' not in lock and ".tgz" not in lock
    assert "omit-lockfile-registry-resolved=true" in (WEB / ".npmrc").read_text(encoding="utf-8")
    assert json.loads(lock)["packages"][""]["name"] == "regard-studio"


def test_what_is_built_is_ignored():
    ignored = (WEB.parent / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert {"/web/node_modules/", "/src/regard/studio/static/"} <= set(ignored)
