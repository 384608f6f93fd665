"""A language model that cannot go or come is refused in one sentence that names what stands in the way."""

import json
import shutil

import pytest
import safetensors.torch
import torch

from language_folders import MODERN, TEXTS, small_language_bundle, their_folder
from regard.checkpoint.bundle import Bundle
from regard.errors import CheckpointError, ConfigError
from regard.interop.huggingface.read import read
from regard.interop.huggingface.write import write
from regard.models.base.settings import Vocabularies
from regard.models.families import build_model
from regard.models.recurrent.language_model import RecurrentLmSettings
from regard.text.settings import TokenizerSettings
from regard.text.training import train_tokenizer
from spelling import END, save_pieces, trained_bytes


@pytest.fixture(scope="module")
def tokenizer():
    return train_tokenizer(TEXTS, TokenizerSettings(size=330, pretokenizer="byte-level"))


REFUSALS = [
    ({"positions": "rotary"}, 'model.positions: "rotary" does not fit GPT-2', '"learned" does'),
    ({"positions": "alibi"}, 'model.positions: "alibi" does not fit GPT-2', '"learned" does'),
    ({"norm": "rms"}, 'model.norm: "rms" does not fit GPT-2', '"layer" does'),
    ({"norm_order": "res-post"}, 'model.norm_order: "res-post" does not fit GPT-2', '"pre" does'),
    ({"has_output_bias": True}, "model.has_output_bias: true does not fit GPT-2", "false does"),
    ({"scales_embeddings": True}, "model.scales_embeddings: true does not fit GPT-2", "false does"),
    (
        {"activation": "swiglu"},
        'model.activation: "swiglu" does not fit GPT-2',
        "these do: gelu-tanh, gelu, relu, silu",
    ),
    ({"key_value_heads": 2}, "model.key_value_heads: 2 does not fit GPT-2", "one for each head does"),
    ({"head_width": 8}, "model.head_width: 8 does not fit GPT-2", "4 heads as wide as the model do"),
    (
        {"norm_order": "post", "activation": "gelu"},
        'model.activation: "gelu" does not fit GPT',
        "these do: gelu-tanh, relu, silu",
    ),
    (
        {"norm_order": "post", "feed_forward_width": 32},
        "model.feed_forward_width: 32 does not fit GPT",
        "four times the width does, 64",
    ),
    (MODERN | {"has_bias": True}, "model.has_bias: true does not fit Llama", "false does"),
    (MODERN | {"activation": "silu"}, 'model.activation: "silu" does not fit Llama', '"swiglu" does'),
]


@pytest.mark.parametrize("changes, what, way_out", REFUSALS, ids=lambda value: str(value)[:40])
def test_a_model_that_fits_no_form_is_refused_by_its_setting(changes, what, way_out, tokenizer, tmp_path):
    with pytest.raises(ConfigError) as error:
        write(small_language_bundle(tokenizer, **changes), tmp_path / "hf")
    assert str(error.value) == f"{what}, the nearest Hugging Face architecture; {way_out}."
    assert list(tmp_path.iterdir()) == []


def test_other_refusals_of_writing(tokenizer, tmp_path):
    bundle = small_language_bundle(tokenizer)
    with pytest.raises(CheckpointError) as error:
        write(bundle, tmp_path)
    assert str(error.value) == f"{tmp_path}: it exists already; name a folder that does not."
    settings, vocabularies = RecurrentLmSettings(width=8), Vocabularies(330, 330, True)
    model = build_model(settings, vocabularies)
    with pytest.raises(ConfigError) as error:
        write(Bundle("language-model", model, settings, vocabularies, bundle.tokenizers), tmp_path / "hf")
    assert str(error.value) == (
        'task, model.family: "language-model" with "recurrent-lm" has no Hugging Face architecture; translators of '
        "the family transformer, language models of the family gpt and models of the family bert have one."
    )


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    where = tmp_path_factory.mktemp("theirs")
    for kind in ("gpt2", "llama"):
        their_folder(where / kind, kind)
    return where


def with_config(**changes):
    def spoil(folder):
        config = json.loads((folder / "config.json").read_text()) | changes
        (folder / "config.json").write_text(json.dumps({k: v for k, v in config.items() if v != "gone"}))

    return spoil


def with_tensors(change):
    def spoil(folder):
        tensors = safetensors.torch.load_file(folder / "model.safetensors")
        change(tensors)
        safetensors.torch.save_file(tensors, folder / "model.safetensors")

    return spoil


def with_pieces(name, text):
    def spoil(folder):
        (folder / "tokenizer.json").unlink()
        save_pieces(trained_bytes(TEXTS), folder)
        (folder / name).write_text(text, encoding="utf-8")

    return spoil


def without_end(folder):
    definition = json.loads((folder / "tokenizer.json").read_text())
    definition["added_tokens"] = []
    (folder / "tokenizer.json").write_text(json.dumps(definition))


