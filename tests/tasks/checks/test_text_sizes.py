"""Sizes of running text: little text, little validation, and models too large for it."""

from types import SimpleNamespace

import pytest

from regard.data.settings.text import TextData, TextSource
from regard.tasks.checks import text_sizes
from regard.tasks.checks.text_sizes import FEW_TOKENS
from regard.text.settings import CorpusTextSettings
from regard.training.settings import TrainSettings


@pytest.fixture(autouse=True)
def parameters(monkeypatch):
    """The settings of a model are its number of parameters."""
    monkeypatch.setattr(text_sizes, "count_parameters", lambda settings, vocabularies: settings)


def text_size_findings(data, window=32):
    return text_sizes.text_size_findings(data, window, per_epoch=100)


def data(tokens=200_000, valid=20_000, weights=1000, size=8000, validated=10**9, has_valid=True):
    """Everything the check looks at; a corpus is anything with a length."""
    train_source, valid_source = (TextSource(paths=[name]) for name in ("a.txt", "b.txt"))
    return SimpleNamespace(
        corpora=SimpleNamespace(train=range(tokens), valid=range(valid)),
        settings=SimpleNamespace(
            model=weights,
            text=CorpusTextSettings(size=8000),
            train=TrainSettings(steps=400, warmup=10, validate_every=100),
            data=TextData(train=train_source, valid=valid_source if has_valid else None),
        ),
        tokenizer=SimpleNamespace(size=size),
        vocabularies=None,
        validated=min(valid, validated),
    )


def by_name(findings):
    return {finding.name: finding for finding in findings}


def test_enough_of_everything_is_sound():
    findings = by_name(text_size_findings(data()))
    assert {each.severity for each in findings.values()} == {"ok"}
    assert findings["parameters"].sentence == "1,000 parameters are trained on 200,000 tokens."
    assert findings["validation"].metrics == {"tokens": 20_000}


@pytest.mark.parametrize(
    ("tokens", "window", "severity"), [(FEW_TOKENS, 32, None), (FEW_TOKENS - 1, 32, "note"), (30, 30, "warning")]
)
def test_little_text_is_a_note_and_less_than_a_window_a_warning(tokens, window, severity):
    finding = by_name(text_size_findings(data(tokens=tokens), window)).get("few-tokens")
    assert (finding.severity if finding else None) == severity


def test_a_model_far_larger_than_its_text_is_a_warning():
    finding = by_name(text_size_findings(data(tokens=1000, weights=300_000)))["parameters"]
    assert finding.severity == "warning" and finding.sentence.endswith("300 per token: such a model overfits.")


def test_a_vocabulary_smaller_than_asked_for_is_a_note():
    finding = by_name(text_size_findings(data(size=2000)))["vocabulary"]
    assert finding.severity == "note" and finding.metrics == {"size": 2000}


def test_validation_is_bounded_by_the_setting_and_more_can_be_held_out():
    finding = by_name(text_size_findings(data(validated=1500)))["validation"]
    assert finding.severity == "warning" and finding.metrics == {"tokens": 1500}
    assert finding.way_out == "validate on more text"
    held_out = by_name(text_size_findings(data(valid=1000, has_valid=False)))["validation"]
    assert held_out.remedy == "hold out more" and held_out.settings == {"data.valid_fraction": 0.05}
