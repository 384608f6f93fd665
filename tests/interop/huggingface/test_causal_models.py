"""A language model goes to Hugging Face and comes from there: the same logits and the same continuations."""

import json
import shutil

import pytest
import safetensors.torch
import torch
from torch.testing import assert_close

import regard
from language_folders import (
    FORMS,
    MODERN,
    TEXTS,
    greedy,
    random_ids,
    small_language_bundle,
    their_folder,
)
from regard.checkpoint.bundle import read_bundle, write_bundle
from regard.decoding.settings import TextDecoding
from regard.interop.huggingface.causal_models import read_language_model, write_language_model
from regard.interop.huggingface.folder import read_config
from regard.interop.huggingface.read import read
from regard.interop.huggingface.write import write
from regard.progress import SILENT, Progress
from regard.tasks.language_model.pipeline import Generator
from regard.text.settings import TokenizerSettings
from regard.text.tokenizer import Tokenizer
from regard.text.training import train_tokenizer
from spelling import save_pieces, trained_bytes

OURS = [
    ("GPT-2", {}),
    ("GPT-2", {"activation": "gelu", "has_bias": False, "embeddings": "separate", "norm_epsilon": 1e-4}),
    ("GPT-2", {"activation": "relu", "feed_forward_width": 40, "head_width": 4}),
    ("GPT-2", {"activation": "silu", "layers": 1, "heads": 2}),
    ("GPT", {}),
    ("GPT", {"activation": "relu", "embeddings": "separate", "has_bias": False}),
    ("Llama", {}),
    ("Llama", {"embeddings": "separate", "key_value_heads": None, "head_width": 8, "feed_forward_width": 24}),
]
THEIRS = [
    ("gpt2", {}),
    ("gpt2", {"activation_function": "gelu", "n_inner": 24, "layer_norm_epsilon": 1e-3}),
    ("gpt2", {"activation_function": "swish", "reorder_and_upcast_attn": True}),
    ("gpt2", {"tie_word_embeddings": False, "activation_function": "gelu_pytorch_tanh"}),
    ("openai-gpt", {}),
    ("openai-gpt", {"afn": "silu", "eos_token_id": None}),
    ("llama", {}),
    ("llama", {"tie_word_embeddings": True, "head_dim": 6, "num_key_value_heads": 4}),
]


@pytest.fixture(scope="module")
def trained():
    return train_tokenizer(TEXTS, TokenizerSettings(size=330, pretokenizer="byte-level"))


@pytest.fixture(scope="module")
def only_end():
    return Tokenizer(trained_bytes(TEXTS))


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory):
    folder = tmp_path_factory.mktemp("theirs") / "gpt2"
    return folder, their_folder(folder)


def loaded(folder):
    from transformers import AutoModelForCausalLM

    theirs, report = AutoModelForCausalLM.from_pretrained(folder, output_loading_info=True)
    assert not any(report.values()), report
    return theirs.eval()


def assert_the_same(ours, theirs):
    tokens = random_ids(theirs.config.vocab_size)
    with torch.no_grad():
        expected = theirs(input_ids=tokens).logits
        assert expected.std() > 0.3
        assert_close(ours(tokens), expected, atol=1e-4, rtol=0)


@pytest.mark.parametrize("form, changes", OURS, ids=str)
def test_what_is_written_gives_the_same_logits_there_and_comes_back_unchanged(form, changes, trained, tmp_path):
    bundle = small_language_bundle(trained, **(FORMS[form] | changes))
    assert write(bundle, tmp_path / "hf").name == form
    assert_the_same(bundle.model, loaded(tmp_path / "hf"))
    back = read(tmp_path / "hf")
    assert (back.task, back.vocabularies) == ("language-model", bundle.vocabularies)
    assert back.tokenizers["tokenizer"].to_json() == trained.to_json()
    tokens = random_ids(trained.size)
    with torch.no_grad():
        assert torch.equal(back.model(tokens), bundle.model(tokens))
    # Missing biases are zeros there, and a width of heads that is the usual one need not be said.
    usual = {"has_bias"} if form != "Llama" else set()
    usual |= {"head_width"} if changes.get("head_width") == 4 else set()
    assert back.settings.model_dump(exclude=usual) == bundle.settings.model_dump(exclude=usual)


