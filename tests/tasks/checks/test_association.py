"""Association of tokens: clear for translations, absent for shuffled sides."""

import numpy as np

from regard.data.encoding.batches import EncodedPairs
from regard.data.encoding.sequences import Sequences
from regard.tasks.checks.association import TOKENS, _presence, association


def pairs(count, is_shuffled):
    """Sentences of six tokens; the target has the source's tokens plus 100."""
    draw = np.random.default_rng(1)
    source = draw.integers(4, 60, (count, 6))
    target = source + 100
    if is_shuffled:
        target = target[draw.permutation(count)]
    return EncodedPairs(Sequences.of(source), Sequences.of(target), 0, 0, 2)


def test_translations_are_far_from_shuffled_sides():
    assert association(pairs(1000, is_shuffled=False)) > 20
    assert abs(association(pairs(1000, is_shuffled=True))) < 5


def test_the_order_of_tokens_does_not_matter():
    original = pairs(400, is_shuffled=False)
    reversed_target = Sequences.of([row[::-1] for row in original.target.ids.reshape(-1, 6)])
    changed = EncodedPairs(original.source, reversed_target, 0, 0, 2)
    assert association(changed) == association(original)


def test_presence_marks_each_frequent_token_once():
    presence = _presence(Sequences.of([[5, 5, 7], [7], []]))
    assert presence.shape[0] == 3
    # The most frequent tokens come first, ties by id.
    assert presence[:, :2].tolist() == [[1, 1], [0, 1], [0, 0]]
    assert presence.sum() == 3


def test_only_the_most_frequent_tokens_have_a_column():
    rows = [[number] * (2 if number < 10 else 1) for number in range(TOKENS + 50)]
    presence = _presence(Sequences.of(rows))
    assert presence.shape == (TOKENS + 50, TOKENS) and presence[:10].sum() == 10 and presence[-50:].sum() == 0