UNREADABLE = {
    "pickle": (
        "gpt2",
        lambda folder: (folder / "model.safetensors").rename(folder / "pytorch_model.bin"),
        "{folder}: its weights are pickled (.bin), and loading those may run code, so they are not read; write them "
        "again as model.safetensors, with save_pretrained.",
    ),
    "no scale": (
        "gpt2",
        with_config(scale_attn_weights=False),
        "{folder}/config.json: scale_attn_weights is false, and only a model with true can be read.",
    ),
    "scale by layer": (
        "gpt2",
        with_config(scale_attn_by_inverse_layer_idx=True),
        "{folder}/config.json: scale_attn_by_inverse_layer_idx is true, and only a model with false can be read.",
    ),
    "cross-attention": (
        "gpt2",
        with_config(add_cross_attention=True),
        "{folder}/config.json: add_cross_attention is true, and only a model with false can be read.",
    ),
    "another activation": (
        "gpt2",
        with_config(activation_function="tanh"),
        '{folder}/config.json: activation_function "tanh" is not one that can be read (gelu_new, gelu_pytorch_tanh, '
        "gelu_fast, gelu, relu, silu, swish).",
    ),
    "no width": (
        "gpt2",
        with_config(n_embd="gone"),
        "{folder}/config.json: n_embd is missing, so the model cannot be built.",
    ),
    "impossible": (
        "gpt2",
        with_config(n_head=5),
        "{folder}/config.json: it describes no model that can be built (heads: 5 does not divide width 16; choose "
        "another, or set head_width).",
    ),
    "another end": (
        "gpt2",
        with_config(eos_token_id=500),
        "{folder}/config.json: eos_token_id is 500, but <|endoftext|> of the tokenizer is 399.",
    ),
    "half a model": (
        "gpt2",
        with_tensors(lambda tensors: tensors.pop("transformer.h.1.mlp.c_proj.bias")),
        "{folder}: h.1.mlp.c_proj.bias is missing, so the model is incomplete; copy it again.",
    ),
    "no output": (
        "gpt2",
        with_config(tie_word_embeddings=False),
        "{folder}: lm_head.weight is missing, so the model is incomplete; copy it again.",
    ),
    "wrong shapes": (
        "gpt2",
        with_tensors(lambda tensors: tensors.update({"transformer.h.1.mlp.c_fc.weight": torch.zeros(16, 63)})),
        "{folder}: what becomes blocks.1.feed_forward.inner.weight has shape (63, 16), but config.json asks for "
        "(64, 16); copy it again.",
    ),
    "no tokenizer": (
        "gpt2",
        lambda folder: (folder / "tokenizer.json").unlink(),
        "{folder}: there is no tokenizer.json here; put the model's fast tokenizer beside it.",
    ),
    "no json": (
        "gpt2",
        lambda folder: (folder / "tokenizer.json").write_text("{"),
        "{folder}/tokenizer.json: this is not a tokenizer.json that can be read (line 1: Expecting property name "
        "enclosed in double quotes).",
    ),
    "no vocabulary": (
        "gpt2",
        lambda folder: (folder / "tokenizer.json").write_text('{"model": {}}'),
        "{folder}/tokenizer.json: this is not a tokenizer.json that can be read (added_tokens is missing).",
    ),
    "no end": (
        "gpt2",
        without_end,
        f"{{folder}}/tokenizer.json: it has no token called {END}; rename the one with its role.",
    ),
    "broken vocabulary": (
        "gpt2",
        with_pieces("vocab.json", "["),
        "{folder}/vocab.json: this is not an object that gives each token its id (line 1: Expecting value).",
    ),
    "vocabulary without numbers": (
        "gpt2",
        with_pieces("vocab.json", '{"a": "b"}'),
        '{folder}/vocab.json: this is not an object that gives each token its id (a: "b" is not a whole number).',
    ),
    "broken merges": (
        "gpt2",
        with_pieces("merges.txt", "#version: 0.2\na b\na b c\n"),
        '{folder}/merges.txt: line 3 is "a b c", not two tokens; copy it again.',
    ),
    "faster waves": (
        "llama",
        with_config(rope_parameters={"rope_type": "default", "rope_theta": 500000.0}),
        "{folder}/config.json: rope_parameters.rope_theta is 500000.0, and only a model with 10000.0 can be read.",
    ),
    "older faster waves": (
        "llama",
        with_config(rope_parameters="gone", rope_theta=500000.0),
        "{folder}/config.json: rope_theta is 500000.0, and only a model with 10000.0 can be read.",
    ),
    "stretched waves": (
        "llama",
        with_config(rope_parameters="gone", rope_scaling={"type": "linear"}),
        "{folder}/config.json: rope_scaling is {{'type': 'linear'}}, and only a model with none can be read.",
    ),
    "biases": (
        "llama",
        with_config(attention_bias=True),
        "{folder}/config.json: attention_bias is true, and only a model with false can be read.",
    ),
    "another model": (
        "llama",
        with_config(model_type="mamba"),
        '{folder}/config.json: model_type "mamba" is not one that can be read (marian, pegasus, blenderbot, gpt2, '
        "openai-gpt, llama, bert).",
    ),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_cannot_be_read_is_one_sentence(name, folders, tmp_path):
    kind, spoil, message = UNREADABLE[name]
    folder = shutil.copytree(folders / kind, tmp_path / "copy")
    spoil(folder)
    with pytest.raises(CheckpointError) as error:
        read(folder)
    assert str(error.value) == message.format(folder=folder)
