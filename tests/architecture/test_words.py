"""No string of the source and no page of the documentation has a word that is ours instead of the field's."""

import words


def test_help_errors_plots_reports_cards_and_pages_have_the_field_s_words():
    assert words.hits() == []


def test_a_banned_word_is_found_with_its_place_and_the_field_s_word(tmp_path, monkeypatch):
    text = '"""Return what the model says."""\nname = "surprise"\nshown = f"a share of {name}"\n'
    (tmp_path / "a.py").write_text(text)
    (tmp_path / "page.md").write_text("The model knows nothing of `places`.\n")
    monkeypatch.setattr(words, "ROOT", tmp_path)
    hits = words.hits([tmp_path])
    assert len(hits) == 3 and hits[0].startswith("a.py:1: “says” (generate, predict, output, report, state) in:")
    assert "“share of” (fraction)" in hits[1] and "“knows” (has, contains, supports)" in hits[2]
