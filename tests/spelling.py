"""Texts that are hard to spell, and byte-level tokenizers as Hugging Face saves them."""

import json

import tokenizers

END = "<|endoftext|>"

NASTY = [
    "",
    " ",
    "   ",
    "\t",
    "\n",
    "\r\n",
    "a\nb\r\nc\rd\n\n\ne",
    " leading and trailing ",
    "two  spaces,   three,\ta tab\t\ttwo",
    "It's we'll they've I'd you're I'm can't 'tis 'S 'LL",
    "🙂👩‍👩‍👧‍👦🏳️‍🌈👍🏽 flags 🇩🇪🇫🇷",
    "e\u0301 vs \u00e9, n\u0303, Z\u0335\u0321\u0322a\u0338l\u0327go\u0334\u035c",
    "שלום עולם ‏RTL‎ mixed with LTR مرحبا بالعالم",
    "zero\u200bwidth\u200cnon\u200djoiner\ufeffbom\u00adsoft",
    "controls \x00\x01\x07\x08\x0b\x0c\x1b\x7f\x85\u2028\u2029 end",
    "no\u00a0break\u2003em\u3000ideographic",
    "日本語のテキスト、한국어 텍스트；中文。ภาษาไทย हिन्दी",
    "１２３ ½ ² Ⅷ 1234567890 3.14e-10 0x1F",
    "x" * 3000,
    "antidisestablishmentarianism" * 40,
    "!?...;:--__==<<>>[]{}()@#$%^&*~`|\\/\"'",
    "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 \U0001f9ff\U0010ffff \ufffd \ufffe",
    "ﬁ ﬂ ß ẞ İ ı ǅ",
    "Der Hund schläft.\n\n  Die Katze\tspielt;  „ja“ – nein …",
]


def trained_bytes(texts, size=400):
    """Return a byte-level BPE as GPT-2's is: its pattern, 256 bytes, and one special token, the last."""
    backend = tokenizers.Tokenizer(tokenizers.models.BPE())
    backend.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = tokenizers.decoders.ByteLevel()
    alphabet = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    trainer = tokenizers.trainers.BpeTrainer(vocab_size=size - 1, initial_alphabet=alphabet, show_progress=False)
    backend.train_from_iterator(texts, trainer)
    backend.add_special_tokens([END])
    return backend


def save_pieces(backend, folder):
    """Write vocab.json and merges.txt as OpenAI did, the special token among the pieces."""
    definition = json.loads(backend.to_str())
    pieces = definition["model"]["vocab"] | {END: backend.token_to_id(END)}
    (folder / "vocab.json").write_text(json.dumps(pieces), encoding="utf-8")
    lines = [" ".join(pair) for pair in definition["model"]["merges"]]
    (folder / "merges.txt").write_text("\n".join(["#version: 0.2", *lines, ""]), encoding="utf-8")
