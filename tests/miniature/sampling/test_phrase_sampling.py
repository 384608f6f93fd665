"""Noun phrases, adverbials and predicates that are drawn make sense for their nouns and verbs."""

from random import Random

import pytest
from saying import HE, SHE, THEY, WORDS, YOU, name, noun, nouns

from regard.miniature.meaning import GAP, Ago, Clock, Coordination, Lasting, NounPhrase, PrepositionalPhrase, Quality
from regard.miniature.sampling.adverbials import cause, companion, goal, place, position, time
from regard.miniature.sampling.phrases import FULL, coordination, noun_phrase, owned, owner_of, person
from regard.miniature.sampling.predicates import fill_copula, fill_existence
from regard.miniature.sampling.setting import PERSONS, Setting, Unsayable

SEEDS = range(60)


def drawn(make, seeds=SEEDS):
    """What a function draws for every seed, Unsayable left out."""
    results = []
    for seed in seeds:
        try:
            results.append(make(Random(seed).random))
        except Unsayable:
            continue
    return results


@pytest.mark.parametrize("style", ["subject", "object", "known", "place"])
def test_a_phrase_agrees_with_its_noun(style):
    for word in WORDS.nouns.values():
        for phrase in drawn(lambda draw, word=word: noun_phrase(draw, word, style), range(12)):
            assert phrase.noun is word and all(word in adjective.fits for adjective in phrase.adjectives)
            if "unique" in word.classes:
                assert (phrase.determiner, phrase.number) == ("definite", "singular")
            if not word.plural or phrase.determiner == "each":
                assert phrase.number == "singular" and phrase.numeral is None
            if phrase.numeral or phrase.determiner in ("many", "some"):
                assert phrase.number == "plural"
            if "kin" in word.classes:
                assert phrase.numeral is None and phrase.determiner not in ("many", "some", "each", "no")
            assert not phrase.degree or len(phrase.adjectives) == 1


def test_a_number_that_is_asked_for_is_kept():
    book = WORDS.nouns["Buch"]
    for phrase in drawn(lambda draw: noun_phrase(draw, book, "place", FULL, "plural")):
        assert phrase.number == "plural" or phrase.determiner == "each"


def test_a_possessive_points_to_a_person_whose_sex_is_clear():
    owners = {
        noun("Mann"): "his",
        noun("Frau"): "her",
        nouns("Frau"): "their",
        noun("Kind"): None,
        noun("Hund"): None,
        noun("Mann", "no"): None,
        name("Anna"): "her",
        Coordination(name("Anna"), noun("Mann")): "their",
        YOU: "your",
        HE: "his",
        SHE: "her",
        THEY: "their",
    }
    assert {subject: owner_of(subject, None) for subject in owners} == owners
    assert owner_of(GAP, noun("Frau")) == "her" and owner_of(None, noun("Frau")) is None


def test_only_what_can_be_owned_and_is_not_becomes_ones_own():
    assert owned(noun("Fahrrad"), "her").determiner == "her"
    for phrase in (noun("Regen"), noun("Fahrrad", possessor=name("Anna")), nouns("Fahrrad", numeral=3)):
        assert owned(phrase, "her") is phrase


def test_persons_are_names_pronouns_or_left_to_a_phrase():
    values = drawn(lambda draw: person(draw, PERSONS), range(400))
    kinds = [type(value).__name__ for value in values]
    assert {"NamedEntity", "Pronoun", "NoneType"} == set(kinds) and kinds.count("NoneType") > 0.6 * len(kinds)
    assert all(each.gender == {"he": "m", "she": "f"}.get(each.person) for each in values if hasattr(each, "person"))


def test_two_nouns_are_joined_alike():
    for both in drawn(lambda draw: coordination(draw, WORDS.nouns["Buch"], WORDS.nouns["Milch"], "object")):
        assert both.first.determiner == both.second.determiner and both.second.number == "singular"


