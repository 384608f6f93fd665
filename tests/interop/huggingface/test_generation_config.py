"""Decoding defaults are the same after a generation_config.json, and what it cannot express is reported."""

import pytest

from language_folders import TEXTS
from regard.decoding.settings import TextDecoding
from regard.interop.huggingface.generation_config import (
    decoding_of,
    generating_of,
    generation_config,
    language_generation,
    special_tokens,
)
from regard.progress import Progress
from regard.text.settings import TokenizerSettings
from regard.text.training import train_tokenizer

TOKENIZER = train_tokenizer(TEXTS, TokenizerSettings(size=300))


class Warned(Progress):
    def __init__(self):
        self.sentences = []

    def warn(self, message):
        self.sentences.append(message)


@pytest.mark.parametrize(
    "decode",
    [
        {"beam_size": 1, "length_penalty": "none"},
        {"beam_size": 6, "length_penalty": "average", "length_penalty_alpha": 0.8},
    ],
)
def test_a_search_round_trips(decode):
    progress = Warned()
    config = generation_config(decode, TOKENIZER, 64, progress)
    assert decoding_of(config) == decode and progress.sentences == []
    assert config["max_length"] == 64 and config["decoder_start_token_id"] == TOKENIZER.bos_id
    assert config["suppress_tokens"] == list(TOKENIZER.suppressed_ids)


def test_what_a_search_cannot_express_is_warned_of():
    progress = Warned()
    generation_config({"length_penalty": "gnmt"}, TOKENIZER, 64, progress)
    assert progress.sentences == ["decode.length_penalty: gnmt is not written, generate() has no such setting here."]


def test_an_empty_file_is_greedy_search_as_in_transformers():
    assert decoding_of({}) == {"beam_size": 1, "length_penalty": "average", "length_penalty_alpha": 1.0}
    assert decoding_of({"length_penalty": -1.0})["length_penalty"] == "none"


@pytest.mark.parametrize(
    "generate",
    [
        {"temperature": 0.0, "max_new_tokens": 20, "no_repeat_ngram_size": 3},
        {"temperature": 0.7, "top_k": 40, "top_p": 0.9, "num_samples": 3, "max_new_tokens": 20},
        {"temperature": 1.2, "top_k": None, "min_p": 0.1, "max_new_tokens": 5},
    ],
)
def test_a_continuation_round_trips(generate):
    progress = Warned()
    read = generating_of(language_generation(generate, TOKENIZER, progress))
    default = TextDecoding()
    for name, value in generate.items():
        assert read.get(name, getattr(default, name)) == value, name
    assert progress.sentences == []


def test_what_a_continuation_cannot_express_is_warned_of():
    progress = Warned()
    language_generation({"repetition_penalty": 1.5}, TOKENIZER, progress)
    assert progress.sentences == [
        "generate.repetition_penalty: 1.5 is not written, generate() has no such setting here."
    ]


def test_sampling_without_top_k_takes_the_default_of_transformers_and_no_sampling_is_greedy():
    assert generating_of({"do_sample": True})["top_k"] == 50
    assert generating_of({"do_sample": True, "top_k": 0})["top_k"] is None
    assert generating_of({"do_sample": False}) == {"temperature": 0.0}
    assert generating_of({}) == {}


def test_special_tokens_are_those_of_the_tokenizer():
    assert special_tokens(TOKENIZER) == {
        "pad_token_id": TOKENIZER.pad_id,
        "bos_token_id": TOKENIZER.bos_id,
        "eos_token_id": TOKENIZER.eos_id,
        "decoder_start_token_id": TOKENIZER.bos_id,
    }
