"""A tokenizer.json as `transformers` expects it, and as it comes from there."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from regard.checkpoint.atomic import write_json
from regard.errors import CheckpointError
from regard.interop.huggingface.folder import read_object
from regard.interop.huggingface.merges import FLAGS, VOCABULARY, tokenizer_of
from regard.interop.huggingface.schemas import TokenizerFile
from regard.text.tokenizer import END, END_OF_TEXT, PADDING, SPECIAL_TOKENS, START, UNKNOWN, Tokenizer

FILE = "tokenizer.json"
TARGET_FOLDER = "target_tokenizer"
"""Where the target's tokenizer lies when the languages have one each; the source's lies beside the model."""


def write_tokenizer(
    folder: Path, tokenizer: Tokenizer, positions: int, put_first: Sequence[int] | None = None
) -> None:
    """Write what `AutoTokenizer.from_pretrained(folder)` needs to encode and decode as regard does.

    Texts that are read on, as by language models, have something or nothing put in front, and their padding too;
    others have an end behind them.
    """
    folder.mkdir(exist_ok=True)
    definition = json.loads(tokenizer.to_json())
    # regard puts tokens around a text outside the tokenizer.
    before, behind = ([], [tokenizer.eos_id]) if put_first is None else (put_first, [])
    definition["post_processor"] = _around(tokenizer, before, behind)
    write_json(folder / FILE, definition)
    specials = (tokenizer.pad_id, tokenizer.unk_id, tokenizer.bos_id, tokenizer.eos_id)
    padding, unknown, start, end = tokenizer.tokens(specials)
    write_json(
        folder / "tokenizer_config.json",
        {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "pad_token": padding,
            "unk_token": unknown,
            "bos_token": start,
            "eos_token": end,
            "model_max_length": positions,
            "model_input_names": ["input_ids", "attention_mask"],
            "padding_side": "right" if put_first is None else "left",
            "clean_up_tokenization_spaces": False,
            "split_special_tokens": True,  # a line that happens to hold "</s>" must not end a sentence
        },
    )


def _around(tokenizer: Tokenizer, before: Sequence[int], behind: Sequence[int]) -> dict[str, Any] | None:
    """Return what puts tokens before and behind a text; None where there are none."""
    if not before and not behind:
        return None

    def each(ids: Sequence[int]) -> list[dict[str, Any]]:
        return [{"SpecialToken": {"id": name, "type_id": 0}} for name in tokenizer.tokens(ids)]

    def text(name: str) -> list[dict[str, Any]]:
        return [*each(before), {"Sequence": {"id": name, "type_id": 0}}, *each(behind)]

    named = dict(zip(tokenizer.tokens([*before, *behind]), [*before, *behind], strict=True))
    return {
        "type": "TemplateProcessing",
        "single": text("A"),
        "pair": [*text("A"), *text("B")],
        "special_tokens": {name: {"id": name, "ids": [number], "tokens": [name]} for name, number in named.items()},
    }


def read_tokenizers(folder: Path) -> dict[str, Tokenizer]:
    """Return the tokenizers of a folder by role; one without a start token is given one behind all others."""
    path, target = folder / FILE, folder / TARGET_FOLDER / FILE
    if not path.exists():
        raise CheckpointError(_no_tokenizer(folder))
    if target.exists():
        return {"source": _read(path), "target": _read(target)}
    return {"tokenizer": _read(path)}


def check_numbers(tokenizer: Tokenizer, tokens: int, where: str, whose: str = "") -> None:
    """Refuse a tokenizer that numbers its tokens otherwise than a model does, which has so many."""
    if tokenizer.size != tokenizer.id_limit:
        raise CheckpointError(
            f"{where}: the tokenizer has {tokenizer.size:,} tokens with ids up to {tokenizer.id_limit - 1:,}; number "
            f"them without gaps."
        )
    if tokenizer.size != tokens:
        raise CheckpointError(
            f"{where}: the model has {tokens:,} tokens{whose}, but the tokenizer {tokenizer.size:,}; put the "
            f"tokenizer it was trained with beside it."
        )


def _no_tokenizer(folder: Path) -> str:
    pieces = sorted(file.name for file in folder.iterdir() if file.suffix in (".spm", ".model"))
    if pieces:
        return (
            f"{folder}: its tokenizer is SentencePiece ({', '.join(pieces)}), and only a fast tokenizer.json can be "
            f"read; convert it, and put the tokenizer.json beside the model."
        )
    return f"{folder}: there is no {FILE} here; put the model's fast tokenizer beside it."


def _read(path: Path) -> Tokenizer:
    definition = definition_in(path)
    known = numbers_in(definition)
    if START not in known:
        definition["added_tokens"].append({"id": len(known), "content": START, **FLAGS})
    for token in (PADDING, UNKNOWN, END):
        if token not in known:
            raise CheckpointError(f"{path}: it has no token called {token}; rename the one that does its work.")
    return Tokenizer.parse(json.dumps(definition), str(path))


def definition_in(path: Path) -> dict[str, Any]:
    """Return the contents of a tokenizer.json."""
    return read_object(path, TokenizerFile)


def numbers_in(definition: dict[str, Any]) -> dict[str, int]:
    """Return the number of each token."""
    vocabulary, added = definition["model"]["vocab"], definition["added_tokens"]
    if isinstance(vocabulary, list):
        vocabulary = {piece: number for number, (piece, _) in enumerate(vocabulary)}
    return vocabulary | {token["content"]: token["id"] for token in added}


def read_language_tokenizer(folder: Path, model_type: str, end: Any) -> tuple[Tokenizer, bool]:
    """Return the tokenizer of a language model whose texts end with a token of that number.

    With it comes whether it puts that token in front of a text, which regard does outside the tokenizer.

    Where one of our special tokens is missing, the one that ends a text is called <|endoftext|> here whatever its
    name is there, and does the work of those that are missing; no number changes. None ends the texts of the first
    GPT, so what stands for the unknown does.
    """
    path = folder / FILE
    if path.exists():
        definition = definition_in(path)
    else:
        path, found = folder / VOCABULARY, tokenizer_of(folder, model_type)
        if found is None:
            raise CheckpointError(_no_tokenizer(folder))
        definition = found
    numbers = numbers_in(definition)
    first = _put_first(definition)
    if not all(token in numbers for token in SPECIAL_TOKENS):
        _name_end(definition, numbers, end, path)
    definition["post_processor"] = None
    tokenizer = Tokenizer.parse(json.dumps(definition), str(path))
    if end not in (None, tokenizer.eos_id):
        raise CheckpointError(
            f"{folder / 'config.json'}: eos_token_id is {end}, but {tokenizer.tokens([tokenizer.eos_id])[0]} of the "
            f"tokenizer is {tokenizer.eos_id}."
        )
    return tokenizer, first is not None and numbers.get(first) == tokenizer.eos_id


def _put_first(definition: dict[str, Any]) -> str | None:
    """Return the token that a tokenizer puts in front of a text."""
    steps = definition.get("post_processor") or {}
    for step in steps.get("processors") or [steps]:
        for piece in step.get("single", [])[:1]:
            if piece.get("SpecialToken"):
                return str(piece["SpecialToken"]["id"])
    return None


def _name_end(definition: dict[str, Any], numbers: dict[str, int], end: Any, path: Path) -> None:
    """Call the token that ends a text <|endoftext|>, in place."""
    model = definition["model"]
    by_number = {number: token for token, number in numbers.items()}
    unknown = model.get("unk_token")
    name = by_number.get(end, END_OF_TEXT if END_OF_TEXT in numbers else unknown)
    if name not in numbers:
        raise CheckpointError(f"{path}: it has no token called {END_OF_TEXT}; rename the one that does its work.")
    vocabulary = model["vocab"]
    if isinstance(vocabulary, list):
        model["vocab"] = [[END_OF_TEXT if piece == name else piece, *rest] for piece, *rest in vocabulary]
    else:
        model["vocab"] = {END_OF_TEXT if piece == name else piece: number for piece, number in vocabulary.items()}
    if unknown == name:
        model["unk_token"] = END_OF_TEXT
    added = [token for token in definition["added_tokens"] if token["content"] != name]
    added.append({"id": numbers[name], "content": END_OF_TEXT, **FLAGS})
    definition["added_tokens"] = sorted(added, key=lambda token: int(token["id"]))
