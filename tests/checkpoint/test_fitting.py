"""Settings are compared with the header of a file of weights, and nothing of their size is built."""

import pytest
import torch
from safetensors.torch import save_file

from regard.checkpoint.bundle import weights_of
from regard.checkpoint.fitting import check_counts, check_fits, compare_shapes, read_shapes, shapes_of
from regard.errors import CheckpointError
from regard.models.base.settings import Vocabularies
from small import small_settings, small_transformer

VOCABULARIES = Vocabularies(40, 40, True)


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    path = tmp_path_factory.mktemp("weights") / "model.safetensors"
    save_file(weights_of(small_transformer()), path)
    return path


def message(call) -> str:
    with pytest.raises(CheckpointError) as error:
        call()
    return str(error.value)


def test_the_header_has_the_shapes_of_the_model_it_was_written_from(weights):
    shapes = read_shapes(weights)
    assert shapes == shapes_of(small_transformer(seed=3))
    check_fits(weights, shapes, small_settings(), VOCABULARIES)


def test_a_tied_tensor_has_one_name():
    first, second = torch.nn.Linear(3, 2, bias=False), torch.nn.Linear(3, 2, bias=False)
    second.weight = first.weight
    assert shapes_of(torch.nn.Sequential(first, second)) == {"0.weight": (2, 3)}


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"width": 32}, " but the settings ask for ("),
        ({"encoder_layers": 3}, "its tensors do not fit the settings (encoder.blocks.2."),
        ({"encoder_layers": 10**6}, "its tensors do not fit the settings (encoder_layers is 1,000,000)."),
        ({"heads": 2**20}, "its tensors do not fit the settings (heads is 1,048,576)."),
        (
            {"feed_forward_width": 2**40},
            "its tensors do not fit the settings (feed_forward_width is 1,099,511,627,776).",
        ),
    ],
)
def test_other_settings_are_refused_however_large(weights, changes, problem):
    settings = small_settings().model_copy(update=changes)
    text = message(lambda: check_fits(weights, read_shapes(weights), settings, VOCABULARIES))
    assert text.startswith(f"{weights}: ") and problem in text


def test_counts_are_bounded_by_the_tensors_and_their_widest_dimension(tmp_path):
    shapes = {"a": (4, 8), "b": (8,)}
    check_counts(tmp_path, shapes, small_settings().model_copy(update={"heads": 8}), None)
    assert "(heads is 9)" in message(
        lambda: check_counts(tmp_path, shapes, small_settings().model_copy(update={"heads": 9}))
    )
    assert "(decoder_layers is 3)" in message(
        lambda: check_counts(tmp_path, shapes, small_settings().model_copy(update={"decoder_layers": 3}))
    )


def test_names_and_shapes_must_be_those_of_the_model(tmp_path):
    compare_shapes(tmp_path, {"a": (2, 3)}, {"a": (2, 3)})
    assert message(lambda: compare_shapes(tmp_path, {"a": (2, 3)}, {"a": (3, 2)})) == (
        f"{tmp_path}: a has shape (2, 3) but the settings ask for (3, 2)."
    )
    for shapes, wanted in (({"a": (2,), "b": (1,)}, {"a": (2,)}), ({"a": (2,)}, {"a": (2,), "b": (1,)})):
        assert message(lambda shapes=shapes, wanted=wanted: compare_shapes(tmp_path, shapes, wanted)) == (
            f"{tmp_path}: its tensors do not fit the settings (b is on one side only)."
        )


def test_a_file_that_is_no_safetensors_is_damaged(tmp_path):
    (tmp_path / "model.safetensors").write_bytes(b"\x10\0\0\0\0\0\0\0no json at all..")
    assert message(lambda: read_shapes(tmp_path / "model.safetensors")).startswith(
        f"{tmp_path / 'model.safetensors'}: damaged ("
    )
