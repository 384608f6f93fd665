"""The fractions of masking fit each other."""

import pytest
from pydantic import ValidationError

from regard.data.settings.masking import MaskingSettings


def test_the_defaults_are_those_of_bert():
    settings = MaskingSettings()
    assert (settings.mask_fraction, settings.masked, settings.random) == (0.15, 0.8, 0.1)


def test_masked_and_random_tokens_are_not_more_than_all():
    assert MaskingSettings(masked=0.9, random=0.1).random == 0.1
    with pytest.raises(ValidationError, match="random: 0.3 and masked 0.8 exceed 1"):
        MaskingSettings(random=0.3)
