"""`regard serve`: its options are the server's settings, and mistakes are told before anything listens."""

import sys
from unittest import mock

import pytest

from commands import bad, good
from regard.cli.verbs.serve import serve
from regard.server.settings import ServerSettings


def test_the_options_are_the_settings_of_a_server():
    text = " ".join(good("serve", "--help").split())
    assert serve.__doc__ and all(f"--{name.replace('_', '-')}" in text for name in ServerSettings.model_fields)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["nix"], "no run or checkpoint here"),
        (["nix", "--port", "70000"], "port"),
        (["nix", "--workers", "0"], "workers"),
        (["a=x", "a=y"], "a model a already"),
        (["nix", "--log", "loud"], "log"),
    ],
)
def test_a_mistake_is_one_sentence(words, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert sentence in bad("serve", *words)


def test_without_the_packages_of_a_server_the_way_out_is_named(tmp_path):
    with mock.patch.dict(sys.modules, {"regard.server.serving": None}):
        assert "pip install 'regard[serve]'" in bad("serve", tmp_path)
