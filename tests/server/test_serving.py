"""What is checked before a server starts, and a worker's own start."""

import pytest

import regard.server.operations
from regard.errors import CheckpointError, ConfigError
from regard.server.app import create_app
from regard.server.guard import Guard, _is_host
from regard.server.serving import serve_runs
from regard.server.settings import ServerSettings
from regard.server.store import ModelStore
from regard.server.worker import main


def test_a_path_or_a_key_file_that_is_wrong_is_refused_before_anything_listens(tmp_path, translator):
    with pytest.raises(CheckpointError, match="no run or checkpoint here"):
        serve_runs(ServerSettings(port=0), [str(tmp_path / "nix")])
    with pytest.raises(ConfigError, match="cannot be read"):
        serve_runs(ServerSettings(port=0, keys=str(tmp_path / "nix.toml")), [str(translator)])


def test_further_routers_are_guarded_as_all_others():
    settings = ServerSettings()
    app = create_app(settings, ModelStore(settings, []))
    assert any(each.cls is Guard for each in app.user_middleware)
    assert regard.server.operations.router.routes and callable(main)
    assert _is_host("localhost:8000") and not _is_host("a b")


def test_the_description_names_the_models_that_are_served(translator):
    settings = ServerSettings()
    described = create_app(settings, ModelStore(settings, [f"x={translator}"])).openapi()
    schema = described["components"]["schemas"]["CompletionBody"]["properties"]["model"]
    assert schema["enum"] == ["x"] and "/api/translate/translate" in described["paths"]
