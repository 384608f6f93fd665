"""Fine-tuning on single texts or text pairs."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from head_bundles import head_bundle
from labeled import Telling
from regard.data.sources.labeled import LabeledRow
from regard.errors import ConfigError, DataError
from regard.tasks.classify.task import TASK
from regard.tasks.finetune.texts import TextHeadTask
from regard.tasks.init_from import pretrained_embeds
from regard.tasks.regress.task import TASK as REGRESS

ONE, TWO = LabeledRow(("x",), "a"), LabeledRow(("x", "y"), "b")


def test_examples_without_text_or_label_are_dropped():
    assert TASK.reason_to_drop(ONE) is None and TASK.reason_to_drop(TWO) is None
    assert TASK.reason_to_drop(TWO._replace(texts=("x", ""))) == "empty"
    assert TASK.reason_to_drop(ONE._replace(label="")) == "without a label"


def test_only_pairs_have_a_pair_encoding():
    assert TASK.pair_facts("both-orders", [TWO]) == {"texts": 2, "pair_encoding": "both-orders"}
    assert TASK.pair_facts("cross-encoder", [ONE]) == {"texts": 1, "pair_encoding": "cross-encoder"}
    with pytest.raises(ConfigError) as error:
        TASK.pair_facts("both-orders", [ONE])
    assert str(error.value) == (
        'pair_encoding: "both-orders" is for two texts per example, and these have one; leave it out.'
    )


def test_every_set_has_as_many_texts_as_the_training_set():
    facts = TASK.read_facts(head_bundle("classify"))
    TASK.check_rows("valid", [ONE], facts)
    with pytest.raises(DataError) as error:
        TASK.check_rows("valid", [ONE, TWO], facts)
    assert str(error.value) == (
        "valid: it has 2 texts per example, but the training set has 1; name the columns of both."
    )


def test_a_model_of_another_library_takes_pairs_too():
    bundle, progress = head_bundle("classify"), Telling()
    assert TASK.adapt("x", [TWO], bundle, progress) == [TWO] and TASK.read_facts(bundle).texts == 2
    assert progress.warned == ["x: it has 2 texts per example; the model is given all of them."]
    assert TASK.adapt("x", [TWO], bundle, progress) == [TWO] and len(progress.warned) == 1


def test_the_usage_of_a_model_of_pairs_has_two_texts():
    one, pairs = (
        TASK.usage_of(SimpleNamespace(report=SimpleNamespace(texts=texts), settings=SimpleNamespace(plain={})))
        for texts in (1, 2)
    )
    assert one == TASK.operations and pairs[0].usage == "TEXT TEXT"
    assert pairs[0].call == 'classifier("your text", "and another").label'
    assert pairs[0].example == '"your text" "and another"'


def test_a_model_with_mean_pooling_embeds_texts():
    bundle = head_bundle("classify")
    assert not pretrained_embeds(None) and not pretrained_embeds(bundle)
    for pooling, embeds in (("mean", True), ("token", False)):
        assert pretrained_embeds(replace(bundle, facts={"embed": {"pooling": pooling}})) == embeds


def test_numbers_are_read_by_the_same_reader_as_labels(tmp_path):
    (tmp_path / "rows.csv").write_text("text,label\nfine,3\ngood,4.5\n")
    for task in (TASK, REGRESS):
        assert isinstance(task, TextHeadTask)
        rows, columns = task.read(task.source(path=str(tmp_path / "rows.csv")), Telling(), {})
        assert [task.target(row) for row in rows] == ["3", "4.5"] and columns["label_column"] == "label"
