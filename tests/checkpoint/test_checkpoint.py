import json
import os
from dataclasses import replace

import pytest
import torch

from regard.checkpoint import atomic
from regard.checkpoint.atomic import fingerprint
from regard.checkpoint.averaging import average_checkpoints
from regard.checkpoint.bundle import Bundle, TrainingState, read_bundle, read_training, write_bundle
from regard.checkpoint.store import CheckpointStore, RetentionPolicy, find_checkpoint
from regard.errors import CheckpointError
from regard.models.base.settings import Vocabularies
from regard.text.settings import TokenizerSettings
from regard.text.training import train_tokenizer
from small import random_tokens, small_transformer


def bundle(**changes) -> Bundle:
    model = small_transformer(**changes)
    text = ["the dog sleeps in the garden", "the frogs leap"] * 3
    tokenizer = train_tokenizer(text, TokenizerSettings(size=40))
    return Bundle(
        "translate", model, model.settings, Vocabularies(40, 40, True), {"tokenizer": tokenizer}, {"seed": 7}
    )


STATE = TrainingState({"weight/exp_avg": torch.arange(3.0)}, {"step": 5})


def message(call):
    with pytest.raises(CheckpointError) as error:
        call()
    return str(error.value)


@pytest.mark.parametrize("changes", [{}, {"embeddings": "separate"}, {"positions": "relative", "norm_order": "pre"}])
def test_a_model_comes_back_with_everything_it_needs(tmp_path, changes):
    written = bundle(**changes)
    write_bundle(tmp_path / "one", written, STATE)
    read = read_bundle(tmp_path / "one")
    source, target = random_tokens(2, 5), random_tokens(2, 4, seed=1)
    token_mask = torch.ones(2, 5, dtype=torch.bool)
    with torch.no_grad():
        assert torch.equal(read.model(source, token_mask, target), written.model(source, token_mask, target))
    assert read.settings == written.settings and read.facts == {"seed": 7} and not read.model.training
    assert read.tokenizers["tokenizer"].encode("the dog") == written.tokenizers["tokenizer"].encode("the dog")
    training = read_training(tmp_path / "one")
    assert training.facts == STATE.facts and torch.equal(training.tensors["weight/exp_avg"], torch.arange(3.0))


def test_shared_weights_are_written_once_and_shared_again(tmp_path):
    write_bundle(tmp_path / "one", bundle())
    model = read_bundle(tmp_path / "one").model
    assert model.head.weight is model.encoder.embedding.table.weight
    write_bundle(tmp_path / "two", bundle(embeddings="separate"))
    size = lambda name: (tmp_path / name / "model.safetensors").stat().st_size
    assert size("two") - size("one") > 2 * 40 * 16 * 4 - 200


def test_a_disk_that_fills_leaves_the_last_checkpoint_and_nothing_else(tmp_path, monkeypatch):
    store = CheckpointStore(tmp_path)
    first = store.save(10, bundle(), STATE, 1.0)

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("safetensors.torch.save_file", full)
    assert message(lambda: store.save(20, bundle(), STATE, 1.0)) == (
        f"{tmp_path / '00000020'}: the checkpoint could not be written (No space left on device); checkpoints "
        "written before are untouched, so free some space and resume with --resume."
    )
    assert store.path("latest") == first and sorted(path.name for path in tmp_path.iterdir()) == [
        "00000010",
        "index.json",
    ]
    read_bundle(first)


@pytest.mark.parametrize("room", [10, 3000, 20_000, 60_000])
def test_a_write_that_fails_after_some_bytes_harms_nothing(tmp_path, room):
    """A real limit on the size of files: config, tokenizer, weights or training state no longer fit."""
    resource = pytest.importorskip("resource")
    store = CheckpointStore(tmp_path)
    large = TrainingState({"weight/exp_avg": torch.zeros(20_000)}, {"step": 5})
    first = store.save(10, bundle(), large, 1.0)
    sizes = [path.stat().st_size for path in first.rglob("*") if path.is_file()]
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    new = bundle()
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
    try:
        said = message(lambda: store.save(20, new, large, 2.0))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert min(sizes) < 3000 < 20_000 < max(sizes)
    assert said.startswith(f"{tmp_path / '00000020'}: the checkpoint could not be written (")
    assert "File too large" in said and said.endswith("so free some space and resume with --resume.")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["00000010", "index.json"]
    assert store.path("latest") == first == store.resumable()[0]
    assert store.save(20, bundle(), large, 2.0) == store.path("best")


def test_an_index_that_cannot_be_written_is_told(tmp_path, monkeypatch):
    store = CheckpointStore(tmp_path)
    first = store.save(10, bundle(), STATE, 1.0)

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("regard.checkpoint.store.write_json", full)
    assert message(lambda: store.save(20, bundle(), STATE, 2.0)).startswith(
        f"{tmp_path / 'index.json'}: the checkpoint could not be written (No space left on device);"
    )
    monkeypatch.undo()
    assert store.path("latest") == first
    store.save(20, bundle(), STATE, 2.0)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["00000010", "00000020", "index.json"]


