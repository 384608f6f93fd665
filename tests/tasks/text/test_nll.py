"""Losses of labels, and their sums by document or block of a text."""

import numpy as np
import pytest
import torch

from generators import tokenizer_of
from regard.data.corpus.shards import tokenize
from regard.data.settings.text import TextSource
from regard.errors import DataError
from regard.metrics.bootstrap import ratio
from regard.tasks.text.nll import BLOCK, TextUnits, label_losses, tokenizer_hash, unit_columns, unit_lines, values_of


@pytest.fixture
def corpus(tmp_path):
    def made(documents, tokenizer=None):
        (tmp_path / "t.txt").write_text("\n\n".join(documents))
        source = TextSource(paths=(str(tmp_path / "t.txt"),), documents="blank-lines")
        return tokenize(source, tokenizer or tokenizer_of(size=300), tmp_path / f"c{len(list(tmp_path.iterdir()))}")

    return made


def test_the_losses_of_labels_are_those_of_the_whole_softmax(monkeypatch):
    torch.manual_seed(0)
    hidden, weight, labels = torch.randn(7, 4), torch.randn(11, 4), torch.randint(11, (7,))
    expected = torch.nn.functional.cross_entropy(hidden @ weight.T, labels, reduction="none")
    monkeypatch.setitem(__import__("regard.objectives.cross_entropy", fromlist=["x"]).CHUNK_ELEMENTS, "cpu", 22)
    losses = label_losses(hidden, weight, None, labels)
    np.testing.assert_allclose(losses.nll, expected.numpy(), rtol=1e-5)
    assert losses.hits.tolist() == ((hidden @ weight.T).argmax(1) == labels).tolist()


def test_documents_are_the_units_of_a_text_that_has_enough_of_them(corpus):
    many = corpus([f"The dog number {number} sleeps." for number in range(25)])
    units = TextUnits.of(many)
    assert units.name == "documents" and len(units.begins) == 25
    assert units.bytes.sum() == many.counts.bytes and units.words.sum() == many.counts.words
    assert units.sums(np.ones(len(many))).sum() == len(many)


def test_a_text_of_few_documents_is_cut_into_blocks(corpus):
    one = corpus(["The dog sleeps in the garden. " * 40])
    units = TextUnits.of(one)
    assert units.name == f"blocks of {BLOCK} tokens" and len(units.begins) == -(-len(one) // BLOCK)
    assert units.bytes.sum() == pytest.approx(one.counts.bytes)


def test_the_hash_of_a_text_depends_on_the_text_and_not_on_the_tokenizer(corpus):
    texts = ["The dog sleeps.", "A cat sees it."]
    one, other = corpus(texts), corpus(texts, tokenizer_of(size=330))
    assert one.text_hash == other.text_hash and one.fingerprint != other.fingerprint
    assert corpus([texts[0], "A cat sees us."]).text_hash != one.text_hash
    assert tokenizer_hash(tokenizer_of(size=300)) != tokenizer_hash(tokenizer_of(size=330))


def test_lines_hold_sums_and_others_are_refused():
    lines = unit_lines(np.array([1.5, 2.0]), np.array([3.0, 4.0]))
    assert lines == ("1.5 3", "2 4")
    nll, tokens = unit_columns(lines, 2, "sums")
    assert values_of({"loss": ratio(nll, tokens)}, 2) == {"loss": 0.5}
    for wrong in (["a b"], ["1"], ["nan 1"], []):
        with pytest.raises(DataError, match="its lines are not sums; name a passport or a file beside one."):
            unit_columns(wrong, 2, "sums")
