from types import SimpleNamespace

import pytest

import regard
from regard.tasks.translate.paragraphs import sentences_of, translate_paragraphs


def marked(sentences):
    return [SimpleNamespace(text=f"<{each}>") for each in sentences]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ein Satz.", "<Ein Satz.>"),
        ("  Eins. Zwei!\tDrei?\n", "  <Eins.> <Zwei!>\t<Drei?>\n"),
        ("Eins\n\n  Zwei.\r\nDrei", "<Eins>\n\n  <Zwei.>\r\n<Drei>"),
        ("Dr. Weiss kam am 3. März. Sie ging.", "<Dr. Weiss kam am 3. März.> <Sie ging.>"),
        ("Also... nein. Gut… Ja.", "<Also... nein.> <Gut…> <Ja.>"),
        ("„Komm!“ Er kam. (Sie nicht.) Ende.", "<„Komm!“> <Er kam.> <(Sie nicht.)> <Ende.>"),
        ("你好。再见！", "<你好。> <再见！>"),
        ("", ""),
        (" \n\n", " \n\n"),
    ],
)
def test_sentences_are_translated_one_by_one_and_keep_their_white_space(text, expected):
    assert translate_paragraphs(marked, text) == expected
    assert "".join(part for parts in sentences_of(text) for part in parts) == text


def test_sentences_of_languages_without_spaces_stay_side_by_side():
    translate = lambda sentences: [SimpleNamespace(text=text) for text in ("今日は。", "さようなら。")]
    assert translate_paragraphs(translate, "你好。再见！") == "今日は。さようなら。"


def test_a_paragraph_is_its_sentences_sentence_by_sentence(quick_run):
    translator = regard.load(quick_run.best)
    sentences = ["Der Hund schläft.", "Anna liest ein Buch."]
    one, other = (each.text for each in translator(sentences))
    assert translator.paragraphs("\n\n".join(sentences)) == f"{one}\n\n{other}"
