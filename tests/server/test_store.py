"""The store: models are loaded when asked for, make room for one another, and are replaced by newer checkpoints."""

import asyncio
import shutil

import pytest

from regard.checkpoint.atomic import write_json
from regard.errors import ConfigError
from regard.server.errors import RequestError, Unavailable, UnknownModel
from regard.server.served import ServedModel
from regard.server.settings import ServerSettings
from regard.server.store import GIB, Card, ModelStore, Version, named
from regard.tasks.translate.options import SourceRow


def test_names_are_those_of_folders_or_given():
    assert named(["runs/gpt", "b=runs/gpt", "hf:models/bert"]) == {
        "gpt": "runs/gpt",
        "b": "runs/gpt",
        "bert": "hf:models/bert",
    }
    with pytest.raises(ConfigError, match="a model gpt already"):
        named(["runs/gpt", "other/gpt"])
    with pytest.raises(ConfigError, match="without /"):
        named(["a/b=runs/gpt"])


def test_the_least_recently_used_model_makes_room_and_whoever_holds_it_may_go_on(translator):
    size = Version.of(str(translator)).bytes
    settings = ServerSettings(memory=2.5 * size / GIB, device="cpu")

    async def check():
        store = ModelStore(settings, [f"{name}={translator}" for name in "abc"])
        first = await store.model("a")
        await store.model("b")
        assert await store.model("a") is first
        await store.model("c")
        assert list(store.loaded) == ["a", "c"]
        call = first.call(first.operation("translate"), {})
        store.close()
        (result,) = await first.results(call, [SourceRow("Ja.")])  # retired, and of use all the same
        return result.text

    assert asyncio.run(check())


def test_a_newer_best_checkpoint_is_loaded_and_what_runs_ends_on_the_old(translator, tmp_path):
    run = tmp_path / "run"
    checkpoints = run / "checkpoints"
    shutil.copytree(translator, checkpoints / "00000001")
    write_json(checkpoints / "index.json", {"latest": "00000001", "best": "00000001", "kept": {"00000001": 1.0}})

    async def check():
        store = ModelStore(ServerSettings(device="cpu"), [run])
        old = await store.model("run")
        assert await store.reload() == []
        shutil.copytree(translator, checkpoints / "00000002")
        both = {"00000001": 1.0, "00000002": 2.0}
        write_json(checkpoints / "index.json", {"latest": "00000002", "best": "00000002", "kept": both})
        task = asyncio.create_task(old.results(old.call(old.operation("translate"), {}), [SourceRow("Ja.")]))
        assert await store.reload() == ["run"]
        new = await store.model("run")
        assert new is not old and isinstance(new, ServedModel) and (await task)[0].text
        (checkpoints / "00000002" / "model.safetensors").write_bytes(b"damaged")
        assert await store.reload() == [] and await store.model("run") is new
        store.close()

    asyncio.run(check())


def test_an_unknown_model_and_one_that_does_not_load_are_refused(tmp_path, translator):
    async def check():
        store = ModelStore(ServerSettings(), [f"gone={tmp_path / 'gone'}", f"de-en={translator}"])
        with pytest.raises(UnknownModel, match="gone, de-en"):
            await store.model("nix")
        with pytest.raises(Unavailable, match="cannot be loaded"):
            await store.model("gone")
        assert await store.only("translate") == "de-en" and await store.card("gone") == Card()
        assert (await store.card("de-en")).languages == ("de", "en")
        model = await store.model("de-en")
        with pytest.raises(RequestError, match="does not generate"):
            model.operation("generate")
        with pytest.raises(ConfigError):
            model.call(model.operation("translate"), {"beam_size": 0})
        store.close()

    asyncio.run(check())
