"""A tokenizer.json as `transformers` expects it, and as it comes from there."""

import json
from pathlib import Path
from typing import Any

from regard.checkpoint import write_json
from regard.errors import CheckpointError
from regard.text import Tokenizer
from regard.text.tokenizer import END, PADDING, START, UNKNOWN

FILE = "tokenizer.json"
TARGET_FOLDER = "target_tokenizer"
"""Where the target's tokenizer lies when the languages have one each; the source's lies beside the model."""


def write_tokenizer(folder: Path, tokenizer: Tokenizer, positions: int) -> None:
    """Write what `AutoTokenizer.from_pretrained(folder)` needs to encode and decode as regard does."""
    folder.mkdir(exist_ok=True)
    definition = json.loads(tokenizer.to_json())
    definition["post_processor"] = _with_end(tokenizer)  # regard adds the end token outside the tokenizer
    write_json(folder / FILE, definition)
    write_json(
        folder / "tokenizer_config.json",
        {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "pad_token": PADDING,
            "unk_token": UNKNOWN,
            "bos_token": START,
            "eos_token": END,
            "model_max_length": positions,
            "model_input_names": ["input_ids", "attention_mask"],
            "padding_side": "right",
            "clean_up_tokenization_spaces": False,
            "split_special_tokens": True,  # a line that happens to hold "</s>" must not end a sentence
        },
    )


def _with_end(tokenizer: Tokenizer) -> dict[str, Any]:
    def sequence(name: str) -> dict[str, Any]:
        return {"Sequence": {"id": name, "type_id": 0}}

    end = {"SpecialToken": {"id": END, "type_id": 0}}
    return {
        "type": "TemplateProcessing",
        "single": [sequence("A"), end],
        "pair": [sequence("A"), end, sequence("B"), end],
        "special_tokens": {END: {"id": END, "ids": [tokenizer.end], "tokens": [END]}},
    }


def read_tokenizers(folder: Path) -> dict[str, Tokenizer]:
    """Return the tokenizers of a folder by role; one without a start token is given one behind all others."""
    path, target = folder / FILE, folder / TARGET_FOLDER / FILE
    if not path.is_file():
        raise CheckpointError(_no_tokenizer(folder))
    if target.is_file():
        return {"source": _read(path), "target": _read(target)}
    return {"tokenizer": _read(path)}


def _no_tokenizer(folder: Path) -> str:
    pieces = sorted(file.name for file in folder.iterdir() if file.suffix in (".spm", ".model"))
    if pieces:
        return (
            f"{folder}: its tokenizer is SentencePiece ({', '.join(pieces)}), and only a fast tokenizer.json can be "
            f"read; convert it, and put the tokenizer.json beside the model."
        )
    return f"{folder}: there is no {FILE} here; put the model's fast tokenizer beside it."


def _read(path: Path) -> Tokenizer:
    try:
        definition = json.loads(path.read_text(encoding="utf-8"))
        vocabulary, added = definition["model"]["vocab"], definition["added_tokens"]
        pieces = [entry[0] for entry in vocabulary] if isinstance(vocabulary, list) else list(vocabulary)
        known = {*pieces, *(token["content"] for token in added)}
    except (OSError, ValueError, KeyError, TypeError):
        raise CheckpointError(f"{path}: this is not a tokenizer.json that can be read.") from None
    if START not in known:
        flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
        added.append({"id": len(known), "content": START, **flags})
    for token in (PADDING, UNKNOWN, END):
        if token not in known:
            raise CheckpointError(f"{path}: it has no token called {token}; rename the one that does its work.")
    return Tokenizer.parse(json.dumps(definition), str(path))
