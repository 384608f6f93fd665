"""Checks of the tokenizers: what they cannot spell, how finely they cut, and which pieces are too rare to learn."""

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
"""Characters a word from which a script is taken to have no spaces between words."""
RESIDUES = re.compile(r"&(?:[a-z]{2,6}|#\d{2,5});|</?(?!unk>)[a-zA-Z][^<>]*>|\ufffd|\u00c3[\u0080-\u00bf]")
"""Entities and tags of HTML (but <unk>, which stands for a word that was left out), the mark of a character that was
lost, and UTF-8 that was read as Latin-1."""
SELDOM = 5
"""Occurrences under which the vector of a piece hardly leaves its random start."""
OFTEN = 10


def text_findings(data: TranslationData) -> list[Finding]:
    """Return what is odd about the tokenizers, for each side."""
    found: list[Finding] = []
    for side, name in enumerate(("source", "target")):
        found += _unknown(data, side, name)
        found += _new_characters(data, side, name)
        found += _residues(data, side, name)
        found.append(_pieces(data, side, name))
    return [*found, *_rare_pieces(data)]


def _unknown(data: TranslationData, side: int, name: str) -> list[Finding]:
    tokenizer = data.tokenizers[side]
    sequences = (data.encoded.source, data.encoded.target)[side]
    ends = len(sequences) if tokenizer.unk_id == tokenizer.eos_id else 0  # one token may do both works
    unknown = int(np.count_nonzero(sequences.ids == tokenizer.unk_id)) - ends
    shares = {"training set": unknown / len(sequences.ids)}
    examples = []
    for title, texts in _held_out(data, side).items():
        encoded = tokenizer.encode_batch(texts)
        flat = np.concatenate([np.asarray(row, np.int64) for row in encoded])
        shares[title] = float(np.mean(flat == tokenizer.unk_id)) if len(flat) else 0.0
        examples += [shown(text) for text, row in zip(texts, encoded) if tokenizer.unk_id in row]
    worst = max(shares, key=lambda title: shares[title])
    share = shares[worst]
    if share == 0:
        return [Finding("text", "unknown-pieces", "ok", f"The {name} tokenizer can spell every text.")]
    return [
        Finding(
            "text",
            "unknown-pieces",
            graded(share, note=0.0, warning=1e-3, problem=0.1),
            f"{percent(share, 1)} of the {name} tokens of the {worst} are unknown, so their meaning is lost.",
            some(examples),
            *spelling(data.settings.text),
            figures={f"{title} share": value for title, value in shares.items()},
        )
    ]


def spelling(text: AnyText) -> tuple[str, dict[str, str | int]]:
    """Return the remedy for texts that cannot be spelled."""
    if text.tokenizer:
        return "leave out text.tokenizer, so that one is trained on this text", {}
    if text.kind == "char" and text.min_frequency > 1:
        return "keep rare characters", {"text.min_frequency": 1}
    return "spell anything with bytes", {"text.kind": "bpe", "text.pretokenizer": "byte-level"}


def _held_out(data: TranslationData, side: int) -> dict[str, list[str]]:
    sets = data.raw.sets | {"validation set": data.valid}
    return {title: [pair[side] for pair in pairs] for title, pairs in sets.items() if title != "training set"}


def _new_characters(data: TranslationData, side: int, name: str) -> list[Finding]:
    """Look for characters that were never seen in training; without an example they cannot be translated."""
    normal = _normalizer(data.tokenizers[side])
    raw = set("".join(pair[side] for pair in data.train))
    known = raw | set(normal("\n".join(sorted(raw)))) | {"\n"}
    found = []
    for title, texts in _held_out(data, side).items():
        # Only a text with a new character can have a new one in its normal form, and few have.
        new_in = {text: set(normal(text)) - known for text in texts if not raw.issuperset(text)}
        odd = [text for text in texts if new_in.get(text)]
        if not odd:
            continue
        new = set().union(*new_in.values())
        sentence = (
            f"{len(new):,} character{'s' if len(new) > 1 else ''} in the {name} of the {title} never "
            f"occur{'' if len(new) > 1 else 's'} in training: {few(sorted(new))} (in {len(odd):,} of {len(texts):,} "
            f"sentences)."
        )
        found.append(
            Finding(
                "text",
                "new-characters",
                graded(len(odd) / len(texts), note=0.0, warning=0.02),
                sentence,
                some(map(shown, odd)),
                "add training text that has them, or take them out of the set",
                figures={"characters": len(new), "sentences": len(odd)},
            )
        )
    return found


