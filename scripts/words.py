"""Words that are ours instead of the field's: `python scripts/words.py [FOLDER or FILE ...]` prints where they stand.

All strings of the source (help, errors, plots, reports, cards, docstrings) and all pages of the documentation are
searched, code in a line of a page left out.
"""

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "regard"
PAGES = ("README.md", "ARCHITECTURE.md", "CONVENTIONS.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs")
"""Prose that is read as the source is."""

MADE_UP = ("miniature",)
"""Folders whose strings are the words of an invented world."""

BANNED = {
    r"\b(say|says|said|saying)\b": "generate, predict, output, report, state",
    r"\bcarv(e|es|ed|ing)\b|\bset apart\b": "hold out",
    r"\bsurpris": "negative log-likelihood",
    r"\bodd\b(?! number| width| kernel| length|-one-out)|\boddit": "suspicious, unusual",
    r"\bsure(st|ness)?\b": "confident",
    r"\bhow alike\b": "similarity",
    r"\bletters?\b": "characters",
    r"\bboth ways\b": "bidirectional",
    r"\b(a|the|its|their|another|no) start\b(?! of)": "pretrained model, --init-from",
    r"\b(go|goes|going|gone|went) on\b": "resume (a run), continue (a text)",
    r"\b(tell|tells|told)\b": "report, distinguish",
    r"\bbehind\b": "after",
    r"\bpieces?\b": "token, sub-word, chunk",
    r"\busual(ly)?\b": "default",
    r"(?<!matplotlib )\bfigures?\b": "metric (a number), plot (a picture)",
    r"\bwhole or absent\b": "atomic",
    r"\bknows?\b": "has, contains, supports",
    r"\bremembers?\b": "stores, keeps",
    r"(?<!in )(?<!take )(?<!takes )(?<!decimal )(?<!in the )(?<!in its )\bplaces?\b(?! of)": "position, source, file",
    r"\bshares? of\b|\b(what|which|larger|largest|smaller) share\b": "fraction",
    r"\bchance\b": "majority baseline, random",
    r"^(Whether|What|How|Which|Who)\b": "a verb or a noun phrase",
    r"\bdrawn\b|\bdraws? (one|from|among|at random)\b": "sample",
    r"\btaken for whom\b": "confusion matrix",
    r"\blook(s|ed|ing)? back\b|\bmay look\b": "attend",
    r"\b(the|an) end tokens?\b": "EOS",
    r"\bmodels? that (answers?|chooses?|gives?|finds?|begins?)\b": "question-answering model, multiple-choice model",
    r"\b\w*(normalis|tokenis|initialis|optimis|summaris|labell|colour|behaviour|neighbour|favour|grey)\w*": "US",
    r"\b(the books|ledgers?|neighbourhoods?)\b": "the thing itself, without a metaphor",
}
"""Patterns, and what the field calls the thing."""

PATTERNS = {re.compile(pattern): words for pattern, words in BANNED.items()}


def sources(given: Iterable[Path] = ()) -> list[Path]:
    """Return the files that are read: those given or below them, or else all."""
    roots = list(given) or [SOURCE, *(ROOT / page for page in PAGES)]
    files = (path for root in roots for path in (sorted(root.rglob("*")) if root.is_dir() else [root]))
    return [
        path
        for path in files
        if path.suffix in (".py", ".md", ".toml") and not set(MADE_UP) & set(path.relative_to(ROOT).parts)
    ]


def strings(path: Path) -> Iterator[tuple[int, str]]:
    """Yield what a file shows people, with its line: strings of several words, or the lines of a page."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        lines = enumerate(text.splitlines(), 1)
        yield from ((number, re.sub(r"`[^`]*`", "``", line)) for number, line in lines if " " in line)
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value.strip():
            yield node.lineno, node.value


def hits(given: Iterable[Path] = ()) -> list[str]:
    """Return `file:line: word (the field's word) in its surroundings` for each banned word."""
    lines = []
    for path in sources(given):
        for line, text in strings(path):
            for pattern, words in PATTERNS.items():
                for match in pattern.finditer(text):
                    around = " ".join(text[max(0, match.start() - 40) : match.end() + 40].split())
                    place = path.relative_to(ROOT)
                    lines.append(f"{place}:{line}: “{match.group()}” ({words}) in: {around}")
    return lines


def main() -> None:
    """Print the hits and their number."""
    lines = hits(Path(word).resolve() for word in sys.argv[1:])
    print("\n".join([*lines, f"{len(lines)} banned words"]))


if __name__ == "__main__":
    main()
