"""Chat templates: messages as one text, by a subset of Jinja that runs nothing but a loop over the messages.

The source is that of Hugging Face's `chat_template`. It is parsed by Jinja and interpreted here, never compiled:
there is no call, no attribute of an object and no loop but the one over messages, so that a file can do no harm.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from regard.errors import ConfigError, DataError

if TYPE_CHECKING:
    from jinja2 import nodes

ROLES_TEMPLATE = (
    "{{ eos_token }}{% for message in messages %}{{ '<|' + message['role'] + '|>\n' + message['content'] }}"
    "{% if message['role'] == 'assistant' %}{{ eos_token }}{% endif %}{{ '\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|assistant|>\n' }}{% endif %}"
)
"""The template where none is stated: the role of each message on a line of its own, and EOS after an answer."""
ANSWERING = "assistant"
ROLE = re.compile(r"[a-z][a-z_]{0,30}")
LONGEST = 20_000
"""Characters of a template."""

T = TypeVar("T")


class Message(NamedTuple):
    """One message of a conversation."""

    role: str
    content: str


class Piece(NamedTuple):
    """A part of a rendered conversation; special tokens are recognized in the template's own parts alone."""

    text: str
    is_template: bool


Pieces = tuple[Piece, ...]
Value = Pieces | Message | Sequence[Message] | bool | int | None


class Turn(NamedTuple):
    """A part of a conversation, and whether it is an answer: what a model is trained to generate."""

    pieces: Pieces
    is_answer: bool


def as_messages(given: object, where: str) -> tuple[Message, ...]:
    """Return messages given as dicts with `role` and `content`."""
    if not isinstance(given, Sequence) or isinstance(given, str) or not given:
        raise DataError(f"{where}: messages are a list of objects with role and content; give at least one.")
    messages = []
    for number, each in enumerate(given, 1):
        values = each._asdict() if isinstance(each, Message) else each
        role, content = (values.get(name) if isinstance(values, Mapping) else None for name in Message._fields)
        if not isinstance(role, str) or not isinstance(content, str):
            raise DataError(f"{where}: message {number} has no role and content as texts; give both.")
        if not ROLE.fullmatch(role):
            raise DataError(f'{where}: message {number} has the role "{role[:40]}"; use system, user or assistant.')
        messages.append(Message(role, content))
    return tuple(messages)


@dataclass(frozen=True)
class ChatTemplate:
    """A template, checked: the answer of an assistant is what follows its prompt, and EOS ends it."""

    source: str

    def __post_init__(self) -> None:
        probe = (Message("user", "A question?"), Message(ANSWERING, "An answer."), Message("user", "Another?"))
        _, answer, *_ = self.turns(probe)
        if "\x00eos" not in _text(answer.pieces):
            raise ConfigError(
                "chat_template: it does not end the message of an assistant with eos_token, so that no answer would "
                "end; write {{ eos_token }} there."
            )

    def turns(self, messages: Sequence[Message], eos: str = "\x00eos", bos: str = "\x00bos") -> list[Turn]:
        """Return a conversation as prompts and answers in turn."""
        turns: list[Turn] = []
        done = 0
        for number, message in enumerate(messages):
            if message.role != ANSWERING:
                continue
            prompt = self.render(messages[:number], eos, bos, is_prompt=True)
            whole = self.render(messages[: number + 1], eos, bos)
            if not _text(whole).startswith(_text(prompt)) or len(_text(prompt)) < done:
                raise ConfigError(
                    "chat_template: what it renders for an assistant's turn does not begin with what it renders as "
                    "its prompt (add_generation_prompt); correct the template."
                )
            end = len(_text(prompt))
            turns += [Turn(_after(prompt, done), False), Turn(_after(whole, end), True)]
            done = len(_text(whole))
        return turns

    def render(self, messages: Sequence[Message], eos: str, bos: str, is_prompt: bool = False) -> Pieces:
        """Return messages as the template writes them; `is_prompt` adds the beginning of an answer."""
        names: dict[str, Value] = {
            "messages": tuple(messages),
            "add_generation_prompt": is_prompt,
            "eos_token": (Piece(eos, True),),
            "bos_token": (Piece(bos, True),),
        }
        return _joined(_body(_parsed(self.source).body, names))


@cache
def _parsed(source: str) -> "nodes.Template":
    """Return the syntax tree of a template; nothing is compiled."""
    from jinja2 import Environment, TemplateError

    if len(source) > LONGEST:
        raise ConfigError(f"chat_template: it has {len(source):,} characters; {LONGEST:,} are read at most.")
    try:
        return Environment(trim_blocks=True, lstrip_blocks=True).parse(source)
    except (TemplateError, RecursionError) as error:
        raise ConfigError(f"chat_template: this is not Jinja ({error}); correct it.") from None


def _text(pieces: Pieces) -> str:
    return "".join(piece.text for piece in pieces)


def _joined(pieces: Sequence[Piece]) -> Pieces:
    """Return parts with neighbors of the same origin as one."""
    joined: list[Piece] = []
    for piece in pieces:
        if joined and joined[-1].is_template == piece.is_template:
            joined[-1] = Piece(joined[-1].text + piece.text, piece.is_template)
        elif piece.text:
            joined.append(piece)
    return tuple(joined)


def _after(pieces: Pieces, start: int) -> Pieces:
    """Return what follows the first `start` characters."""
    kept = []
    for piece in pieces:
        kept.append(Piece(piece.text[start:], piece.is_template))
        start = max(0, start - len(piece.text))
    return _joined(kept)


Names = dict[str, Value]


