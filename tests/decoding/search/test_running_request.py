import numpy as np
import pytest
import torch

from generators import tokenizer_of
from regard.decoding.search.running import RunningRequest, log_probabilities, without_gaps
from regard.decoding.steppers.interface import Hypothesis, Request
from regard.errors import CheckpointError
from regard.text.detokenizer import Detokenizer


def test_the_chunks_of_a_growing_beginning_are_the_text_of_the_output():
    tokenizer = tokenizer_of()
    ids = tokenizer.encode("Lena and Tom saw the old house by the river.").ids
    running = RunningRequest(Request([3], 99), detokenizer=Detokenizer(tokenizer, "", (), ()))
    for count in (0, 3, 3, 2, 7):  # text that is final stays so, and hypotheses may differ after it
        running.write(ids[:count])
    assert tokenizer.decode(ids).startswith(running.chunk) and not running.is_done
    running.hypotheses = [Hypothesis(ids, [-1.0] * len(ids), -1.0, "eos")]
    running.finish()
    assert running.chunk == tokenizer.decode(ids) and running.is_done


def test_a_request_without_any_hypothesis_is_one_sentence():
    with pytest.raises(CheckpointError) as error:
        RunningRequest(Request([3], 9)).finish()
    assert str(error.value) == "The model gives no probabilities: its weights are not numbers; use another one."


@pytest.mark.parametrize("staying", ["", "0", "1", "01101", "00011", "11100", "10101010", "111"])
def test_rows_that_stay_are_all_there_and_only_the_last_ones_move(staying):
    is_staying = np.array([each == "1" for each in staying], np.bool_)
    rows = without_gaps(is_staying)
    assert sorted(rows) == np.flatnonzero(is_staying).tolist()
    assert all(row == place or row >= len(rows) for place, row in enumerate(rows.tolist()))


def test_log_probabilities_of_rows_that_join_are_those_of_all_together():
    old, new = torch.randn(3, 7), torch.randn(2, 7)
    with torch.inference_mode():
        assert torch.equal(log_probabilities([old, new]), torch.cat((old, new)).log_softmax(-1))
        assert torch.equal(log_probabilities([new]), new.log_softmax(-1))
