"""A text encoder that cannot go or come is refused in one sentence that names what stands in the way."""

import json
import shutil

import pytest
import safetensors.torch

from encoder_folders import bert_tokenizer, small_encoder_bundle, their_encoder
from regard.errors import CheckpointError, ConfigError, DataError
from regard.interop.huggingface.read import read
from regard.interop.huggingface.write import write

WRITING = [
    ({"positions": "rotary"}, 'positions: "rotary"', '"learned" does'),
    ({"norm_order": "pre"}, 'norm_order: "pre"', '"post" does'),
    ({"norm": "rms"}, 'norm: "rms"', '"layer" does'),
    ({"activation": "swiglu"}, 'activation: "swiglu"', "these do: gelu, gelu-tanh, relu, silu"),
    ({"key_value_heads": 2}, "key_value_heads: 2", "one for each head does"),
    ({"head_width": 8}, "head_width: 8", "4 heads as wide as the model do"),
]


@pytest.fixture(scope="module")
def tokenizer():
    return bert_tokenizer()


@pytest.mark.parametrize("changes, what, way_out", WRITING, ids=lambda value: str(value)[:40])
def test_a_model_that_does_not_fit_is_refused_by_its_setting(changes, what, way_out, tokenizer, tmp_path):
    with pytest.raises(ConfigError) as error:
        write(small_encoder_bundle(tokenizer, **changes), tmp_path / "hf")
    assert str(error.value) == (
        f"model.{what} does not fit BERT, the only Hugging Face architecture of a text encoder; {way_out}."
    )
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def theirs(tokenizer, tmp_path_factory):
    folder = tmp_path_factory.mktemp("theirs") / "bert"
    their_encoder(folder, "BertForPreTraining", tokenizer)
    return folder


def with_json(name, **changes):
    def change(folder):
        path = folder / name
        found = json.loads(path.read_text()) | changes
        path.write_text(json.dumps({key: value for key, value in found.items() if value != "gone"}))

    return change


def with_tensors(change):
    def apply(folder):
        tensors = safetensors.torch.load_file(folder / "model.safetensors")
        change(tensors)
        safetensors.torch.save_file(tensors, folder / "model.safetensors")

    return apply


def without(name):
    return with_tensors(lambda tensors: tensors.pop(name))


def without_tokenizer(folder):
    (folder / "tokenizer.json").unlink()


def without_separator(folder):
    path = folder / "tokenizer.json"
    path.write_text(path.read_text().replace("[SEP]", "[END]"))


def with_broken_vocabulary(folder):
    (folder / "tokenizer.json").unlink()
    (folder / "vocab.txt").write_bytes(b"[PAD]\n\xff\n")


READING = {
    "another architecture": (
        with_json("config.json", architectures=["BertLMHeadModel"]),
        '{folder}/config.json: architecture "BertLMHeadModel" is not one that can be read (BertForPreTraining, '
        "BertForMaskedLM, BertForNextSentencePrediction, BertModel, BertForSequenceClassification, "
        "BertForTokenClassification, BertForQuestionAnswering, BertForMultipleChoice).",
    ),
    "another kind of positions": (
        with_json("config.json", position_embedding_type="relative_key"),
        '{folder}/config.json: position_embedding_type is "relative_key", and only a model with "absolute" can be '
        "read.",
    ),
    "a decoder": (
        with_json("config.json", is_decoder=True),
        "{folder}/config.json: is_decoder is true, and only a model with false can be read.",
    ),
    "another activation": (
        with_json("config.json", hidden_act="tanh"),
        '{folder}/config.json: hidden_act "tanh" is not one that can be read (gelu, gelu_python, gelu_new, '
        "gelu_pytorch_tanh, gelu_fast, relu, silu, swish).",
    ),
    "no width": (
        with_json("config.json", hidden_size="gone"),
        "{folder}/config.json: hidden_size is missing, so the model cannot be built.",
    ),
    "heads that do not fit": (
        with_json("config.json", num_attention_heads=5),
        "{folder}/config.json: it describes no model that can be built (heads: 5 does not divide width 16; choose "
        "another, or set head_width).",
    ),
    "a wrong size": (
        with_json("config.json", max_position_embeddings=16),
        "{folder}: what becomes embedding.positions.table.weight has shape (32, 16), but config.json asks for "
        "(16, 16); copy it again.",
    ),
    "a layer that is missing": (
        without("bert.encoder.layer.1.output.dense.weight"),
        "{folder}: encoder.layer.1.output.dense.weight is missing, so the model is incomplete; copy it again.",
    ),
    "a head that is missing": (
        without("cls.predictions.transform.dense.weight"),
        "{folder}: cls.predictions.transform.dense.weight is missing, so the model is incomplete; copy it again.",
    ),
    "two tables": (
        with_tensors(
            lambda tensors: tensors.update(
                {"cls.predictions.decoder.weight": tensors["bert.embeddings.word_embeddings.weight"] + 1}
            )
        ),
        "{folder}: cls.predictions.decoder.weight is not the embedding matrix, but tie_word_embeddings in "
        "config.json is true; set it to false there, or copy the model again.",
    ),
    "too few tokens": (
        with_tensors(
            lambda tensors: tensors.update(
                {
                    "bert.embeddings.word_embeddings.weight": tensors["bert.embeddings.word_embeddings.weight"][
                        :99
                    ].clone(),
                }
            )
        ),
        "{folder}/config.json: the model has 99 tokens, but the tokenizer {size}; put the tokenizer it was trained "
        "with beside it.",
    ),
    "no tokenizer": (
        without_tokenizer,
        "{folder}: there is no tokenizer.json and no vocab.txt here; put the model's tokenizer beside it.",
    ),
    "no end of a text": (
        without_separator,
        "{folder}/tokenizer.json: it has no token called [SEP]; rename the one with its role.",
    ),
    "another mask": (
        with_json("tokenizer_config.json", mask_token="<mask>"),
        "{folder}/tokenizer_config.json: mask_token is <mask>, and only a tokenizer with [MASK] can be read.",
    ),
    "a vocabulary that is no text": (
        with_broken_vocabulary,
        "{folder}/vocab.txt: line 2 is not UTF-8 (byte 0xff); convert the file, for example with iconv -f latin1 -t "
        "utf-8.",
    ),
    "modules that are none": (
        lambda folder: (folder / "modules.json").write_text("7"),
        "{folder}/modules.json: this is not a list of modules (7 is not a list).",
    ),
}


@pytest.mark.parametrize("case", READING)
def test_a_folder_that_cannot_be_read_is_refused(case, theirs, tokenizer, tmp_path):
    change, sentence = READING[case]
    folder = tmp_path / "bert"
    shutil.copytree(theirs, folder)
    change(folder)
    with pytest.raises((CheckpointError, DataError)) as error:
        read(folder)
    assert str(error.value) == sentence.format(folder=folder, size=tokenizer.size)
