"""Regression on the rows of a table."""

import pytest

from head_bundles import TEXTS, head_bundle
from regard.tasks.regress.pipeline import Regressor


def test_each_row_has_its_number(tmp_path):
    (tmp_path / "a.csv").write_text(f'id,text\n1,"{TEXTS[0]}"\n2,\n')
    regressor = Regressor(head_bundle("regress"))
    table = regressor.table(str(tmp_path / "a.csv"))
    header, first, blank = table.cells()
    assert header == ["id", "text", "number"] and blank == ["2", "", ""]
    assert float(first[2]) == pytest.approx(regressor(TEXTS[0]).number, abs=1e-5)
    assert table.records()[1] == {"id": "2", "text": "", "number": None}
