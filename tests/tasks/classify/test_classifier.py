import numpy as np
import pytest
import torch

from labeled import reviews, word_tokenizer
from regard.checkpoint.bundle import Bundle, read_bundle, write_bundle
from regard.data.encoding.templates import FRAME_TOKENS
from regard.errors import ConfigError, DataError
from regard.models.base.protocols import Vocabularies
from regard.models.families import build_model
from regard.models.gpt.model import GptSettings
from regard.models.heads import HeadSettings
from regard.tasks.choose.pipeline import MultipleChoice
from regard.tasks.classify.pipeline import Classifier
from regard.tasks.load import load, load_chooser, load_classifier

TEXTS = [text for text, _ in reviews(30)]


def bundle(task, **facts):
    tokenizer = word_tokenizer(*TEXTS).with_special(FRAME_TOKENS)
    settings = GptSettings(width=16, heads=2, feed_forward_width=32, layers=2, max_positions=40)
    head = HeadSettings(
        kind="classification" if task == "classify" else "multiple-choice", outputs=3 if task == "classify" else 1
    )
    vocabularies = Vocabularies(tokenizer.size, tokenizer.size, True)
    torch.manual_seed(0)
    model = build_model(settings, vocabularies, head)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.3)
    known = {"max_length": 40, "labels": ["a", "b", "c"], "texts": 1, "pair_encoding": "cross-encoder"} | facts
    if task == "choose":
        del known["labels"]
    return Bundle(task, model.eval(), settings, vocabularies, {"tokenizer": tokenizer}, known, head)


def test_many_texts_get_what_each_gets_alone_in_their_order():
    classifier = Classifier(bundle("classify"))
    found = classifier(TEXTS)
    assert [each.texts for each in found] == [(text,) for text in TEXTS] and len({each.label for each in found}) > 1
    for text, together in zip(TEXTS, found, strict=True):
        alone = classifier(text)
        assert alone.label == together.label
        assert list(alone.probabilities.values()) == pytest.approx(list(together.probabilities.values()), abs=1e-6)
    assert classifier([]) == []


def test_an_answer_names_its_label_and_the_probability_of_every_one():
    found = Classifier(bundle("classify"))(TEXTS[0])
    assert list(found.probabilities) == ["a", "b", "c"] and sum(found.probabilities.values()) == pytest.approx(1)
    assert found.probability == max(found.probabilities.values()) == found.probabilities[found.label]
    assert not found.is_truncated


def test_white_space_around_a_text_changes_nothing_and_the_end_of_a_long_one_is_not_read():
    classifier = Classifier(bundle("classify"))
    assert classifier(f"  {TEXTS[0]}\n").probabilities == classifier(TEXTS[0]).probabilities
    long = " ".join(["film"] * 50)
    found = classifier(long)
    assert found.is_truncated and found.probabilities == classifier(long + " bad").probabilities


def test_a_pair_is_one_example_and_both_orders_make_no_difference():
    pair = (TEXTS[0][:40], "a b")
    plain = Classifier(bundle("classify", texts=2))
    assert plain(pair).texts == pair
    assert plain(pair).probabilities != pytest.approx(plain(pair[::-1]).probabilities, abs=1e-3)
    both = Classifier(bundle("classify", texts=2, pair_encoding="both-orders"))
    assert both(pair).probabilities == pytest.approx(both(pair[::-1]).probabilities, abs=1e-6)
    assert [each.texts for each in both([pair, pair[::-1]])] == [pair, pair[::-1]]


def test_choices_are_scored_together_and_alone_alike():
    chooser = MultipleChoice(bundle("choose"))
    given = [(TEXTS[0], TEXTS[1:3]), (TEXTS[4], TEXTS[5:9]), (TEXTS[9], TEXTS[10:12])]
    found = chooser(given)
    for (context, choices), together in zip(given, found, strict=True):
        alone = chooser(context, choices)
        assert together.probabilities == pytest.approx(alone.probabilities, abs=1e-6)
        assert sum(together.probabilities) == pytest.approx(1) and len(together.probabilities) == len(choices)
        assert together.choice == choices[int(np.argmax(together.probabilities))] == alone.choice
        assert together.probability == max(together.probabilities) and together.context == context


def test_the_order_of_choices_makes_no_difference():
    chooser = MultipleChoice(bundle("choose"))
    one, other = (chooser(TEXTS[0], choices) for choices in (TEXTS[1:4], TEXTS[1:4][::-1]))
    assert one.probabilities == pytest.approx(other.probabilities[::-1], abs=1e-6) and one.choice == other.choice


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
        Classifier(bundle("classify"))(given)
    assert str(error.value) == sentence


def test_other_mistakes_are_named_too():
    with pytest.raises(DataError, match="line 7: this model takes text pairs, but 1 were given."):
        Classifier(bundle("classify", texts=2))(["a"], lines=[7])
    with pytest.raises(DataError, match="example 1: it has 1 choices; give two or more."):
        MultipleChoice(bundle("choose"))("a", ["b"])
    with pytest.raises(DataError, match="example 1 is empty; give some text."):
        MultipleChoice(bundle("choose"))("a", ["b", ""])


@pytest.mark.parametrize("task", ["classify", "choose"])
def test_a_checkpoint_keeps_head_tokens_and_facts(task, tmp_path):
    before = bundle(task)
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
    write_bundle(tmp_path / "labels", bundle("classify"))
    write_bundle(tmp_path / "choices", bundle("choose"))
    with pytest.raises(ConfigError) as error:
        load_classifier(tmp_path / "choices")
    assert str(error.value) == (
        f"{tmp_path / 'choices'}: this is a multiple-choice model, not a classifier; use it with regard choose or "
        "regard evaluate."
    )
    with pytest.raises(ConfigError, match="this is a classifier, not a multiple-choice model"):
        load_chooser(tmp_path / "labels")


def test_memory_that_runs_out_makes_smaller_batches(monkeypatch):
    classifier = Classifier(bundle("classify"))
    expected = classifier(TEXTS)
    plain, sizes = classifier.model.forward, []

    def short(reading, places, candidate_mask):
        sizes.append(len(places))
        if len(places) > 8:
            raise MemoryError
        return plain(reading, places, candidate_mask)

    monkeypatch.setattr(classifier.model, "forward", short)
    monkeypatch.setattr(type(classifier), "batch_tokens", 1200)
    found = classifier(TEXTS)
    assert [each.label for each in found] == [each.label for each in expected] and max(sizes) > 8 >= min(sizes)
