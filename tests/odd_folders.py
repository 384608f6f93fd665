"""A tiny Hugging Face folder of every family, and odd values in the place of every value of their JSON files."""

import copy
import json
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from bundles import small_bundle
from encoder_folders import bert_tokenizer, small_encoder_bundle
from language_folders import FORMS, TEXTS, shaken, small_language_bundle
from regard.checkpoint.bundle import Bundle
from regard.interop.huggingface.write import write
from regard.models.base.settings import HeadSettings
from regard.models.families import build_model
from regard.tasks.contract import find_task
from regard.tasks.declarations import LoadOptions
from regard.text.settings import TokenizerSettings
from regard.text.training import train_tokenizer
from spelling import save_pieces, trained_bytes

TRANSLATORS = {
    "marian": {"norm_order": "post"},
    "pegasus": {"norm_order": "pre"},
    "blenderbot": {"norm_order": "pre", "positions": "learned", "max_positions": 64},
}
HEADS: dict[str, tuple[str, int, dict[str, Any]]] = {
    "classification": (
        "classify",
        2,
        {"labels": ["a", "b"], "texts": 1, "pair_encoding": "cross-encoder", "columns": {"text_column": "t"}},
    ),
    "regression": ("regress", 1, {"texts": 2, "pair_encoding": "cross-encoder", "center": 2.5, "spread": 1.5}),
    "token-classification": ("tag", 2, {"labels": ["O", "B-A"], "columns": {"word_column": "w"}}),
    "extractive-qa": ("answer", 2, {"stride": 8, "max_answer_tokens": 5, "has_unanswerable": True, "threshold": 0.5}),
    "multiple-choice": ("choose", 1, {"columns": {"context_column": "c", "choice_columns": ["a", "b"]}}),
}
ODD: tuple[Any, ...] = (
    None, True, False, -1, 0, 1, 3, 10**9, 10**400, 1.5, math.nan, math.inf, "", "x", "../x", "\ud800", [], [1],
    ["x"], [[]], {}, {"a": 1}, "gone",
)  # fmt: skip
"""What stands in the place of a value; the last one leaves the key out."""


def small_folders(where: Path) -> dict[str, Path]:
    """Write a folder of every family below a place; return them by name."""
    plain = train_tokenizer(TEXTS, TokenizerSettings(size=330, pretokenizer="byte-level"))
    bert = bert_tokenizer(size=300)
    bundles: dict[str, Bundle] = {}
    for name, changes in TRANSLATORS.items():
        bundles[name] = small_bundle({"tokenizer": plain}, {"beam_size": 2}, **changes)
    drawn = {
        "temperature": 0.5,
        "top_k": 5,
        "top_p": 0.9,
        "num_samples": 2,
        "max_new_tokens": 4,
        "no_repeat_ngram_size": 2,
    }
    for name, changes in FORMS.items():
        bundles[name.lower()] = small_language_bundle(plain, drawn, **changes)
    base = small_encoder_bundle(bert, {"length": 32})
    bundles["bert"] = base
    for kind, (task, outputs, facts) in HEADS.items():
        head = HeadSettings(kind=kind, outputs=outputs)
        model = shaken(build_model(base.settings, base.vocabularies, head))
        bundles[kind] = replace(base, task=task, model=model, head=head, facts=facts | {"max_length": 24})
    likeness = HeadSettings(kind="similarity", outputs=1, pooling="mean")
    model = shaken(build_model(base.settings, base.vocabularies, likeness))
    bundles["sentences"] = replace(
        base,
        task="regress",
        model=model,
        head=likeness,
        facts={"max_length": 24, "texts": 2, "pair_encoding": "bi-encoder"},
    )
    for name, bundle in bundles.items():
        write(bundle, where / name)
    backend = trained_bytes(TEXTS)
    tokens = backend.get_vocab_size()
    pieces = small_language_bundle(plain)
    vocabularies = replace(pieces.vocabularies, source=tokens, target=tokens)
    pieces = replace(pieces, vocabularies=vocabularies, model=shaken(build_model(pieces.settings, vocabularies)))
    write(pieces, where / "pieces")
    (where / "pieces" / "tokenizer.json").unlink()
    save_pieces(backend, where / "pieces")
    config = json.loads((where / "pieces" / "config.json").read_text())
    config["eos_token_id"] = backend.token_to_id("<|endoftext|>")
    (where / "pieces" / "config.json").write_text(json.dumps(config))
    (where / "bert" / "tokenizer.json").unlink()  # so that vocab.txt is read
    return {name: where / name for name in (*bundles, "pieces")}


def json_files(folder: Path) -> list[Path]:
    """Return the JSON files of a folder that are read."""
    return sorted(path for path in folder.rglob("*.json") if path.name != "manifest.json")


def places(value: Any, depth: int = 5) -> Iterator[tuple[str | int, ...]]:
    """Yield where values stand in a JSON value; of long lists and vocabularies the first alone."""
    inner = (
        list(value.items()) if isinstance(value, dict) else list(enumerate(value)) if isinstance(value, list) else []
    )
    for key, each in inner if len(inner) < 60 else inner[:1]:
        yield (key,)
        if depth > 1:
            yield from ((key, *rest) for rest in places(each, depth - 1))


def with_odd(value: Any, place: tuple[str | int, ...], odd: Any) -> Any:
    """Return a JSON value with an odd one at a place."""
    found = copy.deepcopy(value)
    at = found
    for key in place[:-1]:
        at = at[key]
    if odd == "gone":
        del at[place[-1]]
    else:
        at[place[-1]] = odd
    return found


def use(bundle: Bundle) -> None:
    """Ask a model for something of its task."""
    pipeline: Any = find_task(bundle.task).pipeline(bundle, LoadOptions())
    with torch.inference_mode():
        if bundle.task == "translate":
            pipeline("the dog", max_length=3)
        elif bundle.task == "language-model":
            pipeline("the dog", max_new_tokens=2, min_new_tokens=0)
        elif bundle.task == "masked-language-model":
            pipeline.embed(["the dog", "a cat " * 40])
        elif bundle.task == "classify" or bundle.task == "regress":
            pipeline(["the dog"] if pipeline.texts == 1 else [("the dog", "a cat")])
        elif bundle.task == "tag":
            pipeline({"words": ["the", "dog"]})
        elif bundle.task == "answer":
            pipeline("who sleeps?", "the dog sleeps in the garden " * 5)
        else:
            pipeline("the dog", ["sleeps", "plays"])
