"""Checks of tokenizers: unknown tokens, new characters, residues of markup, tokens per word, rare tokens."""

import re
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from regard.tasks.data import TranslationData
from regard.tasks.findings import Finding, graded, percent, shown, some
from regard.text.settings import CorpusTextSettings, TextSettings
from regard.text.tokenizer import Tokenizer

AnyText = TextSettings | CorpusTextSettings

UNSPACED = 20
"""Characters per word above which a script is assumed to have no spaces between words."""
RESIDUES = re.compile(r"&(?:[a-z]{2,6}|#\d{2,5});|</?(?!unk>)[a-zA-Z][^<>]*>|\ufffd|\u00c3[\u0080-\u00bf]")
"""Entities and tags of HTML (but not <unk>), the replacement character, and UTF-8 that was decoded as Latin-1."""
SELDOM = 5
"""Occurrences below which the embedding of a token hardly moves from its random initialization."""
OFTEN = 10
"""Occurrences of the tokens that a suggested vocabulary keeps."""


def text_findings(data: TranslationData) -> list[Finding]:
    """Return the findings on the tokenizers, for each side."""
    findings: list[Finding] = []
    for side, name in enumerate(("source", "target")):
        findings += _unknown(data, side, name)
        findings += _new_characters(data, side, name)
        findings += _residues(data, side, name)
        findings.append(_tokens_per_word(data, side, name))
    return [*findings, *_rare_tokens(data)]


def _unknown(data: TranslationData, side: int, name: str) -> list[Finding]:
    tokenizer = data.tokenizers[side]
    sequences = (data.encoded.source, data.encoded.target)[side]
    ends = len(sequences) if tokenizer.unk_id == tokenizer.eos_id else 0  # GPT-2 has one token for both
    unknown = int(np.count_nonzero(sequences.ids == tokenizer.unk_id)) - ends
    fractions = {"training set": unknown / len(sequences.ids)}
    examples = []
    for title, texts in _held_out(data, side).items():
        encoded = tokenizer.encode_batch(texts)
        flat = np.concatenate([np.asarray(row, np.int64) for row in encoded])
        fractions[title] = float(np.mean(flat == tokenizer.unk_id)) if len(flat) else 0.0
        examples += [shown(text) for text, row in zip(texts, encoded) if tokenizer.unk_id in row]
    worst = max(fractions, key=lambda title: fractions[title])
    fraction = fractions[worst]
    if fraction == 0:
        return [Finding("text", "unknown-tokens", "ok", f"The {name} tokenizer can encode every text.")]
    return [
        Finding(
            "text",
            "unknown-tokens",
            graded(fraction, note=0.0, warning=1e-3, problem=0.1),
            f"{percent(fraction, 1)} of the {name} tokens of the {worst} are unknown, so their meaning is lost.",
            some(examples),
            *spelling_remedy(data.settings.text),
            metrics={f"{title} fraction": value for title, value in fractions.items()},
        )
    ]


def spelling_remedy(text: AnyText) -> tuple[str, dict[str, str | int]]:
    """Return the remedy for unknown tokens, in words and as settings."""
    if text.tokenizer:
        return "leave out text.tokenizer, so that one is trained on this text", {}
    if text.kind == "char" and text.min_frequency > 1:
        return "keep rare characters", {"text.min_frequency": 1}
    return "encode every text as bytes", {"text.kind": "bpe", "text.pretokenizer": "byte-level"}


def _held_out(data: TranslationData, side: int) -> dict[str, list[str]]:
    sets = data.raw.sets | {"validation set": data.valid}
    return {title: [pair[side] for pair in pairs] for title, pairs in sets.items() if title != "training set"}


def _new_characters(data: TranslationData, side: int, name: str) -> list[Finding]:
    """Return the characters of other sets that never occur in training: they cannot be translated."""
    normal = _normalizer(data.tokenizers[side])
    raw = set("".join(pair[side] for pair in data.train))
    known = raw | set(normal("\n".join(sorted(raw)))) | {"\n"}
    findings = []
    for title, texts in _held_out(data, side).items():
        # Only a text with a new character can have a new one in its normal form, and few have.
        new_in = {text: set(normal(text)) - known for text in texts if not raw.issuperset(text)}
        affected = [text for text in texts if new_in.get(text)]
        if not affected:
            continue
        new = set().union(*new_in.values())
        sentence = (
            f"{len(new):,} character{'s' if len(new) > 1 else ''} in the {name} of the {title} never "
            f"occur{'' if len(new) > 1 else 's'} in training: {few(sorted(new))} (in {len(affected):,} of "
            f"{len(texts):,} sentences)."
        )
        findings.append(
            Finding(
                "text",
                "new-characters",
                graded(len(affected) / len(texts), note=0.0, warning=0.02),
                sentence,
                some(map(shown, affected)),
                "add training text that has them, or take them out of the set",
                metrics={"characters": len(new), "sentences": len(affected)},
            )
        )
    return findings


def _normalizer(tokenizer: Tokenizer) -> Callable[[str], str]:
    normalizer = tokenizer.backend.normalizer
    return normalizer.normalize_str if normalizer is not None else str