TIMED = [verb for verb in WORDS.verbs if verb.frame in ("object", "alone", "copula", "motion")]


@pytest.mark.parametrize("tense", ["present", "narrated", "spoken", "future", "finished", "earlier"])
def test_a_time_suits_tense_and_verb(tense):
    for verb in TIMED:
        for value in drawn(lambda draw, verb=verb: time(draw, verb, tense, FULL), range(8)):
            if tense in ("finished", "earlier"):
                assert value is None
            assert not isinstance(value, Lasting) or ("durative" in verb.facts and tense in ("narrated", "spoken"))
            assert not isinstance(value, Ago) or tense in ("narrated", "spoken")
            assert not isinstance(value, Clock) or 1 <= value.hour <= 12
            if getattr(value, "kind", "") in ("past", "future"):
                assert value.kind == ("future" if tense == "future" else "past")


def test_positions_goals_and_places_take_the_prepositions_of_their_nouns():
    live, go, sit = WORDS.verb("wohnen"), WORDS.verb("gehen"), WORDS.verb("sitzen")
    to_town = WORDS.preposition("destination")
    for site in [each for each in WORDS.nouns.values() if "site" in each.classes and each.whither]:
        for phrase in drawn(lambda draw, site=site: goal(draw, go, site, FULL), range(8)):
            assert phrase is WORDS.adverbs["nach Hause"] or phrase.preposition in (site.whither, to_town)
        for phrase in drawn(lambda draw, site=site: position(draw, live, site, FULL), range(8)):
            assert phrase.preposition in (site.where[0], WORDS.preposition("town"))
    for chair in [each for each in WORDS.nouns.values() if "furniture" in each.classes and len(each.where) > 1]:
        for phrase in drawn(lambda draw, chair=chair: position(draw, sit, chair, FULL), range(8)):
            assert phrase.preposition is chair.where[0] or phrase.preposition.german == "neben"
    for phrase in drawn(lambda draw: place(draw, FULL)):
        assert isinstance(phrase, PrepositionalPhrase) or phrase.kind == "place"


def test_company_and_causes_are_those_a_verb_allows():
    for verb in WORDS.verbs:
        for phrase in drawn(lambda draw, verb=verb: companion(draw, verb, FULL), range(4)):
            assert phrase is None or verb.facts & {"means", "benefit", "company"}
            if phrase and isinstance(phrase.nominal, NounPhrase) and phrase.nominal.determiner == "indefinite":
                assert phrase.nominal.number == "singular"
    for phrase in drawn(lambda draw: cause(draw, FULL)):
        assert (phrase.preposition.kind, phrase.nominal.determiner) == ("cause", "definite")


def test_a_predicate_suits_its_subject():
    for subject in (noun("Mann"), noun("Frau"), nouns("Frau"), noun("Auto"), name("Anna"), None):

        def fill(draw, subject=subject):
            parts = {"verb": WORDS.verb("sein")} | ({"subject": subject} if subject else {})
            fill_copula(draw, parts, Setting())
            return parts

        for parts in drawn(fill):
            predicate, filled = parts["predicate"], parts["subject"]
            if isinstance(predicate, Quality):
                if isinstance(filled, NounPhrase):
                    assert filled.noun in predicate.adjective.fits
                assert not (predicate.comparison and predicate.degree)
            else:
                assert subject != noun("Auto") and predicate.determiner == "indefinite"
                if subject is not None:
                    sex = "m" if subject == noun("Mann") else "f"
                    assert predicate.noun.sex == sex and predicate.number == getattr(subject, "number", "singular")


def test_what_exists_is_new_and_somewhere():
    def fill(draw):
        parts = {"verb": WORDS.verb("geben", "exist")}
        fill_existence(draw, parts, Setting())
        return parts

    for parts in drawn(fill):
        assert parts["object"].determiner in ("indefinite", "many", "some") and parts["object"].possessor is None
        site = parts["place"].nominal
        assert parts["place"].preposition is site.noun.where[0] and site.number == "singular"
