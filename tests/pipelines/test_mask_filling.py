"""A filling of masks as lines, cells and JSON."""

import pytest

from encoder_folders import bert_tokenizer, small_encoder_bundle
from regard.pipelines.encoder import Encoder
from regard.pipelines.inputs import SingleText
from regard.pipelines.mask_filling import FillOptions, MaskCandidate, MaskFiller, MaskFilling

X, Y = MaskCandidate("x", 1, 0.5), MaskCandidate("y", 2, 0.25)
FILLING = MaskFilling(SingleText("[MASK] a [MASK]"), ((X, Y), (Y, X)))


def test_each_mask_lists_its_candidates_with_the_filled_text():
    assert [line.split("\t") for line in FILLING.lines()] == [
        ["1", "0.5000", "x", "x a y"],
        ["1", "0.2500", "y", "y a y"],
        ["2", "0.2500", "y", "x a y"],
        ["2", "0.5000", "x", "x a x"],
    ]


def test_a_table_has_the_best_tokens_and_json_all_of_them():
    assert FILLING.cells() == {"filled": "x a y", "tokens": "x y", "probabilities": "0.500000 0.250000"}
    values = FILLING.to_dict()
    assert (values["text"], values["filled"]) == ("[MASK] a [MASK]", "x a y")
    assert values["masks"][1][0] == {"token": "y", "id": 2, "probability": 0.25}


@pytest.mark.parametrize("given", ["dog, cat", ["dog,cat"], ("dog", "cat")])
def test_candidates_are_separated_by_commas_or_repeated(given):
    assert FillOptions(candidates=given).candidates == ("dog", "cat")
    assert FillOptions(candidates=[","]).candidates == (",",)


def test_the_filler_of_an_encoder_is_a_pipeline():
    encoder = Encoder(small_encoder_bundle(bert_tokenizer()))
    assert isinstance(encoder.fill, MaskFiller)
    alone, listed = encoder.fill("the [MASK]", top=2), list(encoder.fill.map(["the [MASK]"], top=2))
    assert listed[0].to_dict() == alone.to_dict() and len(alone.masks[0]) == 2
