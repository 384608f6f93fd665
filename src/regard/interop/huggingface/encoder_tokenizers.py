"""BERT tokenizers from and to Hugging Face folders: tokenizer.json or vocab.txt, and tokenizer_config.json."""

import json
from pathlib import Path
from typing import Any

from regard.checkpoint.atomic import write_json
from regard.data.sources.lines import read_text
from regard.errors import CheckpointError
from regard.interop.huggingface.folder import read_object
from regard.interop.huggingface.merges import FLAGS
from regard.interop.huggingface.schemas import TokenizerConfig
from regard.interop.huggingface.tokenizers import FILE, definition_in, ids_in
from regard.text.tokenizer import BERT_TOKENS, MASK, Tokenizer

VOCABULARY, SETTINGS = "vocab.txt", "tokenizer_config.json"

CLEANING = {
    "do_lower_case": "lowercase",
    "strip_accents": "strip_accents",
    "tokenize_chinese_chars": "handle_chinese_chars",
}
"""Settings of tokenizer_config.json, and their names in tokenizer.json."""

NORMALIZER = {
    "type": "BertNormalizer",
    "clean_text": True,
    "handle_chinese_chars": True,
    "strip_accents": None,
    "lowercase": True,
}
SPLITTER = {"type": "BertPreTokenizer"}
WORDPIECE = {"type": "WordPiece", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100}
NAMES = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]", "mask_token": MASK}
"""Special tokens by their names in tokenizer_config.json."""


def read_encoder_tokenizer(folder: Path) -> Tokenizer:
    """Return the tokenizer of a BERT folder; normalization settings of tokenizer_config.json take precedence."""
    settings = read_object(folder / SETTINGS, TokenizerConfig)
    path = folder / FILE
    if path.exists():
        definition = definition_in(path)
    elif (folder / VOCABULARY).exists():
        path = folder / VOCABULARY
        definition = _from_vocabulary(path)
    else:
        raise CheckpointError(
            f"{folder}: there is no {FILE} and no {VOCABULARY} here; put the model's tokenizer beside it."
        )
    ids = ids_in(definition)
    for name, token in NAMES.items():
        written = _content(settings.get(name)) or token
        if written != token:
            raise CheckpointError(
                f"{folder / SETTINGS}: {name} is {written}, and only a tokenizer with {token} can be read."
            )
        if token not in ids and token != MASK:
            raise CheckpointError(f"{path}: it has no token called {token}; rename the one with its role.")
    known = {token["content"] for token in definition["added_tokens"]}
    missing = [
        {"id": ids[token], "content": token, **FLAGS} for token in BERT_TOKENS if token in ids and token not in known
    ]
    definition["added_tokens"] = sorted([*definition["added_tokens"], *missing], key=lambda token: int(token["id"]))
    _clean(definition, settings)
    definition["post_processor"] = None
    return Tokenizer.parse(json.dumps(definition), str(path))


def _content(token: Any) -> str | None:
    """Return the text of a special token, given as a string or an object."""
    return token.get("content") if isinstance(token, dict) else token


def _clean(definition: dict[str, Any], settings: dict[str, Any]) -> None:
    """Apply the normalization settings of a BertTokenizer in place; other classes have none."""
    kind = (settings.get("tokenizer_class") or "BertTokenizer").removesuffix("Fast")
    normalizer = definition.get("normalizer") or {}
    if kind == "BertTokenizer" and normalizer.get("type") == "BertNormalizer":
        changes = {name: settings[key] for key, name in CLEANING.items() if key in settings}
        changes = {name: value for name, value in changes.items() if value is not None or name == "strip_accents"}
        definition["normalizer"] = normalizer | changes


def _from_vocabulary(path: Path) -> dict[str, Any]:
    """Return the tokenizer.json equivalent of a vocab.txt, which has one token per line, in the order of ids."""
    # A token may contain what str.splitlines takes for a line break, so only \n splits.
    lines = read_text(path).replace("\r\n", "\n").removesuffix("\n").split("\n")
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": dict(NORMALIZER),
        "pre_tokenizer": SPLITTER,
        "post_processor": None,
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {**WORDPIECE, "unk_token": "[UNK]", "vocab": {token: number for number, token in enumerate(lines)}},
    }


def write_encoder_tokenizer(folder: Path, tokenizer: Tokenizer, positions: int) -> None:
    """Write the files that `AutoTokenizer.from_pretrained(folder)` needs to encode texts and pairs as regard does.

    `transformers` recognizes [MASK] and other special tokens in a text; regard never does.
    """
    definition = json.loads(tokenizer.to_json())
    definition["post_processor"] = _template(tokenizer)
    write_json(folder / FILE, definition)
    specials = tokenizer.pad_id, tokenizer.unk_id, tokenizer.bos_id, tokenizer.eos_id, tokenizer.mask_id
    written = {name: tokenizer.tokens([number])[0] for name, number in zip(NAMES, specials) if number is not None}
    settings = {
        **written,
        "model_max_length": positions,
        "model_input_names": ["input_ids", "token_type_ids", "attention_mask"],
        "padding_side": "right",
        "clean_up_tokenization_spaces": False,
    }
    if not _is_bert_tokenizer(definition, written):
        write_json(folder / SETTINGS, {"tokenizer_class": "PreTrainedTokenizerFast", **settings})
        return
    cleaning = {theirs: definition["normalizer"][ours] for theirs, ours in CLEANING.items()}
    write_json(folder / SETTINGS, {"tokenizer_class": "BertTokenizer", **settings, **cleaning})
    tokens = sorted(definition["model"]["vocab"].items(), key=lambda entry: int(entry[1]))
    (folder / VOCABULARY).write_text("".join(f"{token}\n" for token, _ in tokens), encoding="utf-8", newline="\n")


def _is_bert_tokenizer(definition: dict[str, Any], names: dict[str, str]) -> bool:
    """Return whether BertTokenizer, built from the vocabulary and some settings alone, computes the same."""
    normalizer, model = definition["normalizer"] or {}, definition["model"]
    free = dict.fromkeys(CLEANING.values())
    return (
        names == NAMES
        and {token["content"] for token in definition["added_tokens"]} == set(BERT_TOKENS)
        and normalizer | free == NORMALIZER | free
        and definition["pre_tokenizer"] == SPLITTER
        and {name: model.get(name) for name in WORDPIECE} == WORDPIECE
        and sorted(model["vocab"].values()) == list(range(len(model["vocab"])))
    )


def _template(tokenizer: Tokenizer) -> dict[str, Any]:
    """Return the template [CLS] A [SEP], or [CLS] A [SEP] B [SEP] with B in segment 1."""
    start, end = tokenizer.tokens((tokenizer.bos_id, tokenizer.eos_id))

    def special(name: str, kind: int) -> dict[str, Any]:
        return {"SpecialToken": {"id": name, "type_id": kind}}

    def text(name: str, kind: int) -> list[dict[str, Any]]:
        return [{"Sequence": {"id": name, "type_id": kind}}, special(end, kind)]

    ids = {start: tokenizer.bos_id, end: tokenizer.eos_id}
    return {
        "type": "TemplateProcessing",
        "single": [special(start, 0), *text("A", 0)],
        "pair": [special(start, 0), *text("A", 0), *text("B", 1)],
        "special_tokens": {name: {"id": name, "ids": [each], "tokens": [name]} for name, each in ids.items()},
    }
