"""Loading: a path becomes the pipeline of its task; another task, or an option it lacks, is refused by name."""

from dataclasses import replace

import pytest

from bundles import small_bundle
from encoder_folders import bert_tokenizer, small_encoder_bundle
from labeled import word_tokenizer
from language_folders import TEXTS, small_language_bundle
from regard.checkpoint.bundle import write_bundle
from regard.errors import CheckpointError, ConfigError
from regard.interop.huggingface.write import write
from regard.pipelines.encoder import Encoder
from regard.pipelines.word_vectors import WordVectors
from regard.tasks.language_model.pipeline import Generator
from regard.tasks.load import load, load_encoder, load_tokenizer, read_model, read_task
from regard.tasks.translate.pipeline import Translator


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Checkpoints of three tasks, a Hugging Face folder and a file of word vectors."""
    path = tmp_path_factory.mktemp("models")
    words, others = word_tokenizer(*TEXTS), word_tokenizer("other words")
    write_bundle(path / "translator", small_bundle({"tokenizer": words}, {"beam_size": 2}))
    write_bundle(path / "two", small_bundle({"source": others, "target": words}, embeddings="target"))
    write_bundle(path / "broken", small_bundle({"tokenizer": words}, {"beam_size": 0}))
    write_bundle(path / "language", small_language_bundle(words))
    encoder = small_encoder_bundle(bert_tokenizer(size=300), {"length": 32})
    write_bundle(path / "encoder", encoder)
    write(encoder, path / "hf")
    (path / "glove.txt").write_text("the 1 2\ndog 3 4\n")
    return path


def refusal(kind, call) -> str:
    with pytest.raises(kind) as error:
        call()
    return str(error.value)


def test_every_path_becomes_the_pipeline_of_its_task(folder):
    assert isinstance(load(folder / "translator"), Translator)
    assert isinstance(load(folder / "language"), Generator) and isinstance(load(folder / "encoder"), Encoder)
    assert isinstance(load(f"hf:{folder / 'hf'}"), Encoder)
    vectors = load(folder / "glove.txt")
    assert isinstance(vectors, WordVectors) and vectors.words == ["the", "dog"]
    tasks = {name: read_task(folder / name) for name in ("translator", "language", "encoder")}
    assert tasks == {"translator": "translate", "language": "language-model", "encoder": "masked-language-model"}
    assert read_task(f"hf:{folder / 'hf'}") == "masked-language-model"


def test_a_model_of_another_task_is_refused_with_its_commands(folder):
    path = folder / "language"
    assert refusal(ConfigError, lambda: load(path, task="translate")).startswith(
        f"{path}: this is a language model, not a translator; use it with regard generate"
    )
    assert "not a language model; use it with regard translate, score or regard evaluate." in refusal(
        ConfigError, lambda: load(folder / "translator", task="language-model")
    )
    assert f"{path}: this is a language model, not a " in refusal(
        ConfigError, lambda: load(path, task="masked-language-model")
    )


def test_an_encoder_is_loaded_whatever_its_task_and_nothing_else_is(folder):
    assert isinstance(load_encoder(folder / "encoder"), Encoder)
    path = folder / "translator"
    assert refusal(ConfigError, lambda: load_encoder(path)) == (
        f"{path}: this is a translator of the family transformer, and only a text encoder such as BERT embeds texts; "
        f"use it with regard translate, score or regard evaluate."
    )


def test_a_file_of_word_vectors_is_refused_for_another_task(folder):
    assert "glove.txt: this is neither a run nor a checkpoint; name the folder of one." in refusal(
        CheckpointError, lambda: load(folder / "glove.txt", task="translate")
    )


def test_options_that_a_task_lacks_are_refused(folder):
    path = folder / "language"
    assert refusal(ConfigError, lambda: load(path, ensemble=[path])) == (
        f"ensemble: {path} is a language model, and only translators form an ensemble; leave it out."
    )
    translator = folder / "translator"
    assert refusal(ConfigError, lambda: load(translator, "cpu", quantize="int8")) == (
        f"quantize: {translator} is a translator, and only language models take int8; leave it out."
    )
    assert refusal(ConfigError, lambda: load(path, precision="fp8")) == ('precision: "fp8" is not one of fp32, bf16.')


def test_members_of_an_ensemble_have_one_tokenizer(folder):
    one, two = folder / "translator", folder / "two"
    assert len(load(one, ensemble=[one]).models) == 2
    assert refusal(CheckpointError, lambda: load(one, ensemble=[two])) == (
        f"{two}: its source tokenizer is not that of {one}, so they do not predict the same tokens; train one of "
        f"them with the other's (text.tokenizer)."
    )


def test_a_model_is_read_for_export_only_if_its_decoding_defaults_are_valid(folder):
    assert read_model(folder / "translator").task == "translate"
    assert "beam_size: 0 is out of range" in refusal(ConfigError, lambda: read_model(folder / "broken"))


def test_a_task_of_a_newer_version_is_named(folder, tmp_path):
    bundle = replace(small_bundle({"tokenizer": word_tokenizer(*TEXTS)}), task="summarize")
    write_bundle(tmp_path / "new", bundle)
    assert refusal(CheckpointError, lambda: load(tmp_path / "new")) == (
        f'{tmp_path / "new"}: its task "summarize" is unknown to this version of regard; upgrade it.'
    )


def test_the_tokenizer_of_either_side_is_loaded(folder):
    both = load_tokenizer(folder / "translator", "target")
    assert both.to_json() == load_tokenizer(folder / "translator" / "tokenizer.json").to_json()
    source, target = (load_tokenizer(folder / "two", side) for side in ("source", "target"))
    assert source.to_json() != target.to_json() == both.to_json()
    assert refusal(ConfigError, lambda: load_tokenizer(folder / "two", "left")) == (
        'side: "left" is not one of source, target.'
    )
