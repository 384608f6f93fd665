import pytest

from regard.errors import DataError
from regard.runs.export.word_vectors import export_vectors


def test_word_vectors_are_written_and_told_and_never_overwritten(tmp_path):
    table = tmp_path / "table.txt"
    table.write_text("a 1 2\nb 3 4\n")
    written = export_vectors(str(table), "word2vec", tmp_path / "out.txt")
    assert written.summary == f"{tmp_path / 'out.txt'}: 2 words, 2 dimensions, format word2vec."
    assert (tmp_path / "out.txt").read_text().split() == ["2", "2", "a", "1", "2", "b", "3", "4"]
    with pytest.raises(DataError, match="the file exists; name another with --out"):
        export_vectors(str(table), "word2vec", tmp_path / "out.txt")
