"""The card of a translator: scores of each passport, and the counts of its data."""

from pathlib import Path

import pytest

from regard.tasks.card import CardInput
from regard.tasks.record import RunRecord
from regard.tasks.translate.card import data_section, scores_section
from regard.tasks.translate.records import PairReport, TranslationPassport
from translation_records import score, translation_record


def passport(best="b" * 64, **changes):
    values = {
        "passport": 1,
        "set": "t",
        "scores": [score("BLEU", 31.456), score("TER", 60.0)],
        "paper_scores": [score("BLEU lowercased", 30.0)],
        "test_set": {"sources": "s" * 64, "references": ["r" * 64, "q" * 64]},
        "hypotheses": {"file": "t.txt", "sha256": "0"},
        "decode": {"beam_size": 4, "seed": 1},
        "checkpoint": {"path": "x", "sha256": best},
        "sentences": 1200,
        "loss": 2.5,
    }
    return TranslationPassport.model_validate(values | changes)


@pytest.fixture
def record():
    values = translation_record()
    report = PairReport.model_validate(values["data"])
    return RunRecord.model_validate(values | {"path": Path("r"), "data": report})


def test_each_passport_is_a_row_with_its_checkpoint(record):
    passports = {"t": passport(), "old": passport("c" * 64, loss=None, paper_scores=[])}
    lines = scores_section(CardInput(Path("r"), record, passports, "b" * 64))
    header, _, first, second = lines[2:6]
    assert header == "| set | sentences | BLEU | TER | BLEU lowercased | loss | decoding | checkpoint |"
    assert first == "| t | 1,200 | 31.46 | 60.00 | 30.00 | 2.500 | beam size 4 | best |"
    assert second == "| old | 1,200 | 31.46 | 60.00 |  | - | beam size 4 | an earlier checkpoint |"
    assert f"- checkpoint: SHA-256 `{'b' * 64}`" in lines and "- TER: `sig-TER`" in lines
    assert f"| t | `{'s' * 64}` | `{'r' * 64}` `{'q' * 64}` |" in lines


def test_without_passports_the_command_is_named(record):
    assert scores_section(CardInput(Path("r"), record))[-1] == "None yet; `regard evaluate r` computes them."


def test_the_data_section_has_counts_reasons_and_hashes(record):
    lines = data_section(CardInput(Path("r"), record))
    assert "| train | `a.tsv` (at most 1,000) | 10 | 8 | 1 empty, 1 duplicate | 2 for validation |" in lines
    assert "| valid | held out of train | 10 | 8 | 1 empty, 1 duplicate |  |" in lines
    assert "| test t | `t.tsv` |  |  | never cleaned |  |" in lines
    assert f"| `a.tsv` | `{'1' * 64}` |" in lines
