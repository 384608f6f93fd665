"""The run.json of a translation run as plain values, for tests of records and cards."""

from typing import Any


def score(name: str, value: float = 1.0) -> dict[str, Any]:
    """Return one score."""
    return {"name": name, "value": value, "signature": f"sig-{name}", "key": name.lower()}


def translation_scores() -> dict[str, Any]:
    """Return the scores of one test set."""
    return {
        "sentences": 2,
        "scores": [score("BLEU", 31.456), score("chrF", 50.0), score("TER", 60.0)],
        "loss": 2.5,
        "perplexity": 12.2,
        "sentences_per_second": 7.0,
        "bleu": 31.456,
        "chrf": 50.0,
        "ter": 60.0,
        "intervals": {"bleu": [30.0, 33.0]},
        "decode": {"beam_size": 5},
        "test_set": {"sources": "s" * 64, "references": ["r" * 64]},
    }


def translation_record(**changes: Any) -> dict[str, Any]:
    """Return the record of a finished run."""
    counts = {"read": 10, "kept": 8, "dropped": {"empty": 1, "duplicate": 1}, "held_out": 2}
    data = {"train": {"path": "a.tsv", "max_rows": 1000}, "valid": None, "test": {"t": {"path": "t.tsv"}}}
    record = {
        "format": 2,
        "state": "finished",
        "task": "translate",
        "settings": {"task": "translate", "model": {"family": "transformer"}, "train": {"steps": 3}, "data": data},
        "sources": {"model.family": "default"},
        "started": "2024-05-01T10:00:00+00:00",
        "regard": "0.1.0",
        "updates": 3,
        "steps": 3,
        "best_step": 2,
        "seconds": 1.5,
        "machine": {"device": "cpu", "threads": 2, "torch": "2.0"},
        "parameters": 100,
        "data": {"hash": "0" * 64, "files": {"a.tsv": "1" * 64}, "train": counts, "valid": counts | {"held_out": 0}},
        "scores": {"t": translation_scores()},
    }
    return record | changes
