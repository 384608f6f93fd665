"""A checkpoint whose files are not what they should be is one sentence, and nothing outside of it is touched."""

import json
import os
import re
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from bundles import small_bundle
from regard.checkpoint.atomic import fingerprint
from regard.checkpoint.bundle import TrainingState, read_bundle, read_training, write_bundle
from regard.checkpoint.store import CheckpointStore, find_checkpoint
from regard.errors import CheckpointError, RegardError
from regard.text.settings import TokenizerSettings
from regard.text.training import train_tokenizer

TOKENIZER = train_tokenizer(["the dog sleeps in the garden", "the frogs leap"] * 3, TokenizerSettings(size=40))
STATE = TrainingState({"weight/exp_avg": torch.arange(3.0)}, {"step": 5})


@pytest.fixture
def folder(tmp_path) -> Path:
    write_bundle(tmp_path / "one", small_bundle({"tokenizer": TOKENIZER}), STATE)
    return tmp_path / "one"


def renew(folder: Path) -> None:
    """Make the manifest say what the files are now."""
    names = [path for path in folder.rglob("*") if path.is_file() and path.name != "manifest.json"]
    table = {str(path.relative_to(folder)): fingerprint(path) for path in names}
    (folder / "manifest.json").write_text(json.dumps(table))


def message(call) -> str:
    with pytest.raises(CheckpointError) as error:
        call()
    assert "\n" not in str(error.value) and str(error.value).endswith(".")
    return str(error.value)


def change(folder: Path, *place, value) -> None:
    path = folder / "config.json"
    config = json.loads(path.read_text())
    inner = config
    for part in place[:-1]:
        inner = inner[part]
    inner[place[-1]] = value
    path.write_text(json.dumps(config))
    renew(folder)


ODD = [None, [], {}, "x", 1.5, -1, 10**30, True, "\ud800", float("nan"), [[1]]]


@pytest.mark.parametrize(
    "place",
    [
        ("format",),
        ("task",),
        ("model",),
        ("model", "family"),
        ("model", "width"),
        ("model", "encoder_layers"),
        ("vocabularies",),
        ("vocabularies", "source"),
        ("vocabularies", "is_shared"),
        ("tokenizers",),
        ("head",),
        ("decode",),
        ("seed",),
    ],
)
def test_a_value_of_another_type_is_a_sentence(folder, place):
    for value in ODD:
        change(folder, *place, value=value)
        try:
            read_bundle(folder)
        except CheckpointError as error:
            assert str(error).startswith(f"{folder}") and "\n" not in str(error)


def test_the_sentence_names_the_field(folder):
    change(folder, "vocabularies", "source", value="40")
    assert message(lambda: read_bundle(folder)) == (
        f"{folder / 'config.json'}: this is not the config of a regard checkpoint (vocabularies.source: "
        '"40" is not a whole number); copy it again.'
    )
    change(folder, "vocabularies", "source", value=40)
    change(folder, "model", "dropout", value="much")
    assert "(model.dropout: " in message(lambda: read_bundle(folder))


@pytest.mark.parametrize("text", ["", "[]", "null", "5", '"x"', "{}", "[" * 9000, '{"format": 2}'])
def test_a_config_that_is_something_else_is_a_sentence(folder, text):
    (folder / "config.json").write_text(text)
    renew(folder)
    assert "this is not the config of a regard checkpoint" in message(lambda: read_bundle(folder))


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("model", "encoder_layers"), 10**3),
        (("model", "decoder_layers"), 10**12),
        (("model", "width"), 10**9),
        (("model", "feed_forward_width"), 10**12),
        (("vocabularies", "source"), 2 * 10**9),
    ],
)
def test_absurd_sizes_are_refused_before_anything_is_built(folder, place, value):
    change(folder, *place, value=value)
    said = message(lambda: read_bundle(folder))
    assert any(reason in said for reason in ("fit the settings", "but the", "is not less than or equal to 1024"))


