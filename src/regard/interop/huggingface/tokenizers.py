"""Tokenizers of translators and language models from and to Hugging Face folders (tokenizer.json)."""

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

FILE, TOKENIZER_CONFIG, CHAT_TEMPLATE = "tokenizer.json", "tokenizer_config.json", "chat_template.jinja"
TARGET_FOLDER = "target_tokenizer"
"""Folder of the target's tokenizer where each language has one; the source's is beside the model."""


def write_tokenizer(
    folder: Path,
    tokenizer: Tokenizer,
    positions: int,
    prefix: Sequence[int] | None = None,
    chat_template: str | None = None,
) -> None:
    """Write the files that `AutoTokenizer.from_pretrained(folder)` needs to encode and decode as regard does.

    Language models (`prefix`) have their texts prefixed and padded on the left; others have them followed by EOS.
    """
    folder.mkdir(exist_ok=True)
    definition = json.loads(tokenizer.to_json())
    # regard adds special tokens outside the tokenizer.
    before, after = ([], [tokenizer.eos_id]) if prefix is None else (prefix, [])
    definition["post_processor"] = _template(tokenizer, before, after)
    write_json(folder / FILE, definition)
    specials = (tokenizer.pad_id, tokenizer.unk_id, tokenizer.bos_id, tokenizer.eos_id)
    padding, unknown, start, end = tokenizer.tokens(specials)
    write_json(
        folder / TOKENIZER_CONFIG,
        {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "pad_token": padding,
            "unk_token": unknown,
            "bos_token": start,
            "eos_token": end,
            "model_max_length": positions,
            "model_input_names": ["input_ids", "attention_mask"],
            "padding_side": "right" if prefix is None else "left",
            "clean_up_tokenization_spaces": False,
            # A text that contains "</s>" must not end there; a conversation is rendered with its special tokens.
            "split_special_tokens": chat_template is None,
        }
        | ({} if chat_template is None else {"chat_template": chat_template}),
    )


def _template(tokenizer: Tokenizer, before: Sequence[int], after: Sequence[int]) -> dict[str, Any] | None:
    """Return the template with special tokens before and after a text; None without any."""
    if not before and not after:
        return None

    def each(ids: Sequence[int]) -> list[dict[str, Any]]:
        return [{"SpecialToken": {"id": name, "type_id": 0}} for name in tokenizer.tokens(ids)]

    def text(name: str) -> list[dict[str, Any]]:
        return [*each(before), {"Sequence": {"id": name, "type_id": 0}}, *each(after)]

    named = dict(zip(tokenizer.tokens([*before, *after]), [*before, *after], strict=True))
    return {
        "type": "TemplateProcessing",
        "single": text("A"),
        "pair": [*text("A"), *text("B")],
        "special_tokens": {name: {"id": name, "ids": [number], "tokens": [name]} for name, number in named.items()},
    }


def read_tokenizers(folder: Path) -> dict[str, Tokenizer]:
    """Return the tokenizers of a folder by role; one without BOS gets it as an additional last token."""
    path, target = folder / FILE, folder / TARGET_FOLDER / FILE
    if not path.exists():
        raise CheckpointError(_no_tokenizer(folder))
    if target.exists():
        return {"source": _read(path), "target": _read(target)}
    return {"tokenizer": _read(path)}


def check_token_ids(tokenizer: Tokenizer, tokens: int, where: str, whose: str = "") -> None:
    """Refuse a tokenizer whose ids have gaps or whose size is not the model's (`tokens`)."""
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
    models = sorted(file.name for file in folder.iterdir() if file.suffix in (".spm", ".model"))
    if models:
        return (
            f"{folder}: its tokenizer is SentencePiece ({', '.join(models)}), and only a fast tokenizer.json can be "
            f"read; convert it, and put the tokenizer.json beside the model."
        )
    return f"{folder}: there is no {FILE} here; put the model's fast tokenizer beside it."