def test_a_round_trip_changes_nothing(trained, only_end, tmp_path):
    generate = {
        "temperature": 0.8,
        "top_k": 20,
        "top_p": 0.9,
        "num_samples": 2,
        "max_new_tokens": 12,
        "add_bos": True,
    }
    for number, tokenizer in enumerate((trained, only_end)):
        bundle = small_language_bundle(tokenizer, generate)
        folder = tmp_path / f"{number}"
        form = write_language_model(bundle, bundle.settings, folder, SILENT)
        back = read_language_model(folder, read_config(folder), form)
        assert (back.settings, back.facts) == (bundle.settings, bundle.facts)
        weights = back.model.state_dict()
        assert all(torch.equal(value, weights[name]) for name, value in bundle.model.state_dict().items())
        write(back, tmp_path / f"{number} again")
        for path in sorted((tmp_path / f"{number}").iterdir()):
            assert path.read_bytes() == (tmp_path / f"{number} again" / path.name).read_bytes(), path.name


@pytest.mark.parametrize("kind, changes", THEIRS, ids=str)
def test_what_is_read_gives_their_logits_and_goes_back(kind, changes, tmp_path):
    theirs = their_folder(tmp_path / "theirs", kind, **changes)
    bundle = read(tmp_path / "theirs")
    assert_the_same(bundle.model, theirs)
    assert bundle.facts["window"] == 32 and bundle.task == "language-model"
    assert bundle.settings.embeddings == ("shared" if theirs.config.tie_word_embeddings else "separate")
    write(bundle, tmp_path / "ours")
    assert_the_same(bundle.model, loaded(tmp_path / "ours"))
    write_bundle(tmp_path / "checkpoint", bundle)
    again = read_bundle(tmp_path / "checkpoint")
    assert (again.settings, again.facts) == (bundle.settings, bundle.facts)
    assert (
        again.tokenizers["tokenizer"].eos_id
        == bundle.tokenizers["tokenizer"].eos_id
        == bundle.vocabularies.target - 1
    )


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("add_bos", [False, True], ids=["in a text", "at its beginning"])
@pytest.mark.parametrize("has_only_an_end", [False, True], ids=["four special tokens", "only an end"])
def test_greedy_continuations_are_equal_token_for_token(form, add_bos, has_only_an_end, trained, only_end, tmp_path):
    from transformers import AutoTokenizer

    tokenizer = only_end if has_only_an_end else trained
    generate = {"temperature": 0.0, "max_new_tokens": 16, "add_bos": add_bos}
    bundle = small_language_bundle(tokenizer, generate, **(FORMS[form] | {"embeddings": "separate"}))
    prompts = ["The dog", "the cat plays", "שלום 🙂", " ", "\n\n"]
    first = [tokenizer.eos_id] if add_bos else []
    begun = [[*first, *ids] for ids in tokenizer.encode_batch(prompts)]
    never_ending = greedy(bundle.model, begun[0], -1, 16, tokenizer.suppressed_ids)
    with torch.no_grad():  # where this token was said, the text now ends
        bundle.model.head.weight[tokenizer.eos_id] = 1.001 * bundle.model.head.weight[never_ending[-8]]
    write(bundle, tmp_path / "hf")
    theirs, spelling = loaded(tmp_path / "hf"), AutoTokenizer.from_pretrained(tmp_path / "hf")
    generator = regard.load(f"hf:{tmp_path / 'hf'}", "cpu")
    lengths = set()
    for prompt, ids in zip(prompts, begun, strict=True):
        found = greedy(bundle.model, ids, tokenizer.eos_id, 16, tokenizer.suppressed_ids)
        expected = theirs.generate(**spelling(prompt, return_tensors="pt"))[0].tolist()
        assert expected == [*ids, *found]
        assert generator(prompt).ids == tuple(found)
        assert spelling.decode(expected, skip_special_tokens=True) == tokenizer.decode(expected)
        lengths.add((len(found), found[-1] == tokenizer.eos_id))
    assert len(lengths) > 1 and any(has_ended for _, has_ended in lengths)
    # A batch of prompts of different lengths has its padding in front.
    given = spelling(prompts[:3], return_tensors="pt", padding=True)
    batch = theirs.generate(**given)[:, given.input_ids.size(1) :].tolist()
    for row, alone in zip(batch, generator(prompts[:3]), strict=True):
        assert row[: len(alone.ids)] == list(alone.ids)