def test_a_task_that_the_model_is_not_for_is_refused(folder):
    for task in ("classify", "language-model", "vectors", "elmo", "answer", "masked-language-model"):
        change(folder, "task", value=task)
        assert str(folder / "config.json") in message(lambda: read_bundle(folder))


@pytest.mark.parametrize("roles", [["../x"], ["/etc/passwd"], [], ["source"], ["words"], [""]])
def test_no_role_becomes_a_path_and_all_that_are_needed_are_there(folder, roles):
    change(folder, "tokenizers", value=roles)
    assert "tokenizers" in message(lambda: read_bundle(folder))


@pytest.mark.parametrize(("size", "text"), [(30, ["a"]), (60, ["the quick brown fox jumps over a lazy dog"] * 3)])
def test_a_tokenizer_of_another_size_is_told_with_both_sizes(folder, size, text):
    other = train_tokenizer(text, TokenizerSettings(size=size))
    other.save(folder / "tokenizer.json")
    renew(folder)
    assert message(lambda: read_bundle(folder)) == (
        f"{folder / 'tokenizer.json'}: this tokenizer has {other.size} tokens, but the model 40; put the tokenizer "
        "it was trained with there."
    )


@pytest.mark.parametrize("role", ["source", "target"])
def test_each_side_has_a_tokenizer_of_its_size(tmp_path, role):
    folder = tmp_path / "one"
    other = train_tokenizer(["a b"], TokenizerSettings(size=30))
    write_bundle(folder, small_bundle({"source": TOKENIZER, "target": TOKENIZER}, embeddings="separate"))
    other.save(folder / f"tokenizer.{role}.json")
    renew(folder)
    said = message(lambda: read_bundle(folder))
    assert said.startswith(
        f"{folder / f'tokenizer.{role}.json'}: this tokenizer has {other.size} tokens, but the model"
    )


@pytest.mark.parametrize(
    "manifest",
    [
        "[]",
        '{"a": 5}',
        '{"a": {"bytes": "x", "sha256": "y"}}',
        '{"a": {"bytes": 1}}',
        '{"../../victim": {"bytes": 7, "sha256": "y"}}',
        '{"/etc/passwd": {"bytes": 7, "sha256": "y"}}',
        "{}",
    ],
)
def test_an_odd_manifest_is_a_sentence(folder, manifest):
    (folder / "manifest.json").write_text(manifest)
    message(lambda: read_bundle(folder))


def test_devices_and_pipes_are_never_read(folder):
    for make in (lambda path: path.symlink_to("/dev/zero"), os.mkfifo):
        (folder / "more").unlink(missing_ok=True)
        make(folder / "more")
        manifest = json.loads((folder / "manifest.json").read_text()) | {"more": {"bytes": 0, "sha256": "x"}}
        (folder / "manifest.json").write_text(json.dumps(manifest))
        assert message(lambda: read_bundle(folder)) == (
            f"{folder / 'more'}: damaged, this is not a plain file; copy it again or use another checkpoint."
        )


@pytest.mark.parametrize(
    "header",
    [b"", b"\xff" * 8, (2**40).to_bytes(8, "little"), (2).to_bytes(8, "little") + b"{}", b"\x02" + bytes(7) + b"[]"],
)
def test_weights_with_an_odd_header_are_a_sentence(folder, header):
    (folder / "model.safetensors").write_bytes(header)
    renew(folder)
    assert str(folder / "model.safetensors") in message(lambda: read_bundle(folder))


def test_weights_of_another_kind_are_refused(folder):
    path = folder / "model.safetensors"
    save_file({name: tensor.int() for name, tensor in load_file(path).items()}, path)
    renew(folder)
    assert re.search(r"is of int32, not float32; copy it again\.$", message(lambda: read_bundle(folder)))


