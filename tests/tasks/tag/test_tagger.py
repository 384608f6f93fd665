from types import SimpleNamespace

import numpy as np
import pytest

from regard.tasks.tag.pipeline import Tagger


@pytest.mark.parametrize(
    ("known", "chosen", "tags"),
    [
        ("O B-X I-X B-Y I-Y", "O I-X I-X O I-Y B-Y", "O B-X I-X O B-Y B-Y"),
        ("O B-X I-X B-Y I-Y", "B-X I-Y I-Y", "B-X B-Y I-Y"),
        ("O B-X I-X E-X S-X", "O I-X E-X S-X", "O I-X E-X S-X"),
        ("NN VB", "NN VB NN", "NN VB NN"),
    ],
)
def test_every_span_begins_with_a_b_tag(known, chosen, tags):
    known, chosen = known.split(), chosen.split()
    words = tuple("abcdef"[: len(chosen)])
    probabilities = np.stack([np.eye(len(known))[known.index(tag)] for tag in chosen])
    result = Tagger._tagging(SimpleNamespace(tags=tuple(known)), " ".join(words), words, probabilities)
    assert result.tags == tuple(tags.split())
