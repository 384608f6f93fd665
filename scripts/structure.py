"""Counts of what makes a codebase hard to change: `python scripts/structure.py` prints them.

The same counts are ratchets in tests/architecture: they may fall, never rise.
"""

import ast
import re
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import words

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "regard"
LAYERS = ROOT / "tests" / "architecture" / "layers.toml"
FACADES = {"regard", "regard.__main__"}
"""What may see everything: `import regard` and `python -m regard`."""

TASKS = {
    "translate": "translate",
    "language-model": "language_model",
    "masked-language-model": "masked_lm",
    "elmo": "elmo",
    "vectors": "word_vectors",
    "classify": "classify",
    "regress": "regress",
    "choose": "choose",
    "tag": "tag",
    "answer": "answer",
}
"""Names of the built-in tasks and their folders in `tasks/`."""

KNOW_TASKS = ("registry.py", "tasks/load.py", "recipes/")
"""Where a task may be known by its name outside its folder: the registry, typed overloads, recipes."""

OTHER_MEANINGS = {
    "models/": {"elmo"},  # the family
    "data/sources/": {"answer", "tag"},  # columns of tables
    "studies/transfer/": {"elmo", "vectors"},  # pretrained models, as its flags name them
    "cli/verbs/studies.py": {"elmo", "vectors"},
    "tasks/planning/": {"elmo"},  # the family
    "cli/listing.py": {"translate", "classify", "regress", "tag", "answer", "choose", "vectors"},  # verbs
    "cli/predict/": {"vectors"},  # keys of JSON and columns of what is printed
    "pipelines/encoder_results.py": {"vectors"},  # an array in a file
    "server/protocols/hugging_face/": {"answer"},  # a key of JSON
    "tasks/embedding_init.py": {"vectors"},  # a group of settings
}
"""Words that are no task there but are spelled as one."""


@cache
def files() -> tuple[Path, ...]:
    """Return every source file, in order."""
    return tuple(sorted(SOURCE.rglob("*.py")))


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def module_of(path: Path) -> str:
    """Return the dotted name of a source file."""
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def modules() -> dict[str, Path]:
    return {module_of(path): path for path in files()}


def imports(path: Path, for_types: bool = True) -> Iterator[str]:
    """Yield every module of the project that a file imports, inside functions too."""
    for node in ast.walk(tree(path)) if for_types else _running(tree(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] == "regard")
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "regard":
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in modules() else node.module


