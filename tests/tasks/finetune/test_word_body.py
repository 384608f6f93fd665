"""Word embeddings as the body of a classifier."""

from collections import Counter

import pytest
import torch

from labeled import Telling
from regard.progress import SILENT
from regard.runs.planning.recipes import find_recipe, resolve_run
from regard.tasks.finetune.word_body import describe_coverage, word_body

TRAIN = ["the good film", "the bad film", "the the end"]


def settings(**changes):
    given = {"data.train.path": "a.csv", "model.preset": "words", "model.width": 3, "text.min_frequency": 2}
    return resolve_run(find_recipe("classify"), given | changes).settings


def test_frequent_words_have_a_random_vector_that_depends_on_the_seed():
    bundle, again = (word_body(settings(), TRAIN, TRAIN, SILENT) for _ in range(2))
    tokenizer = bundle.tokenizers["tokenizer"]
    assert tokenizer.has("the") and tokenizer.has("film") and not tokenizer.has("good")
    assert torch.equal(bundle.model.table.weight, again.model.table.weight)
    other = word_body(settings(seed=2), TRAIN, TRAIN, SILENT)
    assert not torch.equal(bundle.model.table.weight, other.model.table.weight)


@pytest.mark.parametrize("is_frozen", [True, False])
def test_pretrained_vectors_are_copied_and_the_others_random(tmp_path, is_frozen):
    path = tmp_path / "vectors.txt"
    path.write_text("good 1 2 3\nbad -1 -2 -3\nunseen 4 5 6\n")
    progress = Telling()
    run = {"init_from": str(path)} | ({"freeze_body": True} if is_frozen else {})
    chosen = resolve_run(find_recipe("classify"), {"data.train.path": "a.csv"} | run).settings
    bundle = word_body(chosen, TRAIN, TRAIN, progress)
    tokenizer, weight = bundle.tokenizers["tokenizer"], bundle.model.table.weight
    for word, vector in (("good", [1.0, 2.0, 3.0]), ("bad", [-1.0, -2.0, -3.0]), ("unseen", [4.0, 5.0, 6.0])):
        assert weight[tokenizer.token_id(word)].tolist() == vector
    assert 0 < weight[tokenizer.token_id("the")].abs().max() < 30
    end = "are frozen" if is_frozen else "are trained"
    assert progress.said[-1].endswith(
        f"2 of 5 words of the training set have a vector (22.2% of its text); the others are random, and all {end}."
    )


def test_coverage_counts_words_and_their_occurrences():
    assert describe_coverage(Counter(a=9, b=1), {"a", "z"}) == (
        "1 of 2 words of the training set have a vector (90.0% of its text)"
    )
    assert "0 of 0 words" in describe_coverage(Counter(), ())