def test_a_file_that_cannot_be_written_is_named_and_stays_as_it_was(tmp_path):
    from regard.checkpoint.atomic import write_text

    resource = pytest.importorskip("resource")
    path = tmp_path / "run.json"
    path.write_text("old")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, before[1]))
    try:
        with pytest.raises(OSError) as error:
            write_text(path, "new" * 10)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert error.value.filename == str(path)
    assert [each.name for each in tmp_path.iterdir()] == ["run.json"] and path.read_text() == "old"


def test_what_a_kill_leaves_is_cleared_at_the_next_save(tmp_path):
    store = CheckpointStore(tmp_path)
    store.save(10, bundle(), STATE, 1.0)
    (tmp_path / ".00000020.0123abcd").mkdir()
    (tmp_path / ".00000020.0123abcd" / "model.safetensors").write_bytes(b"half")
    (tmp_path / ".index.json.89abcdef").write_text("{")
    (tmp_path / "00000030").mkdir()  # written whole, but the index was not
    store.save(20, bundle(), STATE, 0.5)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["00000010", "00000020", "index.json"]


def test_the_best_few_and_the_last_few_are_kept(tmp_path):
    store = CheckpointStore(tmp_path)
    for step, value in enumerate((5.0, 1.0, 4.0, 3.0, 2.0, 1.0)):
        store.save(step, bundle(), STATE, value, RetentionPolicy(last=1, best=3))
    assert store.index.ranking == ["00000000", "00000002", "00000003", "00000005"]
    assert list(store.index.kept) == sorted(store.index.ranking)


def test_a_damaged_latest_checkpoint_is_told_with_the_one_before(tmp_path):
    store = CheckpointStore(tmp_path)
    before = store.save(10, bundle(), STATE, 1.0)
    latest = store.save(20, bundle(), STATE, 2.0)
    assert store.resumable() == (latest, [])
    (latest / "tokenizer.json").write_text("{}")
    folder, (damage,) = store.resumable()
    assert folder == before and str(damage).startswith(f"{latest / 'tokenizer.json'}: damaged, it has 2 bytes of ")
    store.drop_after(before)
    assert store.path("latest") == store.path("best") == before
    (before / "manifest.json").write_text("no")
    assert message(store.resumable) == (
        f"{before / 'manifest.json'}: this is not the manifest of a checkpoint (line 1: Expecting value); copy it "
        "again; there is no intact checkpoint before it to resume from."
    )


def test_the_mean_of_checkpoints(tmp_path):
    models = [bundle(seed=0), bundle(seed=1)]
    folders = [tmp_path / "a", tmp_path / "b"]
    for folder, each in zip(folders, models):
        write_bundle(folder, each)
    mean = average_checkpoints(folders)
    weights = [dict(each.model.named_parameters()) for each in (*models, mean)]
    for name, value in weights[2].items():
        assert torch.allclose(value, (weights[0][name] + weights[1][name]) / 2, atol=1e-7)
    assert mean.facts == {"seed": 7, "averaged": [str(folder) for folder in folders]}
    assert mean.model.head.weight is mean.model.encoder.embedding.table.weight


def test_checkpoints_that_do_not_belong_together_have_no_mean(tmp_path):
    first = bundle()
    other = train_tokenizer(["quite other words, which nobody has said before"] * 3, TokenizerSettings(size=40))
    strangers = {
        "wide": (bundle(width=32), "model.width is 16 in one and 32 in the other"),
        "heads": (bundle(heads=2), "model.heads is 4 in one and 2 in the other"),
        "seed": (replace(first, facts={"seed": 8}), "seed is 7 in one and 8 in the other"),
        "text": (replace(first, tokenizers={"tokenizer": other}), "their tokenizers differ"),
    }
    write_bundle(tmp_path / "a", first)
    for name, (stranger, reason) in strangers.items():
        write_bundle(tmp_path / name, stranger)
        assert message(lambda name=name: average_checkpoints([tmp_path / "a", tmp_path / name])) == (
            f"{tmp_path / 'a'} and {tmp_path / name}: {reason}, so their mean is meaningless; average "
            "checkpoints of one run."
        )


def test_the_store_keeps_best_and_latest_and_training_state_only_in_the_two_newest(tmp_path):
    store = CheckpointStore(tmp_path / "checkpoints")
    for step, value in ((10, 1.0), (20, 2.0), (30, 1.5), (35, None), (40, 2.0)):
        store.save(step, bundle(), STATE, value)
    assert json.loads((store.folder / "index.json").read_text()) == {
        "latest": "00000040",
        "best": "00000020",
        "kept": {"00000020": 2.0, "00000035": None, "00000040": 2.0},
    }
    folders = sorted(path.name for path in store.folder.iterdir() if path.is_dir())
    assert folders == ["00000020", "00000035", "00000040"]
    assert not (store.path("best") / "training").exists() and (store.path("latest") / "training").is_dir()
    assert find_checkpoint(tmp_path) == store.path("best")
    assert find_checkpoint(tmp_path, "latest") == store.path("latest")
    assert find_checkpoint(store.path("latest")) == store.path("latest")
    read_bundle(store.path("best"))  # still whole without its training state


