"""Checks of a language model's data before training: of running text, or of conversations."""

from collections.abc import Callable, Iterator, Sequence

from regard.tasks.declarations import Check
from regard.tasks.findings import Finding, graded, percent, shown, some
from regard.tasks.language_model.chats import ChatData
from regard.tasks.language_model.prepare import size_findings
from regard.tasks.text.checks import text_checks

Run = Callable[[object], list[Finding]]


def language_checks() -> Sequence[Check]:
    """Return the checks of running text, and those of conversations; each finds nothing in the other."""
    checks = text_checks(size_findings)
    of_text = [Check(each.name, _unless_chats(each.run), _unless_chats(each.quick)) for each in checks]
    return (*of_text, Check("conversations", _of_chats, _of_chats))


def _unless_chats(run: Run) -> Run:
    return lambda data: [] if isinstance(data, ChatData) else run(data)


def _of_chats(data: object) -> list[Finding]:
    return list(chat_findings(data)) if isinstance(data, ChatData) else []


def chat_findings(data: ChatData) -> Iterator[Finding]:
    """Yield what is suspicious: empty and cut answers, repeated prompts, and those that several sets share."""
    sets = data.raw.sets
    for name, rows in sets.items():
        encoded, dropped = data.encoded[name], data.raw.dropped.get(name)
        if dropped and (empty := dropped.total()):
            fraction = empty / (empty + len(rows))
            sentence = f"{empty:,} rows of {name} ({percent(empty, empty + len(rows))}) have no completion"
            yield Finding("conversations", "empty-completions", graded(fraction, 0, 0.01), sentence)
        long = len(rows) - len(encoded) + int(encoded.is_truncated.sum())
        if long:
            yield Finding(
                "conversations",
                "too-long",
                graded(long / len(rows), 0, 0.01),
                f"{long:,} of {len(rows):,} conversations of {name} are longer than the window of {data.window:,} "
                f"tokens: their ends are left out, and those without any part of an answer are dropped",
                remedy="raise window (model.max_positions), or split them",
            )
    train, seen = sets["train"], dict[str, set[tuple[str, ...]]]()
    for each in train:
        seen.setdefault(each.prompt, set()).add(tuple(each.answers))
    repeated = len(train) - len({each.messages for each in train})
    if repeated:
        yield Finding(
            "conversations",
            "duplicates",
            graded(repeated / len(train), 0, 0.1),
            f"{repeated:,} of {len(train):,} training conversations repeat an earlier one",
            remedy="leave them out, unless they should count more than once",
        )
    for name, rows in sets.items():
        leaked = [each.prompt for each in rows if each.prompt in seen] if name != "train" else []
        if leaked:
            yield Finding(
                "conversations",
                "leaked-prompts",
                graded(len(leaked) / len(rows), 0, 0.01, 0.5),
                f"{len(leaked):,} of the {len(rows):,} first prompts of {name} are training prompts too, so its "
                f"perplexity is lower than that of new ones",
                some(map(shown, leaked)),
                "leave them out of the training set",
            )