def _normalizer(tokenizer: Tokenizer) -> Callable[[str], str]:
    normalizer = tokenizer.backend.normalizer
    return normalizer.normalize_str if normalizer is not None else str


def few(characters: Sequence[str], most: int = 12) -> str:
    more = " …" if len(characters) > most else ""
    return " ".join(characters[:most]) + more


def _residues(data: TranslationData, side: int, name: str) -> list[Finding]:
    """Look for what a conversion left behind."""
    odd = [text for text in (pair[side] for pair in data.train) if RESIDUES.search(text)]
    if not odd:
        return []
    kinds = sorted({found for text in odd[:1000] for found in RESIDUES.findall(text)})
    share = len(odd) / len(data.train)
    return [
        Finding(
            "text",
            "residues",
            graded(share, note=0.0, warning=0.01),
            f"{len(odd):,} {name} texts of the training set ({percent(share, 1)}) hold remains of another format: "
            f"{few(kinds)}.",
            some(map(shown, odd)),
            "convert the file again, or replace them",
            figures={"count": len(odd), "share": share},
        )
    ]


def _pieces(data: TranslationData, side: int, name: str) -> Finding:
    lengths = (data.encoded.source, data.encoded.target)[side].lengths
    pieces = int(lengths.sum()) - len(lengths)  # an end token stands behind each sentence
    words = sum(len(pair[side].split()) for pair in data.train)
    characters = sum(len(pair[side]) for pair in data.train)
    return piece_finding(f"{name} ", pieces, words, (characters, "character"), data.settings.text)


def piece_finding(name: str, pieces: int, words: int, extent: tuple[int, str], text: AnyText) -> Finding:
    """Return how finely words are cut; `extent` is how long the text is, and in which unit."""
    size, unit = extent
    figures = {"pieces_per_word": pieces / max(1, words), f"{unit}s_per_piece": size / pieces}
    if size / max(1, words) > UNSPACED or text.kind == "char":
        sentence = f"A {name}piece covers {size / pieces:.1f} {unit}s."
        return Finding("text", "pieces-per-word", "ok", sentence, figures=figures)
    ratio = pieces / words
    covers = f", and a piece covers {size / pieces:.1f} {unit}s" if unit == "byte" else ""
    sentence = f"A {name}word is {ratio:.2f} pieces long{covers}."
    severity = graded(ratio, note=2.5, warning=3.5)
    if severity == "ok":
        return Finding("text", "pieces-per-word", "ok", sentence, figures=figures)
    if text.tokenizer:
        remedy: tuple[str, dict[str, int]] = "leave out text.tokenizer, so that one is trained on this text", {}
    else:
        remedy = "have longer pieces", {"text.size": text.size * 2}
    sentence = f"A {name}word is cut into {ratio:.2f} pieces, which makes sentences long and words hard to learn."
    return Finding("text", "pieces-per-word", severity, sentence, (), *remedy, figures=figures)


def _rare_pieces(data: TranslationData) -> list[Finding]:
    """Look for vocabularies that are larger than the text can teach."""
    source, target = data.tokenizers
    sides = [data.encoded.source.ids, data.encoded.target.ids]
    if source is target:
        counted = {"": (source, np.concatenate(sides))}
    else:
        counted = {" source": (source, sides[0]), " target": (target, sides[1])}
    return [
        rare_finding(np.bincount(ids, minlength=tokenizer.size), tokenizer, name, data.settings.text)
        for name, (tokenizer, ids) in counted.items()
    ]


def rare_finding(
    counts: NDArray[np.int64], tokenizer: Tokenizer, name: str, text: AnyText, looked_at: float = 1.0
) -> Finding:
    """Return how many pieces occur too seldom, from how often each does in a share of the text."""
    rare = int((counts < SELDOM * looked_at).sum()) - len(tokenizer.specials)
    share = max(0, rare) / tokenizer.size
    frequent = round(int((counts >= OFTEN * looked_at).sum()), -2)
    size = max(frequent, 300) if text.pretokenizer == "byte-level" else frequent  # every byte is a piece, said or not
    is_trained = text.tokenizer is None and 100 <= size < tokenizer.size
    return Finding(
        "text",
        "rare-pieces",
        graded(share, note=0.5, warning=0.65),
        f"{percent(share, 1)} of the {tokenizer.size:,} pieces of the{name} vocabulary occur fewer than "
        f"{SELDOM} times in training{'' if share < 0.5 else ', too seldom to be learned'}.",
        (),
        "have fewer pieces" if is_trained and share >= 0.5 else "",
        {"text.size": size} if is_trained and share >= 0.5 else {},
        {"share": share, "size": tokenizer.size},
    )