def _read(path: Path) -> Tokenizer:
    definition = definition_in(path)
    known = ids_in(definition)
    if START not in known:
        definition["added_tokens"].append({"id": len(known), "content": START, **FLAGS})
    for token in (PADDING, UNKNOWN, END):
        if token not in known:
            raise CheckpointError(f"{path}: it has no token called {token}; rename the one with its role.")
    return Tokenizer.parse(json.dumps(definition), str(path))


def definition_in(path: Path) -> dict[str, Any]:
    """Return the contents of a tokenizer.json."""
    return read_object(path, TokenizerFile)


def ids_in(definition: dict[str, Any]) -> dict[str, int]:
    """Return the id of each token."""
    vocabulary, added = definition["model"]["vocab"], definition["added_tokens"]
    if isinstance(vocabulary, list):
        vocabulary = {token: number for number, (token, _) in enumerate(vocabulary)}
    return vocabulary | {token["content"]: token["id"] for token in added}


def read_language_tokenizer(folder: Path, model_type: str, end: Any) -> tuple[Tokenizer, bool]:
    """Return the tokenizer of a language model with EOS id `end`, and whether it prefixes texts with EOS.

    Where one of regard's special tokens is missing, EOS is renamed <|endoftext|> and takes the role of the missing
    ones; ids do not change. The first GPT has no EOS, so its unknown token is used. The prefix is left to regard,
    which adds it outside the tokenizer.
    """
    path = folder / FILE
    if path.exists():
        definition = definition_in(path)
    else:
        path, converted = folder / VOCABULARY, tokenizer_of(folder, model_type)
        if converted is None:
            raise CheckpointError(_no_tokenizer(folder))
        definition = converted
    ids = ids_in(definition)
    first = _prefix_token(definition)
    if not all(token in ids for token in SPECIAL_TOKENS):
        _rename_eos(definition, ids, end, path)
    definition["post_processor"] = None
    tokenizer = Tokenizer.parse(json.dumps(definition), str(path))
    if end not in (None, tokenizer.eos_id):
        raise CheckpointError(
            f"{folder / 'config.json'}: eos_token_id is {end}, but {tokenizer.tokens([tokenizer.eos_id])[0]} of the "
            f"tokenizer is {tokenizer.eos_id}."
        )
    return tokenizer, first is not None and ids.get(first) == tokenizer.eos_id


def _prefix_token(definition: dict[str, Any]) -> str | None:
    """Return the special token that a tokenizer puts before a text."""
    steps = definition.get("post_processor") or {}
    for step in steps.get("processors") or [steps]:
        for element in step.get("single", [])[:1]:
            if element.get("SpecialToken"):
                return str(element["SpecialToken"]["id"])
    return None


def _rename_eos(definition: dict[str, Any], ids: dict[str, int], end: Any, path: Path) -> None:
    """Rename EOS to <|endoftext|>, in place."""
    model = definition["model"]
    by_id = {number: token for token, number in ids.items()}
    unknown = model.get("unk_token")
    name = by_id.get(end, END_OF_TEXT if END_OF_TEXT in ids else unknown)
    if name not in ids:
        raise CheckpointError(f"{path}: it has no token called {END_OF_TEXT}; rename the one with its role.")
    vocabulary = model["vocab"]
    if isinstance(vocabulary, list):
        model["vocab"] = [[END_OF_TEXT if token == name else token, *rest] for token, *rest in vocabulary]
    else:
        model["vocab"] = {END_OF_TEXT if token == name else token: number for token, number in vocabulary.items()}
    if unknown == name:
        model["unk_token"] = END_OF_TEXT
    added = [token for token in definition["added_tokens"] if token["content"] != name]
    added.append({"id": ids[name], "content": END_OF_TEXT, **FLAGS})
    definition["added_tokens"] = sorted(added, key=lambda token: int(token["id"]))
