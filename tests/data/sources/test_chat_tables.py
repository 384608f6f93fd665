"""Conversations from tables."""

import json

import pytest

from regard.data.settings.text import LanguageSource
from regard.data.sources.chats import Chat, is_chat_table, read_chats
from regard.errors import DataError
from regard.text.chat_template import Message

PAIR = Chat((Message("user", "Who?"), Message("assistant", "Me.")))


def written(tmp_path, *rows, name="a.jsonl"):
    (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(tmp_path / name)


def test_pairs_and_messages_are_conversations(tmp_path):
    messages = [each._asdict() for each in PAIR.messages]
    path = written(
        tmp_path,
        {"prompt": "Who?", "completion": "Me."},
        {"messages": messages},
        {"prompt": messages[:1], "completion": messages[1:]},
        {"prompt": "Who?", "completion": " "},
        {"messages": messages[:1]},
    )
    chats, dropped = read_chats(LanguageSource(path=path))
    assert chats == [PAIR] * 3 and dropped == {"without a completion": 2}
    assert PAIR.prompt == "Who?" and PAIR.answers == ["Me."]
    (tmp_path / "a.csv").write_text("Prompt,Completion\nWho?,Me.\n")
    assert read_chats(LanguageSource(path=str(tmp_path / "a.csv")))[0] == [PAIR]


def test_tables_of_conversations_are_told_from_text(tmp_path):
    assert is_chat_table(written(tmp_path, {"prompt": "a", "completion": "b"}))
    assert not is_chat_table(written(tmp_path, {"text": "a"}, name="b.jsonl"))
    assert not is_chat_table(str(tmp_path / "c.txt")) and not is_chat_table("miniature:train")
    assert is_chat_table("not-yet.jsonl", ['{"messages": []}']) and not is_chat_table("x", ['{"text": ""}'])


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"text": "a"}, "its columns (text) are neither prompt and completion nor messages"),
        ({"prompt": 3, "completion": "b"}, "record 1 has no text as its prompt; give text."),
        ({"prompt": "a", "completion": ""}, "no row has a completion; give some."),
        ({"messages": [{"role": "user"}]}, "record 1: message 1 has no role and content as texts"),
    ],
)
def test_what_is_no_conversation_is_refused(tmp_path, row, words):
    path = written(tmp_path, row)
    with pytest.raises(DataError) as error:
        read_chats(LanguageSource(path=path))
    assert str(error.value).startswith(path) and words in str(error.value)