def test_their_greedy_continuations_are_ours(gpt2):
    from transformers import AutoTokenizer

    folder, theirs = gpt2
    bundle, spelling = read(folder), AutoTokenizer.from_pretrained(folder)
    tokenizer = bundle.tokenizers["tokenizer"]
    for prompt in ("The", "garden, and the", "👩‍👩‍👧‍👦 \t"):
        given = spelling(prompt, return_tensors="pt")
        expected = theirs.generate(**given, max_new_tokens=20, pad_token_id=0)[0].tolist()
        ids = tokenizer.encode(prompt).ids
        assert [*ids, *greedy(bundle.model, ids, tokenizer.eos_id, 20)] == expected
        assert [*ids, *Generator(bundle)(prompt, temperature=0, max_new_tokens=20).ids] == expected


def in_parts(folder, tensors):
    names = {name: f"model-{number % 3}.safetensors" for number, name in enumerate(sorted(tensors))}
    for file in set(names.values()):
        part = {name: tensors[name] for name in tensors if names[name] == file}
        safetensors.torch.save_file(part, folder / file)
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": names}))


def without_prefix(folder, tensors):
    bare = {name.removeprefix("transformer."): value for name, value in tensors.items()}
    safetensors.torch.save_file(bare, folder / "model.safetensors")


def with_buffers(folder, tensors):
    for number in range(2):
        tensors[f"transformer.h.{number}.attn.bias"] = torch.ones(1, 1, 32, 32, dtype=torch.uint8)
        tensors[f"transformer.h.{number}.attn.masked_bias"] = torch.tensor(-1e4)
    tensors["lm_head.weight"] = tensors["transformer.wte.weight"].clone()
    safetensors.torch.save_file(tensors, folder / "model.safetensors")


def under_the_other_name(folder, tensors):
    tensors["lm_head.weight"] = tensors.pop("transformer.wte.weight")
    safetensors.torch.save_file(tensors, folder / "model.safetensors")


def with_pieces(folder, tensors):
    save_pieces(trained_bytes(TEXTS), folder)
    (folder / "tokenizer.json").unlink()
    (folder / "generation_config.json").unlink()


@pytest.mark.parametrize("change", [in_parts, without_prefix, with_buffers, under_the_other_name, with_pieces])
def test_other_ways_to_save_the_same_model_are_read(change, gpt2, tmp_path):
    folder = shutil.copytree(gpt2[0], tmp_path / "copy")
    change(folder, safetensors.torch.load_file(folder / "model.safetensors"))
    bundle = read(folder)
    assert_the_same(bundle.model, gpt2[1])
    tokenizer = bundle.tokenizers["tokenizer"]
    assert tokenizer.encode_batch(TEXTS) == read(gpt2[0]).tokenizers["tokenizer"].encode_batch(TEXTS)
    assert tokenizer.specials == {bundle.vocabularies.target - 1} and tokenizer.suppressed_ids == ()
    assert bundle.facts == {"window": 32, "generate": {"add_bos": False}}


