"""Conversion of vocab.json and merges.txt, the tokenizer files of the first GPTs, to a tokenizer.json."""

from pathlib import Path
from typing import Any

from regard.config.records import read_value
from regard.data.sources.lines import read_text
from regard.errors import CheckpointError
from regard.interop.huggingface.fields import Id
from regard.interop.huggingface.folder import read_object
from regard.interop.huggingface.schemas import TokenizerConfig

VOCABULARY, MERGES, ADDED, SETTINGS = "vocab.json", "merges.txt", "added_tokens.json", "tokenizer_config.json"

FLAGS = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
"""Flags of a special token in a tokenizer.json."""

BYTES = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
"""GPT-2's pre-tokenizer: words by its regular expression, as bytes."""

PIPELINES: dict[str, dict[str, Any]] = {
    "gpt2": {"normalizer": None, "pre_tokenizer": BYTES, "decoder": BYTES},
    "openai-gpt": {
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": True,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "decoder": {"type": "BPEDecoder", "suffix": "</w>"},
    },
}
"""Normalizer, pre-tokenizer and decoder, by model type."""

MODEL: dict[str, dict[str, Any]] = {
    "gpt2": {"unk_token": None, "end_of_word_suffix": ""},
    "openai-gpt": {"unk_token": "<unk>", "end_of_word_suffix": "</w>"},
}
SPECIAL = {"gpt2": ("<|endoftext|>",), "openai-gpt": ("<unk>",)}
"""Special tokens in the vocabulary itself, by model type."""


def tokenizer_of(folder: Path, model_type: str) -> dict[str, Any] | None:
    """Return the tokenizer.json of a folder's vocabulary and merges; None where it has no such files."""
    if model_type not in PIPELINES or not all((folder / name).is_file() for name in (VOCABULARY, MERGES)):
        return None
    vocabulary, added = _ids(folder / VOCABULARY), {}
    if (folder / ADDED).is_file():
        added = _ids(folder / ADDED)
    special = {token: vocabulary[token] for token in SPECIAL[model_type] if token in vocabulary} | added
    pipeline = dict(PIPELINES[model_type])
    if model_type == "gpt2" and read_object(folder / SETTINGS, TokenizerConfig).get("add_prefix_space"):
        pipeline["pre_tokenizer"] = BYTES | {"add_prefix_space": True}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {"id": number, "content": token, **FLAGS} for token, number in sorted(special.items(), key=lambda x: x[1])
        ],
        **pipeline,
        "post_processor": None,
        "model": {
            "type": "BPE",
            "dropout": None,
            "continuing_subword_prefix": "",
            "fuse_unk": False,
            "byte_fallback": False,
            **MODEL[model_type],
            "vocab": vocabulary,
            "merges": _merges(folder / MERGES),
        },
    }


def _ids(path: Path) -> dict[str, int]:
    return dict(read_value(path, dict[str, Id], CheckpointError, "an object that gives each token its id"))


def _merges(path: Path) -> list[list[str]]:
    # Tokens may contain what str.splitlines takes for a line break, so only \n splits.
    lines = read_text(path).replace("\r\n", "\n").split("\n")
    if lines[0].startswith("#version"):
        lines[0] = ""
    pairs = [line.split(" ") for line in lines]
    for number, pair in enumerate(pairs, start=1):
        if len(pair) != 2 and pair != [""]:
            raise CheckpointError(
                f'{path}: line {number} is "{lines[number - 1][:60]}", not two tokens; copy it again.'
            )
    return [pair for pair in pairs if len(pair) == 2]
