"""The classification pipeline, and checkpoints of models with a head."""

import pytest

from head_bundles import TEXTS, head_bundle
from regard.checkpoint.bundle import read_bundle, write_bundle
from regard.errors import ConfigError, DataError
from regard.tasks.choose.pipeline import MultipleChoice
from regard.tasks.classify.pipeline import Classifier
from regard.tasks.load import load


def test_a_batch_is_classified_as_each_text_alone_in_order():
    classifier = Classifier(head_bundle("classify", "gpt"))
    results = classifier(TEXTS)
    assert [each.row.texts for each in results] == [(text,) for text in TEXTS] and len(
        {each.label for each in results}
    ) > 1
    for text, together in zip(TEXTS, results, strict=True):
        alone = classifier(text)
        assert alone.label == together.label
        assert list(alone.probabilities.values()) == pytest.approx(list(together.probabilities.values()), abs=1e-6)
    assert classifier([]) == []


def test_a_result_has_its_label_and_the_probability_of_every_one():
    result = Classifier(head_bundle("classify", "gpt"))(TEXTS[0])
    assert list(result.probabilities) == ["a", "b", "c"] and sum(result.probabilities.values()) == pytest.approx(1)
    assert result.probability == max(result.probabilities.values()) == result.probabilities[result.label]
    assert not result.is_truncated


def test_white_space_around_a_text_changes_nothing_and_the_end_of_a_long_one_is_left_out():
    classifier = Classifier(head_bundle("classify", "gpt"))
    assert classifier(f"  {TEXTS[0]}\n").probabilities == classifier(TEXTS[0]).probabilities
    long = " ".join(["film"] * 50)
    result = classifier(long)
    assert result.is_truncated and result.probabilities == classifier(long + " bad").probabilities


def test_a_pair_is_one_example_and_both_orders_make_no_difference():
    pair = (TEXTS[0][:40], "a b")
    plain = Classifier(head_bundle("classify", "gpt", texts=2))
    assert plain(pair).row.texts == pair
    assert plain(pair).probabilities != pytest.approx(plain(pair[::-1]).probabilities, abs=1e-3)
    both = Classifier(head_bundle("classify", "gpt", texts=2, pair_encoding="both-orders"))
    assert both(pair).probabilities == pytest.approx(both(pair[::-1]).probabilities, abs=1e-6)
    assert [each.row.texts for each in both([pair, pair[::-1]])] == [pair, pair[::-1]]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (["a", " "], "line 2 is empty; give some text."),
        (["a", None], "line 2 is None and not text; leave it out, or give it as text."),
        (["a", float("nan")], "line 2 is nan and not text; leave it out, or give it as text."),
        ("\ud800", "line 1 is not UTF-8 text; convert it first."),
        (("a", "b"), "line 1: this model takes one text, but 2 were given."),
    ],
)
def test_texts_that_cannot_be_labeled_are_named(given, sentence):
    with pytest.raises(DataError) as error:
        Classifier(head_bundle("classify", "gpt"))(given)
    assert str(error.value) == sentence


def test_a_text_where_a_pair_belongs_is_refused_by_its_line():
    with pytest.raises(DataError, match="line 7: this model takes text pairs, but 1 were given."):
        Classifier(head_bundle("classify", "gpt", texts=2))(["a"], first_row=7)


@pytest.mark.parametrize("task", ["classify", "choose"])
def test_a_checkpoint_keeps_head_tokens_and_facts(task, tmp_path):
    before = head_bundle(task, "gpt")
    write_bundle(tmp_path / "model", before)
    after = read_bundle(tmp_path / "model")
    assert after.head == before.head and after.facts == before.facts and after.task == task
    pipeline = load(tmp_path / "model")
    if task == "classify":
        assert pipeline(TEXTS[0]) == Classifier(before)(TEXTS[0])
        assert pipeline.config["labels"] == ["a", "b", "c"]
    else:
        assert pipeline(TEXTS[0], TEXTS[1:3]) == MultipleChoice(before)(TEXTS[0], TEXTS[1:3])


def test_a_model_of_another_task_is_refused(tmp_path):
    write_bundle(tmp_path / "labels", head_bundle("classify", "gpt"))
    write_bundle(tmp_path / "choices", head_bundle("choose", "gpt"))
    with pytest.raises(ConfigError) as error:
        load(tmp_path / "choices", task="classify")
    assert str(error.value) == (
        f"{tmp_path / 'choices'}: this is a multiple-choice model, not a classifier; use it with regard choose or "
        "regard evaluate."
    )
    with pytest.raises(ConfigError, match="this is a classifier, not a multiple-choice model"):
        load(tmp_path / "labels", task="choose")


def test_memory_that_runs_out_makes_smaller_batches(monkeypatch):
    classifier = Classifier(head_bundle("classify", "gpt"))
    expected = classifier(TEXTS)
    plain, sizes = classifier.model.forward, []

    def short(reading, places, candidate_mask):
        sizes.append(len(places))
        if len(places) > 8:
            raise MemoryError
        return plain(reading, places, candidate_mask)

    monkeypatch.setattr(classifier.model, "forward", short)
    monkeypatch.setattr(type(classifier), "batch_tokens", 1200)
    results = classifier(TEXTS)
    assert [each.label for each in results] == [each.label for each in expected] and max(sizes) > 8 >= min(sizes)
