"""Conversations from tables: prompts with their completions, or lists of messages."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from regard.data.settings.text import LanguageSource
from regard.data.sources.cells import Row
from regard.data.sources.lines import is_text
from regard.data.sources.tables import GLANCE, Table, read_rows, table_of_lines
from regard.errors import DataError
from regard.text.chat_template import ANSWERING, Message, as_messages

TABLES = (".jsonl", ".ndjson", ".json", ".csv", ".tsv")
PROMPT, COMPLETION, MESSAGES = "prompt", "completion", "messages"


class Chat(NamedTuple):
    """A conversation."""

    messages: tuple[Message, ...]

    @property
    def answers(self) -> list[str]:
        """The messages of the assistant."""
        return [each.content for each in self.messages if each.role == ANSWERING]

    @property
    def prompt(self) -> str:
        """The first message of somebody else."""
        return next((each.content for each in self.messages if each.role != ANSWERING), "")


def messages_column(table: Table, given: str | int | None = None) -> str | None:
    """Return the column with lists of messages: the one given, else `messages` or `prompt`; None: there is none."""
    known = [each for each in (MESSAGES, PROMPT) if each in table.names] if given is None else [table.column(given)]
    return next((name for name in known if any(isinstance(row.get(name), list) for _, row in table.rows)), None)


def is_chat_table(path: str, lines: Sequence[str] = ()) -> bool:
    """Return whether a path is that of a table of conversations; `lines` are the records of one to be written."""
    if lines:
        return _has_chats(table_of_lines(path, lines[:GLANCE]))
    if not path.lower().removesuffix(".gz").endswith(TABLES):
        return False
    return _has_chats(read_rows(path, None, "train", lambda row: True, GLANCE))


def _has_chats(table: Table) -> bool:
    names = {name.strip().lower() for name in table.names}
    return MESSAGES in names or {PROMPT, COMPLETION} <= names


def read_chats(source: LanguageSource, is_trained_on: bool = True) -> tuple[list[Chat], Counter[str]]:
    """Return the conversations of a table, and how many rows are dropped by reason."""
    assert source.path is not None
    table = read_rows(source.path, source.config, source.split, lambda row: True)
    if not _has_chats(table):
        raise DataError(
            f"{source.path}: its columns ({', '.join(table.names) or 'none'}) are neither prompt and completion nor "
            f"messages; rename them, or give running text with --text."
        )
    chats, dropped = list[Chat](), Counter[str]()
    for where, row in table.rows[: source.max_rows]:
        chat = _chat(table, row, f"{source.path}: {where}")
        if not any(each.strip() for each in chat.answers):
            dropped["without a completion"] += 1
        else:
            chats.append(chat)
    if not chats:
        raise DataError(f"{source.path}: no row has a completion; give some.")
    return chats, dropped


def _chat(table: Table, row: Row, where: str) -> Chat:
    """Return the conversation of a row; empty cells of a pair make an empty one."""
    values: dict[str, object] = {name.strip().lower(): value for name, value in row.items()}
    if (messages := values.get(MESSAGES)) is not None:
        chat = Chat(as_messages(messages, where))
    else:
        prompt, completion = (values.get(name) for name in (PROMPT, COMPLETION))
        if isinstance(prompt, list) and isinstance(completion, list):
            chat = Chat((*as_messages(prompt, where), *as_messages(completion, where)))
        else:
            texts = ("" if value is None else value for value in (prompt, completion))
            chat = Chat(tuple(_message(*each, where) for each in zip((PROMPT, COMPLETION), texts, strict=True)))
    if not all(is_text(each.content) for each in chat.messages):
        raise DataError(f"{where} has half a character (a lone surrogate); write it whole.")
    return chat


def _message(name: str, value: object, where: str) -> Message:
    """Return the message of a prompt or of a completion."""
    if not isinstance(value, str):
        raise DataError(f"{where} has no text as its {name}; give text.")
    return Message("user" if name == PROMPT else ANSWERING, value)
