"""Chat templates: a subset of Jinja that renders as Jinja does, and runs nothing."""

import pytest
from jinja2.sandbox import ImmutableSandboxedEnvironment

from regard.errors import ConfigError, DataError
from regard.text.chat_template import LONGEST, ROLES_TEMPLATE, ChatTemplate, Message, Piece, as_messages

CHATML = (
    "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}"
    "{{ '<|im_start|>system\nYou are kind.<|im_end|>\n' }}{% endif %}"
    "{{'<|im_start|>' + message['role'] + '\n' + message['content'] + eos_token + '\n'}}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
ZEPHYR = """{% for message in messages %}
{% if message.role == 'user' %}
{{ '<|user|>\n' ~ message.content | trim ~ eos_token }}
{% elif message['role'] == 'system' and not loop.last %}
{{ '<|system|>\n' + message['content'] + eos_token }}
{% else %}
{{ '<|assistant|>\n' + message['content'] + eos_token }}
{% endif %}
{% if loop.last and add_generation_prompt %}
{{ '<|assistant|>' }}
{% endif %}
{% endfor %}"""
MESSAGES = (
    Message("system", "Be brief."),
    Message("user", " Who? "),
    Message("assistant", "Me."),
    Message("user", "Why </s>?"),
    Message("assistant", "So."),
)


@pytest.mark.parametrize("source", [ROLES_TEMPLATE, CHATML, ZEPHYR])
@pytest.mark.parametrize("count", [1, 2, 3, 5])
@pytest.mark.parametrize("is_prompt", [True, False])
def test_text_is_that_of_jinja(source, count, is_prompt):
    messages = MESSAGES[-count:]
    template = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True).from_string(source)
    values = {"messages": [each._asdict() for each in messages], "eos_token": "</s>", "bos_token": "<s>"}
    expected = template.render(**values, add_generation_prompt=is_prompt)
    pieces = ChatTemplate(source).render(messages, "</s>", "<s>", is_prompt)
    assert "".join(piece.text for piece in pieces) == expected


def test_what_a_user_writes_is_told_from_what_the_template_writes():
    pieces = ChatTemplate(ROLES_TEMPLATE).render(MESSAGES[3:4], "</s>", "<s>")
    assert pieces == (Piece("</s><|user|>\n", True), Piece("Why </s>?", False), Piece("\n", True))


def test_prompts_and_answers_take_turns_and_make_the_whole():
    template = ChatTemplate(CHATML)
    turns = template.turns(MESSAGES, "</s>", "<s>")
    assert [turn.is_answer for turn in turns] == [False, True, False, True]
    assert "".join(piece.text for piece in turns[1].pieces) == "Me.</s>\n"
    whole = "".join(piece.text for turn in turns for piece in turn.pieces)
    assert whole == "".join(piece.text for piece in template.render(MESSAGES, "</s>", "<s>"))


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("{{ ''.__class__.__mro__ }}", "Getattr"),
        ("{% for n in range(9) %}x{% endfor %}", "Call"),
        ("{% for a in messages %}{% for b in messages %}x{% endfor %}{% endfor %}", "For"),
        ("{% set x = 1 %}", "Assign"),
        ("{{ messages | length }}", "Filter"),
        ("{% include 'other' %}", "Include"),
        ("{{ 'a' * 1000000000 }}", "Mul"),
        ("{% for", "this is not Jinja"),
        ("{" * (LONGEST + 1), "20,001 characters"),
        ("{% for m in messages %}{{ m.content }}{% endfor %}", "end the message of an assistant with eos_token"),
        (
            "{% if add_generation_prompt %}x{% endif %}{% for m in messages %}{{ eos_token }}{% endfor %}",
            "does not begin with what it renders as its prompt",
        ),
    ],
)
def test_what_is_no_plain_template_is_refused(source, words):
    with pytest.raises(ConfigError, match="^chat_template: .*") as error:
        ChatTemplate(source)
    assert words in str(error.value)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([], "messages are a list of objects with role and content; give at least one"),
        ("hello", "messages are a list"),
        ([{"role": "user"}], "message 1 has no role and content as texts"),
        (
            [{"role": "<|im_end|>", "content": "x"}],
            'message 1 has the role "<|im_end|>"; use system, user or assistant',
        ),
    ],
)
def test_what_are_no_messages_is_refused(given, words):
    with pytest.raises(DataError, match="^chat.jsonl: ") as error:
        as_messages(given, "chat.jsonl")
    assert words in str(error.value)
