"""The presets have the parameters of Hugging Face's BERT; the same weights are compared in tests/interop."""

import pytest
import torch

from regard.models.families import presets_of
from regard.runs.planning.plan import preset_parameters

SIZES = {
    "bert-tiny": (2, 128),
    "bert-mini": (4, 256),
    "bert-small": (4, 512),
    "bert-medium": (8, 512),
    "bert-base": (12, 768),
    "bert-large": (24, 1024),
}
"""Layers and width (Turc et al., 2019, table 1; Devlin et al., 2019, §3)."""

BODIES = {"bert-base": 109_482_240, "bert-large": 335_141_888}


def test_every_preset_is_here():
    assert list(SIZES) == presets_of("encoder")


@pytest.mark.parametrize("name", SIZES)
def test_parameters_are_those_of_the_reference(name):
    import transformers

    layers, width = SIZES[name]
    sizes = {"num_hidden_layers": layers, "hidden_size": width}
    more = {"num_attention_heads": width // 64, "intermediate_size": 4 * width}
    with torch.device("meta"):
        theirs = transformers.BertForPreTraining(transformers.BertConfig(**sizes, **more))
    assert preset_parameters(name, 30_522) == theirs.num_parameters()
    body = sum(parameter.numel() for parameter in theirs.bert.parameters())
    heads = width * width + 3 * width + 30_522 + 2 * width + 2
    assert body + heads == theirs.num_parameters() and BODIES.get(name, body) == body
