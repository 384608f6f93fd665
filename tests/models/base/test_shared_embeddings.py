import pytest

from regard.errors import ConfigError
from regard.models.base.embeddings import build_tables
from regard.models.base.settings import Vocabularies


@pytest.mark.parametrize("sharing, count", [("shared", 1), ("target", 2), ("separate", 3)])
def test_matrices_are_shared_as_requested(sharing, count):
    source, target, output = build_tables(sharing, Vocabularies(30, 30, True), 4)
    assert len({id(table) for table in (source, target, output)}) == count
    assert (target is output) == (sharing != "separate") and (source is target) == (sharing == "shared")


def test_separate_vocabularies_have_their_own_sizes():
    source, target, output = build_tables("target", Vocabularies(30, 20, False), 4)
    assert [tuple(table.weight.shape) for table in (source, target, output)] == [(30, 4), (20, 4), (20, 4)]


def test_sharing_all_matrices_needs_one_vocabulary():
    with pytest.raises(ConfigError) as error:
        build_tables("shared", Vocabularies(30, 30, False), 4)
    assert str(error.value) == (
        'model.embeddings: "shared" needs one vocabulary for both languages; set text.vocabularies=shared, or '
        'model.embeddings="target".'
    )
