"""The document around a place is found, whatever shards and segments it lies in."""

import numpy as np
import pytest

from marked import drawn_sizes, told_apart
from regard.data.corpus.document_index import DocumentIndex
from regard.data.corpus.splits import hold_out


@pytest.fixture(scope="module", params=[40, 500, 10**7])
def corpus(tmp_path_factory, request):
    sizes = [*drawn_sizes(60), [9] * 120, *drawn_sizes(40, 1)]
    return told_apart(tmp_path_factory.mktemp("index"), sizes, request.param)[0]


def expected(corpus):
    begins, ends = np.empty(len(corpus), np.int64), np.empty(len(corpus), np.int64)
    for begin, end in corpus.documents():
        begins[begin:end], ends[begin:end] = begin, end
    return begins, ends


def test_every_place_knows_its_document(corpus):
    found = DocumentIndex(corpus).bounds(np.arange(len(corpus)))
    assert all(np.array_equal(*pair) for pair in zip(found, expected(corpus), strict=True))


def test_documents_are_found_in_what_others_were_carved_out_of(corpus):
    for part in hold_out(corpus, 0.3):
        found = DocumentIndex(part).bounds(np.arange(len(part)))
        assert all(np.array_equal(*pair) for pair in zip(found, expected(part), strict=True))


def test_a_document_whose_end_was_carved_out_ends_with_the_text(tmp_path):
    corpus, _ = told_apart(tmp_path, [[30] * 500], 300)
    for part in hold_out(corpus, 0.1):
        found = DocumentIndex(part).bounds(np.array([0, len(part) // 2, len(part) - 1]))
        assert found[0].tolist() == [0, 0, 0] and found[1].tolist() == [len(part)] * 3


def test_stretches_are_gathered_as_they_are_read(corpus):
    draw = np.random.default_rng(0)
    begins = draw.integers(0, len(corpus) - 100, 50)
    ends = begins + draw.integers(0, 100, 50)
    wanted = np.concatenate([corpus.read(begin, end) for begin, end in zip(begins, ends, strict=True)])
    assert np.array_equal(corpus.gather(begins, ends), wanted)
