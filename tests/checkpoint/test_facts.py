"""Task facts: wrong ones, and those that contradict the model, are refused in one sentence."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from encoder_folders import small_bert
from labeled import word_tokenizer
from regard.checkpoint.facts import Parts, TaskFacts, check_bounds, check_facts, check_tokenizer
from regard.errors import CheckpointError
from regard.models.base.settings import HeadSettings, Vocabularies
from small import small_settings

FOLDER = Path("checkpoint")
SHARED = Vocabularies(40, 40, True)
TRANSLATOR = Parts(small_settings(), SHARED, None, {"tokenizer"})
CLASSIFIER = Parts(small_bert(), SHARED, HeadSettings(kind="classification", outputs=2), {"tokenizer"})
LABELS = {"labels": ["a", "b"], "texts": 1, "pair_encoding": "cross-encoder", "max_length": 24}


def message(call) -> str:
    with pytest.raises(CheckpointError) as error:
        call()
    return str(error.value)


def test_facts_come_back_typed_and_unknown_ones_are_kept():
    stored = {"seed": 3, "averaged": ["a"], "init_from": {"path": "x", "sha256": "y"}, "unknown": 1}
    facts = TaskFacts.read(SimpleNamespace(facts=stored))
    assert (facts.seed, facts.averaged, facts.untrained) == (3, ["a"], [])
    assert facts.init_from is not None and facts.init_from.path == "x" and facts.extra_vectors is None
    assert facts.model_extra == {"unknown": 1} and facts.conflict(None) == ""


def test_facts_that_agree_with_the_model_pass():
    check_facts(FOLDER, "translate", {"decode": {"beam_size": 5}}, TRANSLATOR)
    check_facts(FOLDER, "classify", LABELS, CLASSIFIER)


@pytest.mark.parametrize(
    ("task", "facts", "parts", "problem"),
    [
        ("translate", {"seed": "one"}, TRANSLATOR, "seed: "),
        ("translate", {"init_from": {"path": "x"}}, TRANSLATOR, "init_from.sha256 is missing"),
        ("language-model", {}, TRANSLATOR, "model.family: no transformer has the task language-model"),
        ("classify", LABELS, Parts(small_bert(), SHARED, None, {"tokenizer"}), "head.kind: None is none of the task"),
        ("classify", LABELS | {"labels": ["a"]}, CLASSIFIER, "labels: there are 1, but head.outputs is 2"),
        (
            "translate",
            {},
            Parts(small_settings(), SHARED, None, {"source", "target"}),
            "tokenizers: source, target are not those of the task translate",
        ),
        ("translate", {}, Parts(small_settings(), SHARED, None, set()), "tokenizers: none are not those of the task"),
    ],
)
def test_facts_that_contradict_the_model_are_refused(task, facts, parts, problem):
    text = message(lambda: check_facts(FOLDER, task, facts, parts))
    assert text.startswith(f"{FOLDER / 'config.json'}: this is not the config of a regard checkpoint ({problem}")
    assert text.endswith("; copy it again.")


def test_of_an_unknown_task_the_common_facts_are_checked():
    check_facts(FOLDER, "summarize", {"decode": 3, "seed": 1}, TRANSLATOR)
    assert "(seed: " in message(lambda: check_facts(FOLDER, "summarize", {"seed": []}, TRANSLATOR))


def test_lengths_are_bounded_by_the_positions_of_the_model():
    check_bounds(FOLDER, {"max_length": 64, "window": None}, 64)
    check_bounds(FOLDER, {"max_length": 10**9}, None)
    for name in ("max_length", "length", "window"):
        assert message(lambda name=name: check_bounds(FOLDER, {name: 1065}, 64)) == (
            f"{FOLDER / 'config.json'}: {name} is 1,065, but the model has 64 positions; copy it again."
        )


def test_a_tokenizer_of_another_size_is_refused():
    tokenizer = word_tokenizer("a b c d")
    fitting = Vocabularies(tokenizer.size, tokenizer.size, True)
    check_tokenizer(FOLDER, "tokenizer", tokenizer, "translate", Parts(small_settings(), fitting, None, set()))
    text = message(lambda: check_tokenizer(FOLDER, "tokenizer", tokenizer, "translate", TRANSLATOR))
    assert text.startswith(
        f"{FOLDER}: this tokenizer has {tokenizer.size} tokens, but the model 40; put the tokenizer"
    )


def test_the_target_tokenizer_is_compared_with_the_target_vocabulary():
    tokenizer = word_tokenizer("a b c d")
    parts = Parts(small_settings(), Vocabularies(99, tokenizer.size, False), None, {"source", "target"})
    check_tokenizer(FOLDER, "target", tokenizer, "translate", parts)
    assert "but the model 99" in message(lambda: check_tokenizer(FOLDER, "source", tokenizer, "translate", parts))


def test_an_encoder_may_have_rows_that_no_token_uses_but_no_token_without_a_row():
    tokenizer = word_tokenizer("a b c d")
    check_tokenizer(FOLDER, "tokenizer", tokenizer, "classify", CLASSIFIER)
    few = Vocabularies(tokenizer.size - 1, tokenizer.size - 1, True)
    parts = Parts(small_bert(), few, CLASSIFIER.head, {"tokenizer"})
    assert "put the tokenizer it was trained with there." in message(
        lambda: check_tokenizer(FOLDER, "tokenizer", tokenizer, "classify", parts)
    )
