"""Whatever a Hugging Face folder holds, it is read or refused in one sentence; no odd value is built upon."""

import json
import os
import shutil
import struct
import zlib
from pathlib import Path

import pytest
import safetensors.torch
import torch

from commands import bad
from odd_folders import HEADS, ODD, TRANSLATORS, json_files, places, small_folders, use, with_odd
from regard.errors import RegardError
from regard.interop.huggingface.read import read, read_task

FAMILIES = (*TRANSLATORS, "gpt-2", "gpt", "llama", "bert", *HEADS, "sentences", "pieces")


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    return small_folders(tmp_path_factory.mktemp("folders"))


@pytest.fixture
def copied(folders, tmp_path):
    return lambda name: shutil.copytree(folders[name], tmp_path / name)


@pytest.mark.parametrize("name", FAMILIES)
def test_an_odd_value_anywhere_in_a_json_file_is_read_or_refused(name, copied):
    folder = copied(name)
    use(read(folder))
    for path in json_files(folder):
        text = path.read_text()
        value = json.loads(text)
        # At every second place one of the odd values, always the same: all of them take minutes.
        for place in places(value, depth=3):
            half, drawn = divmod(zlib.crc32(f"{name} {path.name} {place}".encode()), len(ODD))
            if half % 2:
                continue
            odd = ODD[drawn]
            path.write_text(json.dumps(with_odd(value, place, odd)))
            try:
                read(folder)
            except RegardError as error:
                assert "\n" not in str(error)
        path.write_text(text)


def refusal(folder) -> str:
    with pytest.raises(RegardError) as caught:
        read_task(folder)
        use(read(folder))
    assert "\n" not in str(caught.value)
    return str(caught.value).replace(str(folder), "DIR")


def change(folder, name, **values):
    path = folder / name
    found = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps(found | values))


LLAMA, GPT, MARIAN = "llama/config.json", "gpt-2/config.json", "marian/config.json"
LABELS = "classification/config.json"
SEARCH, DRAW = "marian/generation_config.json", "gpt-2/generation_config.json"
PARTS = "gpt-2/model.safetensors.index.json"
REFUSED = [
    (LLAMA, {"num_hidden_layers": 10**9}, "num_hidden_layers: 1000000000 is not less than or equal to 16777216"),
    (LLAMA, {"num_hidden_layers": 10**3}, "DIR: layers.2.self_attn.q_proj.weight is missing, so the model is inc"),
    (LLAMA, {"hidden_size": 2**24}, "has shape (330, 16), but config.json asks for (330, 16777216); copy it again."),
    (LLAMA, {"hidden_size": 10**9}, "hidden_size: 1000000000 is not less than or equal to 16777216"),
    (MARIAN, {"d_model": 32}, "has shape (48, 16), but config.json asks for a width (d_model) of 32; copy it again."),
    (MARIAN, {"d_model": 2**24}, "asks for a width (d_model) of 16,777,216"),
    ("bert/config.json", {"hidden_act": []}, "(hidden_act: [] is not text)."),
    ("bert/config.json", {"architectures": 5}, "(architectures: 5 is not a list)."),
    (GPT, {"layer_norm_epsilon": float("nan")}, "layer_norm_epsilon: NaN is not a finite number"),
    (GPT, {"n_embd": "16"}, 'n_embd: "16" is not a whole number'),
    (SEARCH, {"num_beams": "x"}, 'a generation_config.json that can be read (num_beams: "x" is not a whole number).'),
    (SEARCH, {"length_penalty": []}, "length_penalty: [] is not a number"),
    (DRAW, {"temperature": -1}, "temperature: -1 is not greater than or equal to 0"),
    (DRAW, {"top_p": 5}, "top_p: 5 is not less than or equal to 1"),
    (
        DRAW,
        {"min_new_tokens": 9},
        "an impossible generation (min_new_tokens: 9 is more than max_new_tokens 4).",
    ),
    (LABELS, {"id2label": {"x": "a"}}, "id2label: it does not give each label a number"),
    (LABELS, {"id2label": {"0": "a", "1": "a"}}, 'id2label: two labels are called "a"'),
    ("sentences/sentence_bert_config.json", {"max_seq_length": [3]}, "max_seq_length: [3] is not a whole number"),
    ("sentences/1_Pooling/config.json", {"pooling_mode": 5}, "pooling_mode: 5 is not text"),
    ("classification/regard.json", {"max_length": 99}, "max_length is 99, but the model has 32 positions."),
    (
        "classification/regard.json",
        {"pair_encoding": 5},
        "pair_encoding: 5 is not 'cross-encoder', 'both-orders' or 'bi-encoder'",
    ),
    ("bert/tokenizer_config.json", {"mask_token": 5}, "mask_token: this is not a token"),
    ("classification/tokenizer_config.json", {"do_lower_case": "no"}, 'do_lower_case: "no" is not true or false'),
    ("pieces/vocab.json", {"a": 10**12}, "a: 1000000000000 is not less than 16777216"),
    (PARTS, {"weight_map": 5}, "weight_map: 5 is not a JSON object"),
    (PARTS, {"weight_map": {"a": 5}}, "weight_map.a: 5 is not text"),
    (PARTS, {"weight_map": {"a": "../b"}}, 'weight_map.a: "../b" leads out of its folder'),
    (PARTS, {"weight_map": {"a": "/etc/b"}}, 'weight_map.a: "/etc/b" leads out of its folder'),
]


