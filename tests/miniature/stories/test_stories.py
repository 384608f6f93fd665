"""Stories: what they tell hangs together, they keep apart by split, and they never change."""

import gc
import hashlib
import re
import time
from collections import Counter
from itertools import islice

import pytest
from reading import Contradiction, Reader
from saying import WORDS

from regard.errors import DataError
from regard.miniature import SPLITS, in_english
from regard.miniature.english.morphology import forms_of, noun_form
from regard.miniature.stories.cast import THINGS
from regard.miniature.stories.probes import PROBE_KINDS, probes_of, story_probes
from regard.miniature.stories.telling import STORY_SPLITS, documents, stories, story


@pytest.fixture(scope="module")
def many():
    # Looking for garbage among so many small objects that all stay would take most of the time.
    gc.disable()
    drawn = list(islice(stories("train"), 20_000))
    gc.freeze()
    gc.enable()
    yield drawn
    gc.unfreeze()


@pytest.fixture(scope="module")
def some(many):
    return many[:3_000]


def test_the_first_stories_never_change():
    # Change this number only together with the grammar, the lexicon or the plots, and say so in the changelog.
    text = "\n".join(documents("train", 100))
    assert (
        hashlib.sha256(text.encode()).hexdigest()
        == "f3abdc430387e6a32504f5bcab8d9f9fa9488511d4fddbc06d4dc135c94970c2"
    )


def test_a_story_depends_on_its_split_seed_and_number_alone():
    for split in STORY_SPLITS:
        few, more = list(documents(split, 3, seed=2)), list(documents(split, 9, seed=2))
        assert few == more[:3]
        assert more[7] == story(split, 7, seed=2).text
    assert story("train", 7, seed=2) != story("train", 7, seed=3)


def test_every_story_is_true_to_itself_to_a_careful_reader(many):
    for one in many[:8_000]:
        reader = Reader()
        for sentence in one.told:
            try:
                reader.read(sentence.meaning)
            except Contradiction as refused:
                pytest.fail(f"{one.text}\n{in_english(sentence.meaning)}: {refused}")


REASONS = {
    "pronoun": "nobody|about somebody of the other sex|whose relation",
    "holder": "somebody else has it|was not given it|not where they are",
    "thing": "somebody else has it|it is not there",
    "place": "not where they are|is somewhere else|goes where they are already",
    "time": "time goes backwards",
    "mood": "no reason for that mood",
}


def test_a_careful_reader_refuses_every_wrong_continuation(some):
    refused = Counter()
    for one in some:
        for place, sentence in enumerate(one.told):
            for kind, meaning in sentence.contrasts:
                reader = Reader()
                for before in one.told[:place]:
                    reader.read(before.meaning)
                with pytest.raises(Contradiction, match=REASONS[kind]):
                    reader.read(meaning)
                    pytest.fail(f"{kind}: {one.text}\n{in_english(meaning)}")
                refused[kind] += 1
    assert min(refused[kind] for kind in PROBE_KINDS) > 300


PEOPLE = {name.english for name in WORDS.names.values() if name.kind in ("woman", "man")}


def people_and_thing(text):
    """The first two people and the first thing of a story, read off its words alone."""
    body = text.split("\n")[1]
    things = sorted((noun.english for noun in THINGS.items), key=len, reverse=True)
    people = list(dict.fromkeys(word for word in re.findall(r"[A-Z]\w+", body) if word in PEOPLE))
    thing = re.search(rf"\b({'|'.join(things)})\b", body)
    return people[0], people[1], thing[1]


def test_whom_and_what_a_story_is_about_can_be_read_off_its_text(some):
    for one in some:
        assert people_and_thing(one.text) == tuple(word.english for word in one.theme), one.text


def test_splits_share_no_story_and_no_theme_whatever_the_seeds():
    themes = {}
    for split in STORY_SPLITS:
        texts = [text for seed in (0, 5) for text in documents(split, 1_500, seed)]
        themes[split] = {people_and_thing(text) for text in texts}
        assert len(themes[split]) > 1_000
    for split in STORY_SPLITS:
        others = set().union(*(themes[other] for other in STORY_SPLITS if other != split))
        assert not themes[split] & others


def test_hardly_a_story_is_told_twice(many):
    bodies = Counter(one.text.split("\n")[1] for one in many)
    assert len(bodies) > 0.999 * len(many)
    assert len({one.text.split(". ")[0] for one in many}) > 0.3 * len(many)


def test_stories_have_five_to_twelve_sentences_of_every_length(many):
    lengths = Counter(len(one.told) for one in many)
    assert set(lengths) == set(range(5, 13))
    assert 9 <= sum(length * count for length, count in lengths.items()) / len(many) <= 10.5
    assert max(len(sentence.split()) for one in many[:2_000] for sentence in one.sentences) <= 15


ENGLISH = re.compile(r"[A-Z][a-z'-]*( [A-Za-z'-]+)*\.")
TITLE = re.compile(r"[A-Z][a-z']*( [A-Za-z']+)*")


def test_titles_and_sentences_are_well_formed_in_english(some):
    for one in some:
        assert TITLE.fullmatch(one.title), one.title
        assert one.text == f"{one.title}\n{' '.join(one.sentences)}"
        for sentence in one.sentences:
            assert ENGLISH.fullmatch(sentence), sentence
            assert not re.search(r"\ba [aeioAEIO]|\ban [^aeiouAEIO]|\b(\w+) \1\b", sentence), sentence


