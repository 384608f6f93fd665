"""What a meaning is said to contain is what its German sentence contains."""

from collections import Counter
from itertools import islice

import pytest
from saying import (
    HE,
    ME,
    WORDS,
    circumstance,
    clause,
    content,
    noun,
    phrase,
    relative,
    where,
)

from regard.miniature import depth, in_german, noun_cases, sentences, word_pairs
from regard.miniature.german import phrases
from regard.miniature.meaning import Coordination, Meaning, Pronoun, Quality
from regard.miniature.measures import NounCase, WordPair

READ = WordPair("object", "lesen", "Buch")
OLD = WordPair("quality", "alt", "Buch")


@pytest.mark.parametrize(
    "statement",
    [
        clause("lesen", HE, object=noun("Buch")),
        clause("lesen", HE, object=noun("Buch"), front="object", is_negated=True),
        clause("lesen", noun("Frau"), object=noun("Buch"), is_passive=True, tense="narrated"),
        clause("lesen", HE, object=Coordination(noun("Brief"), noun("Buch"))),
        clause(
            "liegen",
            noun("Buch", relative=relative("object", "lesen", subject=ME)),
            complement=where("Tisch"),
        ),
        clause("sagen", HE, content=content("dass", clause("lesen", ME, object=noun("Buch")))),
        clause("lachen", HE, circumstance=circumstance("weil", clause("lesen", ME, object=noun("Buch")), True)),
    ],
)
def test_a_verb_and_its_object_are_a_pair_however_they_are_said(statement):
    assert READ in word_pairs(Meaning(statement))


@pytest.mark.parametrize(
    "statement",
    [
        clause("lesen", HE, object=noun("Buch", "indefinite", "alt")),
        clause("sein", noun("Buch"), predicate=Quality(WORDS.adjectives["alt"])),
        clause("lesen", HE, object=noun("Buch", relative=relative(
            "subject", "sein", predicate=Quality(WORDS.adjectives["alt"])))),
        clause("liegen", noun("Buch"), complement=where("Tisch"), circumstance=circumstance("weil", clause(
            "sein", Pronoun("it", "n", WORDS.nouns["Buch"]), predicate=Quality(WORDS.adjectives["alt"])))),
    ],
)  # fmt: skip
def test_an_adjective_and_its_noun_are_a_pair_however_they_are_said(statement):
    assert OLD in word_pairs(Meaning(statement))


def test_words_that_only_stand_near_each_other_are_no_pair():
    told = clause("lesen", noun("Mann", "definite", "alt"), object=noun("Buch"))
    assert set(word_pairs(Meaning(told))) == {READ, WordPair("quality", "alt", "Mann")}
    unrelated = clause("geben", None, "exist", object=noun("Hund", "indefinite"), place=where("Garten"))
    assert word_pairs(Meaning(unrelated)) == []


def test_every_noun_is_listed_with_its_case():
    told = clause(
        "geben", noun("Frau", relative=relative("subject", "sehen", object=noun("Hund"))), "recipient",
        object=noun("Ball", possessor=noun("Lehrer")), recipient=noun("Kind"),
        time=phrase("occasion", noun("Fest"), "während"),
    )  # fmt: skip
    assert Counter(noun_cases(Meaning(told))) == Counter(
        [
            NounCase("Frau", "nominative"),
            NounCase("Hund", "accusative"),
            NounCase("Ball", "accusative"),
            NounCase("Lehrer", "genitive"),
            NounCase("Kind", "dative"),
            NounCase("Fest", "genitive"),
        ]
    )


def test_depth_counts_clauses_within_clauses():
    rain = clause("regnen")
    once = clause("sagen", HE, content=content("dass", rain))
    twice = clause("lachen", HE, circumstance=circumstance("weil", once))
    beside = clause("lachen", noun("Hund", relative=relative("subject", "schlafen")), content=content("dass", rain))
    assert [depth(Meaning(told)) for told in (rain, once, twice, beside)] == [0, 1, 2, 1]
    assert depth(Meaning(rain, joint=WORDS.conjunctions["und"], second=twice)) == 2


@pytest.mark.parametrize("split", ["train", "unseen-cases", "unseen-depth"])
def test_the_german_sentence_inflects_exactly_the_nouns_and_cases_that_are_listed(split, monkeypatch):
    used = Counter()
    forms = phrases.noun_forms

    class Recorder(dict):
        def __getitem__(self, case):
            used[NounCase(self.noun, case)] += 1
            return super().__getitem__(case)

    def recorded(word):
        found = {}
        for number, row in forms(word).items():
            found[number] = Recorder(row)
            found[number].noun = word.german
        return found

    monkeypatch.setattr(phrases, "noun_forms", recorded)
    for sentence in islice(sentences(split, seed=9), 600):
        phrases._measured.cache_clear()
        used.clear()
        in_german(sentence.meaning)
        assert used == Counter(noun_cases(sentence.meaning)), sentence.german
