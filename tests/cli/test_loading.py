"""A model is loaded by the options that were given, and by no others."""

from regard.cli import run_options as loading
from regard.cli.options import Given


def test_options_that_were_given_reach_the_loader(monkeypatch):
    calls = []
    for name in ("load", "load_encoder"):
        monkeypatch.setattr(f"regard.tasks.load.{name}", lambda *args, **named: calls.append((args, named)))
    loading.load_model("r", Given(device="cpu", precision="bf16", threads=None, ensemble=["x"], quantize=None), "t")
    loading.load_text_encoder("r", Given(device=None, precision=None, threads=None))
    assert calls == [(("r", "cpu"), {"task": "t", "precision": "bf16", "ensemble": ["x"]}), (("r", "auto"), {})]


def test_the_flags_of_loading_have_the_defaults_of_their_settings():
    flags = {flag.name: flag for flag in loading.loading_flags({"ensemble", "quantize"})}
    assert list(flags) == ["device", "threads", "precision", "ensemble", "quantize"]
    assert flags["precision"].default == "fp32" and flags["quantize"].default == "none"