GRAMMAR = {
    "a", "an", "the", "his", "her", "him", "he", "she", "it", "they", "them", "was", "were", "had",
    "one", "o'clock", "at", "for", "with", "to", "of", "glad", "wanted",
}  # fmt: skip


def lexicon_forms():
    """Every word of the lexicon in every English form of it."""
    phrases = {adverb.english for adverb in WORDS.adverbs.values()} | {name.english for name in WORDS.names.values()}
    phrases |= {adjective.english for adjective in WORDS.adjectives.values()}
    phrases |= {conjunction.english for conjunction in WORDS.conjunctions.values()}
    phrases |= {noun_form(noun, number) for noun in WORDS.nouns.values() for number in ("singular", "plural")}
    phrases |= {place.english for noun in WORDS.nouns.values() for place in (*noun.where, noun.whither) if place}
    phrases |= {form for verb in WORDS.verbs for form in forms_of(verb)}
    phrases |= {english for _, english in WORDS.numerals.values()}
    return {word for phrase in phrases for word in phrase.split()} | GRAMMAR


def test_every_word_is_a_form_of_the_lexicon_and_there_are_few(many):
    allowed = lexicon_forms()
    found = Counter(word for one in many for word in re.findall(r"[A-Za-z'-]+", one.text))
    unknown = {word for word in found if word.removesuffix("'s") not in allowed and word.lower() not in allowed}
    assert unknown == set()
    assert 300 < len(found) < 500
    assert sum(count < 20 for count in found.values()) < 0.05 * len(found)


def test_twenty_thousand_stories_take_less_than_a_minute():
    started = time.process_time()
    assert len(list(documents("train", 2_000))) == 2_000
    assert time.process_time() - started < 6


def test_probes_go_on_from_the_beginning_of_a_document():
    texts = set(documents("valid", 400))
    for probe in story_probes("valid", 60):
        assert any(text.startswith(probe.prefix + probe.right) for text in texts)
        assert probe.right != probe.wrong
        assert probe.right[0] == probe.wrong[0] and probe.right[0] in " \n"


def test_a_story_knows_all_its_probes(some):
    for one in some[:200]:
        probes = probes_of(one)
        assert len(probes) == sum(len(sentence.contrasts) for sentence in one.told)
        assert all(one.text.startswith(probe.prefix + probe.right) for probe in probes)


def test_probes_of_every_kind_come_in_turn_and_not_two_of_one_story():
    probes = list(story_probes("test", 120, seed=1))
    assert [probe.kind for probe in probes] == [*PROBE_KINDS] * 20
    assert probes[:7] == list(story_probes("test", 7, seed=1))
    assert len({probe.prefix.split(".")[0] + probe.prefix.split("\n")[0] for probe in probes}) > 115


def test_the_length_of_a_continuation_does_not_give_the_right_one_away():
    probes = list(story_probes("valid", 1_200))
    for kind in PROBE_KINDS:
        differences = [len(p.right.split()) - len(p.wrong.split()) for p in probes if p.kind == kind]
        assert sum(difference > 0 for difference in differences) < 0.65 * len(differences), kind
        assert sum(difference < 0 for difference in differences) < 0.65 * len(differences), kind


def later(probe):
    """Whether the prefix names what the right continuation is about after what the wrong one is about."""
    if probe.kind == "holder":  # both continuations can name the same two people, so the first name counts
        right, wrong = (
            [next(w for w in re.findall(r"\w+", text) if w in PEOPLE)] for text in (probe.right, probe.wrong)
        )
    else:
        both = [re.findall(r"[\w']+", text) for text in (probe.right, probe.wrong)]
        right, wrong = ([word for word in both[i] if word not in both[1 - i]] for i in (0, 1))
    # A theater has no word that a movie theater has not.
    return max(map(probe.prefix.rfind, right), default=-1) > max(map(probe.prefix.rfind, wrong), default=-1)


def test_what_was_named_last_is_right_half_of_the_time():
    probes = list(story_probes("valid", 3_000))
    for kind in ("holder", "thing", "place"):
        found = [later(probe) for probe in probes if probe.kind == kind]
        assert 0.4 < sum(found) / len(found) < 0.6, kind


def test_every_split_has_a_size_unless_told():
    assert sum(1 for _ in documents("valid")) == SPLITS["valid"].size
    assert sum(1 for _ in story_probes("test")) == SPLITS["test"].size


def test_an_unknown_split_is_refused_with_those_that_have_stories():
    for call in (stories, documents, story_probes, lambda split: story(split, 0)):
        with pytest.raises(DataError) as raised:
            call("unseen-depth")
        assert str(raised.value) == 'split: "unseen-depth" is not one of train, valid, test, which have stories.'


@pytest.mark.parametrize(("call", "what"), [(documents, "story"), (story_probes, "probe")])
def test_a_count_below_one_is_refused_for_stories_and_probes(call, what):
    with pytest.raises(DataError) as raised:
        call("valid", 0)
    assert str(raised.value) == f"count: 0 is too few; ask valid for 1 {what} or more."