@pytest.mark.parametrize("text", ["[]", "null", "{", "7"])
def test_a_state_of_training_that_is_no_object_is_a_sentence(folder, text):
    (folder / "training" / "state.json").write_text(text)
    renew(folder)
    assert "this is not the state of training" in message(lambda: read_training(folder))


@pytest.mark.parametrize(
    "index", ["[]", '{"kept": []}', '{"kept": {"00000010": "x"}}', '{"kept": {"00000010": [1]}}', "{}", '{"kept": 4}']
)
def test_an_odd_index_is_a_sentence(tmp_path, index):
    store = CheckpointStore(tmp_path)
    (tmp_path / "index.json").write_text(index)
    assert "this is not an index of checkpoints" in message(lambda: store.index)


@pytest.fixture
def victim(tmp_path) -> Path:
    """A checkpoint of somebody else, outside of the run."""
    write_bundle(tmp_path / "victim", small_bundle({"tokenizer": TOKENIZER}), STATE)
    return tmp_path / "victim"


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("kind", ["above", "absolute", "nested"])
def test_no_name_in_the_index_leads_out_of_the_run(tmp_path, victim, kind):
    name = {"above": "../../victim", "absolute": str(victim), "nested": "00000001/../../../victim"}[kind]
    before = contents(victim)
    store = CheckpointStore(tmp_path / "run" / "checkpoints")
    new = small_bundle({"tokenizer": TOKENIZER})
    for step in (10, 20, 30):
        store.save(step, new, STATE, 1.0)
    index = json.loads((store.folder / "index.json").read_text())
    index["kept"] = {name: 9.0} | index["kept"]
    (store.folder / "index.json").write_text(json.dumps(index))
    for call in (
        lambda: store.save(40, new, STATE, 1.0),
        lambda: find_checkpoint(tmp_path / "run"),
        store.resumable,
        lambda: store.drop_after(store.folder / "00000010"),
    ):
        assert "leads out of its folder" in (said := message(call)) or "is not the name of a file" in said
    assert contents(victim) == before


@pytest.mark.parametrize("place", ["checkpoint", "training", "old", "store"])
def test_no_deletion_follows_a_link(tmp_path, victim, place):
    before = contents(victim)
    store = CheckpointStore(tmp_path / "run" / "checkpoints")
    new = small_bundle({"tokenizer": TOKENIZER})
    first = store.save(10, new, STATE, 9.0)
    if place == "checkpoint":  # kept, and so old that its training state goes
        first.rename(tmp_path / "moved")
        first.symlink_to(victim)
    elif place == "training":
        (first / "training").rename(tmp_path / "moved")
        (first / "training").symlink_to(victim / "training")
    elif place == "old":
        (store.folder / "00000005").symlink_to(victim)
    else:
        store.folder.rename(tmp_path / "moved")
        store.folder.symlink_to(tmp_path)
        assert "this is a link to" in message(lambda: store.save(20, new, STATE, 1.0))
    if place != "store":
        for step in (20, 30, 40):
            store.save(step, new, STATE, 1.0)
    assert contents(victim) == before


def test_whatever_bytes_a_file_of_a_checkpoint_is_made_of_a_sentence_says_so(folder):
    """Every file cut, emptied, overwritten or replaced by a folder, under a manifest that knows it."""
    draw = torch.Generator().manual_seed(0)
    for name in ("config.json", "model.safetensors", "tokenizer.json", "manifest.json"):
        path = folder / name
        whole = path.read_bytes()
        for turn in range(6):
            place = int(torch.randint(0, len(whole), (1,), generator=draw))
            junk = bytes(torch.randint(0, 256, (4,), generator=draw).tolist())
            path.write_bytes([b"", whole[:place], whole[:place] + junk + whole[place + 4 :]][turn % 3])
            if name != "manifest.json":
                renew(folder)
            try:
                read_bundle(folder)
            except RegardError as error:
                assert "\n" not in str(error)
        path.write_bytes(whole)
        renew(folder)
