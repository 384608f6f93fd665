"""Questions about stories: their answers are where they say, and a careful reader agrees with them."""

import re
from collections import Counter
from itertools import islice

import pytest
from reading import Reader
from saying import WORDS

from regard.miniature.examples.questions import questions
from regard.miniature.lexicon import Name
from regard.miniature.stories.telling import stories

NAMES = {name.english: name for name in WORDS.names.values()}
NOUNS = {noun.english: noun for noun in WORDS.nouns.values()}


@pytest.fixture(scope="module")
def asked():
    return list(questions("train", 4_000))


@pytest.fixture(scope="module")
def told():
    """The stories by their texts."""
    return {" ".join(story.sentences): story for story in islice(stories("train"), 1_300)}


def test_every_answer_stands_where_it_is_said_to(asked):
    for each in asked:
        for text, start in each.answers:
            assert each.context[start : start + len(text)] == text
            before, after = each.context[:start][-1:], each.context[start + len(text) :][:1]
            assert not before.isalnum() and not after.isalnum(), each


def test_contexts_are_stories_and_questions_are_not_asked_twice(asked, told):
    assert all(each.context in told and each.title == told[each.context].title for each in asked)
    assert len({(each.context, each.question) for each in asked}) == len(asked)


def test_some_questions_have_no_answer_and_there_are_all_kinds(asked):
    assert 0.25 < sum(not each.answers for each in asked) / len(asked) < 0.35
    first = Counter(each.question.split()[0] for each in asked)
    assert set(first) == {"Who", "What", "Where", "When", "Why", "How"}
    assert all(re.fullmatch(r"(Who|What|Where|When|Why|How long) [\w' ]+\?", each.question) for each in asked)


def reader_of(story):
    reader = Reader()
    for sentence in story.told:
        reader.read(sentence.meaning)
    return reader


def test_a_careful_reader_knows_who_has_a_thing_in_the_end(asked, told):
    count = 0
    for each in asked:
        if found := re.fullmatch(r"Who had the (.+) in the end\?", each.question):
            holder = reader_of(told[each.context]).things[NOUNS[found[1]]]
            assert isinstance(holder, Name) and holder.english == each.answers[0].text, each
            count += 1
    assert count > 100


def test_a_careful_reader_agrees_on_who_lost_and_who_gave(asked, told):
    count = Counter()
    for each in asked:
        reader = reader_of(told[each.context])
        if found := re.fullmatch(r"Who lost the ([\w ]+?)(?: (?:in|at|on) the .+)?\?", each.question):
            losers = {name.english for name, noun in reader.lost if noun is NOUNS[found[1]]}
            assert losers == {answer.text for answer in each.answers} or (
                not each.answers and " the " in each.question
            )
            count["lost", bool(each.answers)] += 1
        if found := re.fullmatch(r"Who (?:gave|handed|brought|lent) (\w+) the (.+)\?", each.question):
            givers = {
                giver.english
                for giver, noun, taker in reader.given
                if noun is NOUNS[found[2]] and taker.english == found[1]
            }
            assert givers == {answer.text for answer in each.answers}, each
            count["gave", bool(each.answers)] += 1
    assert min(count[key] for key in (("lost", True), ("lost", False), ("gave", True), ("gave", False))) > 15


def test_a_careful_reader_agrees_on_where_things_were_lost_and_found(asked, told):
    count = 0
    for each in asked:
        found = re.fullmatch(r"Where did (\w+) (lose|find) the (.+)\?", each.question)
        if not found:
            continue
        reader, places = Reader(), set()
        for sentence in told[each.context].told:
            reader.read(sentence.meaning)
            verb = sentence.meaning.clause.verb.english
            if verb == found[2] and reader.subject is NAMES[found[1]] and reader.thing is NOUNS[found[3]]:
                places.add(f"the {reader.where[reader.subject].english}")
        assert places == {answer.text for answer in each.answers}, each
        count += 1
    assert count > 100


def test_the_sentence_with_the_words_of_a_question_often_does_not_have_its_answer(asked):
    """A sentence is guessed by how many words it shares with the question; pronouns hide many answers elsewhere."""
    hits = total = 0
    for each in asked:
        if each.answers:
            words = set(re.findall(r"\w+", each.question.lower()))
            sentences = re.findall(r"[^.]+\.", each.context)
            best = max(sentences, key=lambda one: len(words & set(re.findall(r"\w+", one.lower()))))
            start = each.context.index(best)
            hits += start <= each.answers[0].start < start + len(best)
            total += 1
    assert hits / total < 0.75