def few(characters: Sequence[str], most: int = 12) -> str:
    """Return the first of several short strings, with an ellipsis where there are more."""
    more = " …" if len(characters) > most else ""
    return " ".join(characters[:most]) + more


def _residues(data: TranslationData, side: int, name: str) -> list[Finding]:
    """Return the residues of markup and of broken encodings."""
    texts = [text for text in (pair[side] for pair in data.train) if RESIDUES.search(text)]
    if not texts:
        return []
    kinds = sorted({residue for text in texts[:1000] for residue in RESIDUES.findall(text)})
    fraction = len(texts) / len(data.train)
    return [
        Finding(
            "text",
            "residues",
            graded(fraction, note=0.0, warning=0.01),
            f"{len(texts):,} {name} texts of the training set ({percent(fraction, 1)}) have residues of another "
            f"format: {few(kinds)}.",
            some(map(shown, texts)),
            "convert the file again, or replace them",
            metrics={"count": len(texts), "fraction": fraction},
        )
    ]


def _tokens_per_word(data: TranslationData, side: int, name: str) -> Finding:
    lengths = (data.encoded.source, data.encoded.target)[side].lengths
    tokens = int(lengths.sum()) - len(lengths)  # each sentence ends with EOS
    words = sum(len(pair[side].split()) for pair in data.train)
    characters = sum(len(pair[side]) for pair in data.train)
    return tokens_per_word_finding(f"{name} ", tokens, words, (characters, "character"), data.settings.text)


def tokens_per_word_finding(name: str, tokens: int, words: int, extent: tuple[int, str], text: AnyText) -> Finding:
    """Return the finding on tokens per word; `extent` is the length of the text and its unit."""
    size, unit = extent
    metrics = {"tokens_per_word": tokens / max(1, words), f"{unit}s_per_token": size / tokens}
    if size / max(1, words) > UNSPACED or text.kind == "char":
        sentence = f"A {name}token covers {size / tokens:.1f} {unit}s."
        return Finding("text", "tokens-per-word", "ok", sentence, metrics=metrics)
    ratio = tokens / words
    covers = f", and a token covers {size / tokens:.1f} {unit}s" if unit == "byte" else ""
    sentence = f"A {name}word is {ratio:.2f} tokens long{covers}."
    severity = graded(ratio, note=2.5, warning=3.5)
    if severity == "ok":
        return Finding("text", "tokens-per-word", "ok", sentence, metrics=metrics)
    larger = min(2 * text.size, tokens // (2 * OFTEN))  # a token that is seldom seen is not learned either
    if larger <= text.size and not text.tokenizer:
        sentence = f"A {name}word is split into {ratio:.2f} tokens: the text is too short for a larger vocabulary."
        return Finding("text", "tokens-per-word", "ok", sentence, metrics=metrics)
    if text.tokenizer:
        remedy: tuple[str, dict[str, int]] = "leave out text.tokenizer, so that one is trained on this text", {}
    else:
        remedy = "enlarge the vocabulary", {"text.size": larger}
    sentence = f"A {name}word is split into {ratio:.2f} tokens, which makes sentences long and words hard to learn."
    return Finding("text", "tokens-per-word", severity, sentence, (), *remedy, metrics=metrics)


def _rare_tokens(data: TranslationData) -> list[Finding]:
    """Return the findings on vocabularies too large for the text."""
    source, target = data.tokenizers
    sides = [data.encoded.source.ids, data.encoded.target.ids]
    if source is target:
        vocabularies = {"": (source, np.concatenate(sides))}
    else:
        vocabularies = {" source": (source, sides[0]), " target": (target, sides[1])}
    return [
        rare_token_finding(np.bincount(ids, minlength=tokenizer.size), tokenizer, name, data.settings.text)
        for name, (tokenizer, ids) in vocabularies.items()
    ]


def rare_token_finding(
    counts: NDArray[np.int64], tokenizer: Tokenizer, name: str, text: AnyText, sampled: float = 1.0
) -> Finding:
    """Return the finding on rare tokens, from the count of each in a sample: the fraction `sampled` of the text."""
    rare = int((counts < SELDOM * sampled).sum()) - len(tokenizer.specials)
    fraction = max(0, rare) / tokenizer.size
    frequent = round(int((counts >= OFTEN * sampled).sum()), -2)
    size = max(frequent, 300) if text.pretokenizer == "byte-level" else frequent  # 256 bytes and the special tokens
    is_trained = text.tokenizer is None and 100 <= size < tokenizer.size
    return Finding(
        "text",
        "rare-tokens",
        graded(fraction, note=0.5, warning=0.65),
        f"{percent(fraction, 1)} of the {tokenizer.size:,} tokens of the{name} vocabulary occur fewer than "
        f"{SELDOM} times in training{'' if fraction < 0.5 else ', too seldom to be trained'}.",
        (),
        "shrink the vocabulary" if is_trained and fraction >= 0.5 else "",
        {"text.size": size} if is_trained and fraction >= 0.5 else {},
        {"fraction": fraction, "size": tokenizer.size},
    )
