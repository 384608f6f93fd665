"""Protocols that are asked for at run time name methods only.

From Python 3.12 on, `isinstance` looks for a protocol's members without `__getattr__`, and a module's submodules,
parameters and buffers are found by nothing else: a protocol with one of them would fit no model.
"""

import ast
from pathlib import Path

import pytest

import regard

ROOT = Path(regard.__file__).parent


def runtime_protocols() -> list[ast.ClassDef]:
    """Return every protocol of the package that `isinstance` may be asked about."""
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in sorted(ROOT.rglob("*.py")))
    classes = (each for tree in trees for each in ast.walk(tree) if isinstance(each, ast.ClassDef))
    return [each for each in classes if any("runtime_checkable" in ast.unparse(it) for it in each.decorator_list)]


@pytest.mark.parametrize("protocol", runtime_protocols(), ids=lambda protocol: protocol.name)
def test_a_protocol_that_is_asked_for_at_run_time_has_methods_only(protocol):
    other = [ast.unparse(each) for each in protocol.body if not isinstance(each, ast.FunctionDef | ast.Expr)]
    assert other == []