def _running(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes that run: not those for type checkers alone."""
    for child in ast.iter_child_nodes(node):
        if not (isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)):
            yield child
            yield from _running(child)


@cache
def layers() -> dict[str, tuple[int, ...]]:
    table = tomllib.loads(LAYERS.read_text(encoding="utf-8"))["layers"]
    return {name: tuple(int(part) for part in str(number).split(".")) for name, number in table.items()}


def entry_of(module: str) -> str:
    """Return the entry of the table that holds for a module: its longest prefix."""
    parts = module.removeprefix("regard.").split(".")
    for end in range(len(parts), 0, -1):
        if ".".join(parts[:end]) in layers():
            return ".".join(parts[:end])
    raise KeyError(f"{module} has no layer in {LAYERS.name}")


def is_settings(module: str) -> bool:
    """Return whether a module is one of settings: they are the floor of their package."""
    return "settings" in module.split(".")


def layer_of(module: str) -> tuple[int, ...]:
    """Return the layer of a module: that of its entry; of settings, just below all else of their package."""
    if is_settings(module):
        package = module.removeprefix("regard.").split(".")[0]
        lowest = min(number for name, number in layers().items() if name.split(".")[0] == package)
        return (*lowest[:-1], lowest[-1] - 1, 9)
    return layers()[entry_of(module)]


def upward_imports() -> list[str]:
    """Return the imports of a layer that is not below, as `module -> module`."""
    upward = []
    for path in files():
        module = module_of(path)
        if module in FACADES:
            continue
        for other in set(imports(path)):
            if other in FACADES or other == module:
                continue
            if is_settings(module) and is_settings(other) and layer_of(other) == layer_of(module):
                continue
            if entry_of(other) == entry_of(module) and (is_settings(other) or not is_settings(module)):
                continue
            if layer_of(other) >= layer_of(module):
                upward.append(f"{module.removeprefix('regard.')} -> {other.removeprefix('regard.')}")
    return sorted(upward)


def cycles() -> list[list[str]]:
    """Return the groups of modules that import each other, inside functions too, by Tarjan's algorithm."""
    edges = {module_of(path): sorted(set(imports(path, for_types=False)) - {module_of(path)}) for path in files()}
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    groups: list[list[str]] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in edges.get(node, ()):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            group = []
            while not group or group[-1] != node:
                group.append(stack.pop())
            if len(group) > 1:
                groups.append(sorted(group))

    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(10_000)  # as deep as modules import each other
    try:
        for node in edges:
            if node not in index:
                visit(node)
    finally:
        sys.setrecursionlimit(limit)
    return sorted(groups)


def folder_sizes() -> dict[str, int]:
    """Return how many Python files each folder holds, without its `__init__.py`."""
    return dict(Counter(str(path.parent.relative_to(SOURCE)) for path in files() if path.name != "__init__.py"))


def duplicate_classes() -> dict[str, list[str]]:
    """Return the public class names that are defined in two or more modules."""
    homes = defaultdict(list)
    for path in files():
        for node in tree(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(module_of(path))
    return {name: where for name, where in sorted(homes.items()) if len(where) > 1}


def task_names(path: Path) -> list[str]:
    """Return the names of tasks that a file knows as literals, outside of docstrings and of the task's own folder."""
    place = str(path.relative_to(SOURCE))
    if place.startswith(KNOW_TASKS):
        return []
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    return [
        f"{place}:{node.lineno} {node.value}"
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Constant)
        and node.value in TASKS
        and id(node) not in docstrings
        and not any(place.startswith(where) and node.value in words for where, words in OTHER_MEANINGS.items())
        and not place.startswith(f"tasks/{TASKS[str(node.value)]}/")
    ]


def matches(pattern: str, paths: Iterable[Path] | None = None) -> list[str]:
    """Return `file:line` of every line of code that matches a pattern."""
    return [
        f"{path.relative_to(SOURCE)}:{number} {line.strip()}"
        for path in paths or files()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if re.search(pattern, line)
    ]


def has_logic(path: Path) -> bool:
    """Return whether a module has a function or method that computes: more than declarations."""
    functions = (node for node in ast.walk(tree(path)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return any(
        not isinstance(statement, ast.Expr | ast.Pass)
        for function in functions
        for statement in function.body
        if "overload" not in {ast.unparse(decorator) for decorator in function.decorator_list}
    )


def untested() -> list[str]:
    """Return the modules with logic that no test in the mirrored folder imports directly."""
    lines = []
    for path in files():
        place = path.relative_to(SOURCE)
        if path.name == "__init__.py" or not has_logic(path):
            continue
        tests = (ROOT / "tests" / place.parent).glob("*.py")
        if module_of(path) not in {name for test in tests for name in imports(test)}:
            lines.append(str(place))
    return lines


def cli_files() -> list[Path]:
    """Return the modules of the command line."""
    return [path for path in files() if path.relative_to(SOURCE).parts[0] == "cli"]


def options_by_hand() -> list[str]:
    """Return the lines that declare an option or argument by hand; all others are made of fields of settings."""
    return [
        line
        for line in matches(r"typer\.(Option|Argument)\(", cli_files())
        if not line.startswith("cli/options.py") or "*words" not in line
    ]


@cache
def counts() -> dict[str, int]:
    """Return every count of the ratchet by its name."""
    return {
        "files that know a task by name": len({line.split(":")[0] for path in files() for line in task_names(path)}),
        "settings: Any": len(matches(r"\bsettings: Any\b")),
        "facts look-ups": len(matches(r"\bfacts\[\"")),
        "record look-ups": len(matches(r"\brecord\[\"")),
        "Any": len(matches(r"\bAny\b")),
        "class names defined twice": len(duplicate_classes()),
        "files in the largest folder": max(folder_sizes().values()),
        "import cycles": len(cycles()),
        "upward imports": len(upward_imports()),
        "modules without a test beside them": len(untested()),
        "variables called found": len(matches(r"\bfound\b(?= =| :=|:|\.|\[|,)")),
        "hand-written options": len(options_by_hand()),
        "lines of cli": sum(len(path.read_text(encoding="utf-8").splitlines()) for path in cli_files()),
        "banned words": len(words.hits()),
    }


def main() -> None:
    """Print the counts, or the places behind one of them: `structure.py "settings: Any"`."""
    show = sys.argv[1] if len(sys.argv) > 1 else None
    details = {
        "files that know a task by name": lambda: [line for path in files() for line in task_names(path)],
        "settings: Any": lambda: matches(r"\bsettings: Any\b"),
        "facts look-ups": lambda: matches(r"\bfacts\[\""),
        "record look-ups": lambda: matches(r"\brecord\[\""),
        "Any": lambda: matches(r"\bAny\b"),
        "class names defined twice": lambda: [
            f"{name}: {', '.join(where)}" for name, where in duplicate_classes().items()
        ],
        "files in the largest folder": lambda: [f"{size} {name}" for name, size in sorted(folder_sizes().items())],
        "import cycles": lambda: [" ".join(group) for group in cycles()],
        "upward imports": upward_imports,
        "modules without a test beside them": untested,
        "variables called found": lambda: matches(r"\bfound\b(?= =| :=|:|\.|\[|,)"),
        "hand-written options": options_by_hand,
        "lines of cli": lambda: [
            f"{len(path.read_text(encoding='utf-8').splitlines()):>5} {path.relative_to(SOURCE)}"
            for path in cli_files()
        ],
        "banned words": words.hits,
    }
    lines = details[show]() if show else [f"{count:>6,}  {name}" for name, count in counts().items()]
    print("\n".join(lines))


if __name__ == "__main__":
    main()
