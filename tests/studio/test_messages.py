import numpy as np
import pytest
import torch
from pydantic import ValidationError

from regard.studio.messages import Floats, ModelRequest


@pytest.mark.parametrize(
    "values", [np.arange(6, dtype=np.float64).reshape(2, 3), torch.arange(6.0).view(2, 3), [[0, 1, 2], [3, 4, 5]]]
)
def test_arrays_come_back_as_they_were(values):
    message = Floats.model_validate_json(Floats.of(values).model_dump_json())
    assert message.shape == [2, 3] and np.array_equal(message.array, np.arange(6).reshape(2, 3))


def test_a_request_with_an_unknown_key_is_refused():
    with pytest.raises(ValidationError):
        ModelRequest.model_validate({"model": "m", "path": "/etc"})