@pytest.mark.parametrize(("where", "values", "sentence"), REFUSED, ids=lambda value: str(value)[:40])
def test_a_value_that_does_not_fit_is_named_with_its_file(where, values, sentence, copied):
    name, _, file = where.partition("/")
    folder = copied(name)
    change(folder, file, **values)
    found = refusal(folder)
    assert sentence in found and found.startswith("DIR")


def test_a_module_outside_of_the_folder_is_refused(copied):
    folder = copied("sentences")
    modules = json.loads((folder / "modules.json").read_text())
    modules[1]["path"] = "../.."
    (folder / "modules.json").write_text(json.dumps(modules))
    assert refusal(folder).startswith('DIR/modules.json: this is not a list of modules (1.path: "../.." leads out of')


def test_a_tokenizer_that_numbers_tokens_otherwise_is_refused(copied):
    folder = copied("gpt-2")
    definition = json.loads((folder / "tokenizer.json").read_text())
    last = max(definition["model"]["vocab"], key=definition["model"]["vocab"].get)
    definition["model"]["vocab"][last] += 7
    (folder / "tokenizer.json").write_text(json.dumps(definition))
    assert refusal(folder) == (
        "DIR/config.json: the tokenizer has 330 tokens with ids up to 336; number them without gaps."
    )


def test_an_empty_list_of_ends_says_nothing(copied):
    folder = copied("gpt-2")
    change(folder, "config.json", eos_token_id=[])
    use(read(folder))
    folder = copied("pieces")
    change(folder, "config.json", eos_token_id=[])
    use(read(folder))


def test_links_to_files_elsewhere_are_followed_as_in_their_cache(copied, tmp_path):
    folder = copied("gpt-2")
    blobs = tmp_path / "blobs"
    blobs.mkdir()
    for path in list(folder.iterdir()):
        path.rename(blobs / path.name)
        path.symlink_to(Path("..", "blobs", path.name))
    use(read(folder))
    (blobs / "generation_config.json").unlink()
    assert refusal(folder) == "DIR/generation_config.json: the file it links to is missing; copy it again."


def header_of(path):
    data = path.read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    return json.loads(data[8 : 8 + size]), data[8 + size :]


def write_header(path, header, data):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


@pytest.mark.parametrize("odd", [None, -1, 1.5, float("nan"), 10**30, "x", [], {}, [10**18, 10**18], [float("nan")]])
@pytest.mark.parametrize("field", ["shape", "dtype", "data_offsets"])
def test_weights_with_an_odd_header_are_refused(field, odd, copied):
    path = copied("gpt-2") / "model.safetensors"
    header, data = header_of(path)
    header["transformer.wte.weight"][field] = odd
    write_header(path, header, data)
    assert refusal(path.parent).startswith("DIR/model.safetensors: damaged (")


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 100, -1])
def test_weights_that_are_cut_off_are_refused(size, copied):
    path = copied("bert") / "model.safetensors"
    path.write_bytes(path.read_bytes()[:size])
    assert refusal(path.parent).startswith("DIR/model.safetensors: damaged (")


@pytest.mark.parametrize(
    ("dtype", "name"), [(torch.int64, "int64"), (torch.float8_e4m3fn, "float8_e4m3fn"), (torch.uint8, "uint8")]
)
def test_weights_of_another_type_are_refused(dtype, name, copied):
    path = copied("llama") / "model.safetensors"
    tensors = safetensors.torch.load_file(path)
    tensors["model.norm.weight"] = tensors["model.norm.weight"].to(dtype)
    safetensors.torch.save_file(tensors, path)
    assert refusal(path.parent) == (
        f"DIR: norm.weight is {name}, and weights can be float32, float16, bfloat16, float64; save it as one of them."
    )


@pytest.mark.parametrize("family", ["marian", "gpt-2", "llama", "classification"])
def test_weights_of_any_other_shape_are_refused(family, copied):
    path = copied(family) / "model.safetensors"
    tensors = safetensors.torch.load_file(path)
    for number, (name, tensor) in enumerate(tensors.items()):
        odd = (torch.tensor(1.0), torch.ones(3), torch.ones(2, 3, 4), torch.cat((tensor, tensor)))[number % 4]
        if "embed_positions" not in name or odd.dim() != 2:  # waves are computed anew
            safetensors.torch.save_file(tensors | {name: odd}, path)
            refusal(path.parent)


def test_weights_that_are_no_plain_file_are_refused(copied):
    folder = copied("gpt-2")
    path = folder / "model.safetensors"
    path.unlink()
    path.mkdir()
    assert refusal(folder) == "DIR/model.safetensors: this is not a plain file; copy it again."
    path.rmdir()
    os.mkfifo(path)
    assert refusal(folder) == "DIR/model.safetensors: this is not a plain file; copy it again."
    path.unlink()
    path.symlink_to("/dev/zero")
    assert bad("import", folder, "--out", folder / "new").endswith("this is not a plain file; copy it again.")
    for name in ("config.json", "generation_config.json", "tokenizer.json"):
        (folder / name).unlink()
        os.mkfifo(folder / name)
        assert "not a plain file" in refusal(folder) or name != "config.json"


def test_pieces_with_odd_lines_are_refused(copied):
    folder = copied("pieces")
    for text in (b"\xff\n", b"#version: 0.2\na b c\n", b"#version: 0.2\nnever seen\n", b"a"):
        (folder / "merges.txt").write_bytes(text)
        refusal(folder)
    folder = copied("bert")
    for text in (b"", b"\xff\n", b"a\nb\n", b"\x00\n"):
        (folder / "vocab.txt").write_bytes(text)
        refusal(folder)
