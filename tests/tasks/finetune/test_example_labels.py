"""Labels of examples against those of the training set."""

from collections import Counter

import pytest

from regard.errors import DataError
from regard.tasks.finetune.labels import check_labels, label_at


def test_labels_of_the_training_set_pass():
    check_labels("valid", Counter(a=3), ["a", "b"])


@pytest.mark.parametrize(("count", "times"), [(1, "once"), (1200, "1,200 times")])
def test_another_label_is_refused_with_its_count(count, times):
    with pytest.raises(DataError) as error:
        check_labels("valid", Counter(a=3, c=count), ["a", "b"])
    assert str(error.value) == (
        f'valid: the label "c" ({times}) does not occur in the training set (a, b); add examples of it there, or '
        "leave these out."
    )


def test_label_ids_are_whole_numbers_from_zero():
    known = ["negative", "positive"]
    assert [label_at(each, known) for each in ("0", "1")] == known
    assert all(label_at(each, known) is None for each in ("2", "-1", "1.0", "positive", "", "²"))
