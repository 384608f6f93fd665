import asyncio

import pytest

from regard.errors import RunError
from regard.server.errors import UnknownModel
from regard.studio.settings import StudioSettings
from regard.studio.store import RunStore, run_path


def test_only_paths_below_the_folder_are_runs(tmp_path):
    (tmp_path / "runs" / "a").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "runs" / "link").symlink_to(tmp_path / "elsewhere")
    assert run_path(tmp_path / "runs", "a") == tmp_path / "runs" / "a"
    for name in ("", ".", "..", "../elsewhere", "link", "/etc", "a\x00"):
        with pytest.raises(RunError, match="is not below"):
            run_path(tmp_path / "runs", name)


def test_models_are_runs_with_a_checkpoint(studio_runs):
    store = RunStore(StudioSettings(runs=studio_runs, device="cpu"))
    served = asyncio.run(store.model("vectors"))
    assert served.path == str(studio_runs / "vectors") and asyncio.run(store.model("vectors")) is served
    for name in ("broken", "../x", "none"):
        with pytest.raises(UnknownModel):
            store.path(name)
    store.close()


def test_the_least_recently_used_model_makes_room(studio_runs):
    settings = StudioSettings(runs=studio_runs, device="cpu", memory=1e-6)
    store = RunStore(settings)
    asyncio.run(store.model("vectors"))
    asyncio.run(store.model("classify"))
    assert list(store.loaded) == ["classify"]
    store.close()
