"""A vocab.json and its merges.txt, as the first GPTs have them, as the tokenizer.json that they stand for."""

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
"""How a special token stands in a tokenizer.json."""

BYTES = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
"""Words by GPT-2's own pattern, spelled in bytes."""

AROUND: dict[str, dict[str, Any]] = {
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
"""What is done before and after the merges, by the model they belong to."""

MODEL: dict[str, dict[str, Any]] = {
    "gpt2": {"unk_token": None, "end_of_word_suffix": ""},
    "openai-gpt": {"unk_token": "<unk>", "end_of_word_suffix": "</w>"},
}
ENDS = {"gpt2": ("<|endoftext|>",), "openai-gpt": ("<unk>",)}
"""The special tokens that the vocabulary itself holds."""


def tokenizer_of(folder: Path, model_type: str) -> dict[str, Any] | None:
    """Return the definition of a folder's tokenizer; None where it has no such files."""
    if model_type not in AROUND or not all((folder / name).is_file() for name in (VOCABULARY, MERGES)):
        return None
    vocabulary, added = _numbers(folder / VOCABULARY), {}
    if (folder / ADDED).is_file():
        added = _numbers(folder / ADDED)
    special = {token: vocabulary[token] for token in ENDS[model_type] if token in vocabulary} | added
    around = dict(AROUND[model_type])
    if model_type == "gpt2" and read_object(folder / SETTINGS, TokenizerConfig).get("add_prefix_space"):
        around["pre_tokenizer"] = BYTES | {"add_prefix_space": True}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {"id": number, "content": token, **FLAGS} for token, number in sorted(special.items(), key=lambda x: x[1])
        ],
        **around,
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


def _numbers(path: Path) -> dict[str, int]:
    return dict(read_value(path, dict[str, Id], CheckpointError, "an object that gives each token its id"))


def _merges(path: Path) -> list[list[str]]:
    # Pieces may hold what Python takes for the end of a line, so only the real one cuts.
    lines = read_text(path).replace("\r\n", "\n").split("\n")
    if lines[0].startswith("#version"):
        lines[0] = ""
    found = [line.split(" ") for line in lines]
    for number, pair in enumerate(found, start=1):
        if len(pair) != 2 and pair != [""]:
            raise CheckpointError(
                f'{path}: line {number} is "{lines[number - 1][:60]}", not two pieces; copy it again.'
            )
    return [pair for pair in found if len(pair) == 2]