def test_half_precision_is_read_as_fp32(gpt2, tmp_path):
    folder = shutil.copytree(gpt2[0], tmp_path / "copy")
    tensors = safetensors.torch.load_file(folder / "model.safetensors")
    safetensors.torch.save_file({name: value.half() for name, value in tensors.items()}, folder / "model.safetensors")
    found, expected = read(folder).model.state_dict(), read(gpt2[0]).model.state_dict()
    assert all(torch.equal(value, expected[name].half().float()) for name, value in found.items())


def test_an_old_config_without_later_settings_is_read(gpt2, tmp_path):
    folder = shutil.copytree(gpt2[0], tmp_path / "copy")
    sizes = {"n_embd": 16, "n_positions": 32, "n_layer": 2, "n_head": 4}
    (folder / "config.json").write_text(json.dumps({"model_type": "gpt2", **sizes}))
    bundle = read(folder)
    assert_the_same(bundle.model, gpt2[1])
    assert (bundle.settings.dropout, bundle.settings.activation) == (0.1, "gelu-tanh")


@pytest.mark.parametrize(
    "said, found",
    [
        ({}, {}),
        ({"do_sample": False, "temperature": 0.7, "top_k": 9}, {"temperature": 0.0}),
        ({"no_repeat_ngram_size": 3, "min_new_tokens": 2}, {"no_repeat_ngram_size": 3, "min_new_tokens": 2}),
        ({"do_sample": True, "max_new_tokens": 40}, {"top_k": 50, "max_new_tokens": 40}),
        (
            {"do_sample": True, "top_k": 0, "top_p": 0.9, "temperature": 0.6, "num_return_sequences": 3},
            {"top_k": None, "top_p": 0.9, "temperature": 0.6, "num_samples": 3},
        ),
    ],
    ids=str,
)
def test_defaults_of_generation_are_read(said, found, gpt2, tmp_path):
    folder = shutil.copytree(gpt2[0], tmp_path / "copy")
    (folder / "generation_config.json").write_text(json.dumps({"eos_token_id": 7, **said}))
    bundle = read(folder)
    assert bundle.facts == {"window": 32, "generate": found | {"add_bos": False}}
    assert Generator(bundle).options().add_bos is False


def test_what_cannot_be_said_there_is_told(trained, tmp_path):
    said = []

    class Heard(Progress):
        def warn(self, message):
            said.append(message)

    settings = TextDecoding(seed=3, stop=("x",), repetition_penalty=1.5, no_repeat_ngram_size=2)
    bundle = small_language_bundle(trained, settings.model_dump(mode="json"), feed_forward_dropout=0.2)
    write(bundle, tmp_path / "gpt2", Heard())
    assert said == [
        "generate.seed: 3 is not written, generate() has no such setting here.",
        "generate.repetition_penalty: 1.5 is not written, generate() has no such setting here.",
        "generate.stop: ('x',) is not written, generate() has no such setting here.",
        "model.feed_forward_dropout: 0.2 is not written, GPT-2 has no such setting.",
    ]
    back = TextDecoding(**read(tmp_path / "gpt2").facts["generate"])
    assert back == TextDecoding(no_repeat_ngram_size=2)
    said.clear()
    write(small_language_bundle(trained, **(MODERN | {"dropout": 0.1})), tmp_path / "llama", Heard())
    assert said == ["model.dropout: 0.1 is not written, Llama has no such setting."]


def test_a_drawn_continuation_is_drawn_there_too(trained, tmp_path):
    from transformers import GenerationConfig

    write(small_language_bundle(trained, {"top_p": 0.9, "max_new_tokens": 7}), tmp_path / "hf")
    found = GenerationConfig.from_pretrained(tmp_path / "hf")
    assert (found.do_sample, found.top_k, found.top_p, found.max_new_tokens) == (True, 0, 0.9, 7)
    assert (found.pad_token_id, found.bos_token_id, found.eos_token_id) == (0, 2, 3)
    assert found.suppress_tokens == [0, 1, 2]