def test_a_step_saved_twice_never_leaves_the_run_without_a_checkpoint(tmp_path, monkeypatch):
    store = CheckpointStore(tmp_path)
    first = store.save(10, bundle(), STATE, 1.0)
    monkeypatch.setattr("regard.checkpoint.store.write_bundle", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        store.save(10, bundle(), STATE, 1.0)
    assert store.path("latest") == first
    monkeypatch.undo()
    second = store.save(10, bundle(), STATE, 1.0)
    assert second == store.path("latest") != first == store.path("best")
    store.save(20, bundle(), STATE, 2.0)
    assert not first.exists() and second.exists()


def test_json_is_replaced_in_one_step(tmp_path, monkeypatch):
    path = tmp_path / "a.json"
    atomic.write_json(path, {"a": 1})
    monkeypatch.setattr(os, "fsync", lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        atomic.write_json(path, {"a": 2})
    assert json.loads(path.read_text()) == {"a": 1} and list(tmp_path.iterdir()) == [path]


def test_a_truncated_file_is_told_by_its_size(tmp_path):
    write_bundle(tmp_path / "one", bundle())
    path = tmp_path / "one" / "model.safetensors"
    whole = path.stat().st_size
    path.write_bytes(path.read_bytes()[:1000])
    assert message(lambda: read_bundle(tmp_path / "one")) == (
        f"{path}: damaged, it has 1,000 bytes of {whole:,}; copy it again or use another checkpoint."
    )


def test_a_changed_file_is_told(tmp_path):
    write_bundle(tmp_path / "one", bundle())
    path = tmp_path / "one" / "model.safetensors"
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    assert message(lambda: read_bundle(tmp_path / "one")) == (
        f"{path}: damaged, its contents changed since it was written; copy it again."
    )


def test_a_missing_file_is_told(tmp_path):
    write_bundle(tmp_path / "one", bundle())
    path = tmp_path / "one" / "model.safetensors"
    path.unlink()
    assert message(lambda: read_bundle(tmp_path / "one")) == (
        f"{path}: missing, so the checkpoint is incomplete; copy it again."
    )


def test_a_newer_format_is_refused(tmp_path):
    write_bundle(tmp_path / "one", bundle())
    path = tmp_path / "one" / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"format": 9, "regard": "4.2.0"}))
    from regard import __version__

    assert message(lambda: read_bundle(tmp_path / "one")) == (
        f"{tmp_path / 'one'}: written in format 9 by regard 4.2.0, but regard {__version__} reads formats up to 2; "
        "upgrade with pip install -U regard."
    )


def test_an_older_format_is_refused(tmp_path):
    write_bundle(tmp_path / "one", bundle())
    path = tmp_path / "one" / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"format": 1, "regard": "0.1.0"}))
    from regard import __version__

    assert message(lambda: read_bundle(tmp_path / "one")) == (
        f"{tmp_path / 'one'}: written in format 1 by regard 0.1.0, but regard {__version__} reads format 2; "
        "train it again, or use it with the version that wrote it."
    )


def test_settings_that_do_not_fit_the_weights_are_told(tmp_path):
    write_bundle(tmp_path / "one", bundle())
    path = tmp_path / "one" / "config.json"
    config = json.loads(path.read_text())
    config["model"]["encoder_layers"] = 3
    path.write_text(json.dumps(config))
    assert "config.json: damaged, it has" in message(lambda: read_bundle(tmp_path / "one"))
    manifest = json.loads((tmp_path / "one" / "manifest.json").read_text())
    (tmp_path / "one" / "manifest.json").write_text(json.dumps(manifest | {"config.json": fingerprint(path)}))
    assert "its tensors do not fit the settings" in message(lambda: read_bundle(tmp_path / "one"))


def test_places_without_a_checkpoint_are_told(tmp_path):
    assert message(lambda: find_checkpoint(tmp_path / "no")) == (
        f"{tmp_path / 'no'}: there is no run or checkpoint here; check the path."
    )
    assert message(lambda: find_checkpoint(tmp_path)) == (
        f"{tmp_path}: this is neither a run nor a checkpoint; name the folder of one."
    )
    (tmp_path / "run.json").write_text("{}")
    assert message(lambda: find_checkpoint(tmp_path)) == (
        f"{tmp_path}: this run has no checkpoint yet; let it reach its first save."
    )
    write_bundle(tmp_path / "one", bundle())
    assert message(lambda: read_training(tmp_path / "one")) == (
        f"{tmp_path / 'one'}: it holds no training state (only the latest checkpoints of a run do)."
    )
