"""Text from data is shown, and never obeyed."""

import re
from xml.etree import ElementTree

import pytest

from nasty import NASTY
from regard.escaping import (
    as_markdown_paragraph,
    in_html,
    in_markdown,
    in_markdown_code,
    in_picture,
    one_line,
    printable,
)


@pytest.mark.parametrize("text", NASTY)
def test_a_terminal_gets_no_control_characters(text):
    shown = printable(text)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", shown) and shown.encode("utf-8")
    assert not re.search(r"[\t\n\r]", one_line(text))


def test_text_that_is_harmless_stays_as_it_is():
    for text in ("Der Hund schläft.", "日本語 😀", "a\tb\nc", "[bold]", "50 % (±3)"):
        assert printable(text) == text and in_picture(text) == text.replace("\t", "\\t").replace("\n", "\\n")
    assert in_markdown("good, 0.95 to 0.97 - fine") == "good, 0.95 to 0.97 - fine"
    assert in_markdown_code("a b") == "`a b`" and in_markdown_code("") == ""


@pytest.mark.parametrize("text", NASTY)
def test_markdown_has_no_tags_no_links_and_no_cells_of_data(text):
    safe = in_markdown(text)
    assert not re.search(r"[<>|$\n\r]|://", safe)
    assert not re.search(r"(?<!\\)[`*_\[\]~]", safe)
    assert safe.replace("&amp;", "").count("&") == len(re.findall(r"&(lt|gt|#\d+);", safe))
    assert not as_markdown_paragraph(text).startswith(("#", "-", "=", "    ", "1."))
    inside = in_markdown_code(text)
    assert "\\|" not in inside and "\n" not in inside
    assert not inside or inside.startswith("<code>") or re.fullmatch("`[^`]+`", inside)


@pytest.mark.parametrize("text", NASTY)
def test_html_is_well_formed_whatever_the_text(text):
    safe = in_html(text)
    parsed = ElementTree.fromstring(f'<p title="{safe}">{safe}</p>')
    assert (
        len(parsed) == 0
        and (parsed.text or "").replace("\\x1b", "\x1b")[:5] == printable(text).replace("\\x1b", "\x1b")[:5]
    )


def test_a_name_in_a_picture_is_short():
    assert len(in_picture("a" * 1000)) == 60
