"""One slip of the pen does not turn spans into words: it is refused where it stands."""

import json

import pytest

from commands import bad
from labeled import Telling
from regard.data.settings.examples import TagSource
from regard.data.sources.conll import read_tagged
from regard.data.sources.tag_check import RARE, TagsSeen, check_tags
from regard.errors import DataError

SENTENCE = [("Ann", "B-PER"), ("Lee", "I-PER"), ("went", "O"), ("home", "O")]


def conll(sentences):
    return "\n\n".join("\n".join(f"{word} {tag}" for word, tag in each) for each in sentences) + "\n"


def as_words(sentences):
    rows = "\n,\n".join("\n".join(f"{word},{tag}" for word, tag in each) for each in sentences)
    return f"word,tag\n{rows}\n"


def as_lists(sentences):
    return "".join(
        json.dumps({"tokens": [w for w, _ in each], "tags": [t for _, t in each]}) + "\n" for each in sentences
    )


def with_slip(tag, count=5):
    return [*[SENTENCE] * count, [("and", tag), ("so", "O")]]


@pytest.mark.parametrize(
    "name, write, place",
    [("a.conll", conll, "line 26"), ("a.csv", as_words, "line 27"), ("a.jsonl", as_lists, "record 6")],
)
@pytest.mark.parametrize(
    "tag, meant", [("o", "O"), ("0", "O"), ("b-per", "B-PER"), ("B_PER", "B-PER"), ("PER", None)]
)
def test_a_stray_tag_is_refused_with_its_place_and_what_was_meant(tmp_path, name, write, place, tag, meant):
    path = tmp_path / name
    path.write_text(write(with_slip(tag)))
    hint = f' (did you mean "{meant}"?)' if meant else ""
    with pytest.raises(DataError) as raised:
        read_tagged(TagSource(path=str(path)))
    assert str(raised.value) == (
        f'{path}: {place} has the tag "{tag}", used once, which marks no span though most do{hint}; fix it, or set '
        f"the scheme of this set to none (such as data.train.scheme=none) if tags mark no spans."
    )
    found = read_tagged(TagSource(path=str(path), scheme="none"))
    assert found[-1].tags == (tag, "O") and found[0].tags == ("B-PER", "I-PER", "O", "O")


def test_train_and_doctor_both_say_so(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "a.conll"
    path.write_text(conll(with_slip("o", 30)))
    for verb in ("train", "doctor"):
        assert 'line 151 has the tag "o", used once' in bad(verb, "tag", "--data", path, "--quiet")
    assert not (tmp_path / "runs").exists()


def test_a_tag_that_fits_but_looks_like_another_is_told(tmp_path):
    path, told = tmp_path / "a.conll", Telling()
    path.write_text(conll(with_slip("B-Per", 30)))
    read_tagged(TagSource(path=str(path)), told)
    assert told.warned == [f'{path}: line 151 has the tag "B-Per", used once; did you mean "B-PER", used 30 times?']


def test_parts_of_speech_and_kinds_without_marks_are_tags_of_their_own(tmp_path):
    path, told = tmp_path / "a.conll", Telling()
    path.write_text(conll([[("a", "DET"), ("dog", "NOUN"), ("B-2", "B-X"), ("ran", "VERB"), ("and", "O")]] * 3))
    assert read_tagged(TagSource(path=str(path)), told)[0].tags[2] == "B-X" and not told.warned
    path.write_text(conll([[("Ann", "PER"), ("ran", "O")]] * 30))
    assert read_tagged(TagSource(path=str(path)), told)[0].tags == ("PER", "O") and not told.warned


def test_a_number_of_a_word_in_conllu_is_made_of_plain_digits(tmp_path):
    path = tmp_path / "a.conllu"
    rows = [
        [number, word, "_", tag, *"______"]
        for number, word, tag in [("1", "a", "DET"), ("²", "b", "X"), ("2", "c", "N")]
    ]
    path.write_text("\n".join("\t".join(row) for row in rows) + "\n")
    assert read_tagged(TagSource(path=str(path)))[0].words == ("a", "c")


def seen(**counts):
    tags = TagsSeen()
    for number, (tag, count) in enumerate(counts.items(), start=1):
        tags.add([tag.replace("_", "-")] * count, f"line {number}")
    return tags


def test_tags_are_counted_and_first_seen_where_they_first_occur():
    tags = TagsSeen()
    tags.add(["O", "B-PER", "O"], "line 1")
    tags.add(["B-PER", "B-LOC"], "line 2")
    assert tags.counts == {"O": 2, "B-PER": 2, "B-LOC": 1}
    assert tags.first_seen == {"O": "line 1", "B-PER": "line 1", "B-LOC": "line 2"}


@pytest.mark.parametrize("frequent", [RARE - 1, RARE, 5 * RARE])
def test_a_likely_typo_is_warned_of_only_if_the_other_tag_is_far_more_frequent(frequent):
    telling = Telling()
    check_tags(seen(NOUN=frequent, Noun=1, VERB=3), TagSource(path="a.conll"), telling)
    warning = f'a.conll: line 2 has the tag "Noun", used once; did you mean "NOUN", used {frequent} times?'
    assert telling.warned == ([warning] if frequent >= RARE else [])


def test_single_word_tags_are_refused_only_where_most_tags_mark_spans():
    check_tags(seen(O=9, B_PER=2, NOUN=3), TagSource(path="a.conll"), Telling())
    with pytest.raises(
        DataError, match=r'line 3 has the tag "NOUN", used 3 times, which marks no span though most do'
    ):
        check_tags(seen(O=9, B_PER=4, NOUN=3), TagSource(path="a.conll"), Telling())
    with pytest.raises(DataError, match=r'line 3 has the tag "NOUN", used 3 times, which marks no span'):
        check_tags(seen(O=9, B_PER=2, NOUN=3), TagSource(path="a.conll", scheme="iob2"), Telling())
    check_tags(seen(O=9, B_PER=4, NOUN=3), TagSource(path="a.conll", scheme="none"), Telling())