def _body(body: Sequence["nodes.Node"], names: Names) -> list[Piece]:
    """Return what statements write."""
    from jinja2 import nodes

    pieces: list[Piece] = []
    for node in body:
        if isinstance(node, nodes.Output):
            for each in node.nodes:
                pieces += _pieces(each, names)
        elif isinstance(node, nodes.If):
            pieces += _branch(node, names)
        elif isinstance(node, nodes.For):
            pieces += _loop(node, names)
        else:
            raise _unsupported(node)
    return pieces


def _branch(node: "nodes.If", names: Names) -> list[Piece]:
    for each in (node, *node.elif_):
        if _truth(_value(each.test, names)):
            return _body(each.body, names)
    return _body(node.else_, names)


def _loop(node: "nodes.For", names: Names) -> list[Piece]:
    from jinja2 import nodes

    messages = _value(node.iter, names)
    is_plain = isinstance(node.target, nodes.Name) and not (node.else_ or node.test or node.recursive)
    if not is_plain or "loop.first" in names or not isinstance(messages, tuple):
        raise _unsupported(node)
    pieces = []
    for number, message in enumerate(messages):
        if not isinstance(message, Message):
            raise _unsupported(node)
        loop: Names = {"loop.first": number == 0, "loop.last": number + 1 == len(messages), "loop.index0": number}
        loop |= {"loop.index": number + 1, node.target.name: message}  # type: ignore[attr-defined]  # a name
        pieces += _body(node.body, names | loop)
    return pieces


def _pieces(node: "nodes.Node", names: Names) -> list[Piece]:
    """Return what an expression writes."""
    from jinja2 import nodes

    if isinstance(node, nodes.TemplateData):
        return [Piece(node.data, True)]
    value = _value(node, names)
    if not isinstance(value, tuple) or not all(isinstance(each, Piece) for each in value):
        raise _unsupported(node)
    return [each for each in value if isinstance(each, Piece)]


def _value(node: "nodes.Node", names: Names) -> Value:
    """Return the value of an expression."""
    from jinja2 import nodes

    if isinstance(node, nodes.Const):
        return (Piece(node.value, True),) if isinstance(node.value, str) else _plain(node)
    if isinstance(node, nodes.Name):
        return names.get(node.name)
    if isinstance(node, nodes.Getattr | nodes.Getitem):
        return _field(node, names)
    if isinstance(node, nodes.Add):
        return tuple(_pieces(node.left, names) + _pieces(node.right, names))
    if isinstance(node, nodes.Concat):
        return tuple(piece for each in node.nodes for piece in _pieces(each, names))
    if isinstance(node, nodes.Filter) and node.name == "trim" and node.node is not None and not node.args:
        return _trimmed(_pieces(node.node, names))
    if isinstance(node, nodes.Test) and node.name == "defined":
        return _value(node.node, names) is not None
    return _truth_of(node, names)


def _truth_of(node: "nodes.Node", names: Names) -> bool:
    """Return the value of a condition."""
    from jinja2 import nodes

    if isinstance(node, nodes.Not):
        return not _truth(_value(node.node, names))
    if isinstance(node, nodes.And):
        return _truth(_value(node.left, names)) and _truth(_value(node.right, names))
    if isinstance(node, nodes.Or):
        return _truth(_value(node.left, names)) or _truth(_value(node.right, names))
    if isinstance(node, nodes.Compare) and len(node.ops) == 1 and node.ops[0].op in ("eq", "ne"):
        one, other = (_compared(_value(each, names)) for each in (node.expr, node.ops[0].expr))
        return (one == other) == (node.ops[0].op == "eq")
    raise _unsupported(node)


def _field(node: "nodes.Getattr | nodes.Getitem", names: Names) -> Value:
    """Return a field of a message or of the loop, or a message by its number."""
    from jinja2 import nodes

    key = node.attr if isinstance(node, nodes.Getattr) else getattr(node.arg, "value", None)
    if isinstance(node.node, nodes.Name) and node.node.name == "loop" and f"loop.{key}" in names:
        return names[f"loop.{key}"]
    value = _value(node.node, names)
    if isinstance(value, Message):
        if key == "role":
            return (Piece(value.role, True),)  # one of few words: it may be a part of a special token
        return (Piece(value.content, False),) if key == "content" else None
    if isinstance(value, tuple) and isinstance(key, int) and not any(isinstance(each, Piece) for each in value):
        return value[key] if -len(value) <= key < len(value) else None  # type: ignore[return-value]  # a message
    if value is None:
        return None
    raise _unsupported(node)


def _plain(node: "nodes.Const") -> Value:
    if isinstance(node.value, bool | int) or node.value is None:
        return node.value
    raise _unsupported(node)


def _trimmed(pieces: Sequence[Piece]) -> Pieces:
    """Return parts without the white space at both ends."""
    text = _text(tuple(pieces))
    begin = len(text) - len(text.lstrip())
    rest, kept = _after(tuple(pieces), begin), len(text.strip())
    ended: list[Piece] = []
    for piece in rest:
        ended.append(Piece(piece.text[:kept], piece.is_template))
        kept -= len(ended[-1].text)
    return _joined(ended)


def _compared(value: Value) -> object:
    if isinstance(value, tuple) and all(isinstance(each, Piece) for each in value):
        return "".join(each.text for each in value if isinstance(each, Piece))
    return value


def _truth(value: Value) -> bool:
    return bool(_compared(value))


def _unsupported(node: "nodes.Node") -> ConfigError:
    return ConfigError(
        f"chat_template: line {node.lineno} has something other than a loop over messages, conditions and texts "
        f"({type(node).__name__}), which is not run; write the template with these."
    )
