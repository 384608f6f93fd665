"""The lexicon is large, and no German form stands for two words."""

from collections import defaultdict
from itertools import product

import pytest
from saying import WORDS, clause, noun, nouns, said

from regard.miniature import held_out_cases, held_out_pairs
from regard.miniature.german.morphology import forms_of, noun_forms
from regard.miniature.lexicon.entries import VERB_FACTS
from regard.miniature.lexicon.tables import lemmas, lexicon
from regard.miniature.measures import NounCase, WordPair


@pytest.mark.parametrize("language", ["german", "english"])
def test_there_are_at_least_400_lemmas_in_each_language(language):
    names = {getattr(name, language) for name in WORDS.names.values()}
    assert len(lemmas(language)) >= 400
    assert not lemmas(language) & names


def test_no_form_belongs_to_two_nouns():
    owners = defaultdict(set)
    for word in WORDS.nouns.values():
        for number in ("singular", "plural") if word.plural else ("singular",):
            for form in noun_forms(word)[number].values():
                owners[form].add(word.german)
    assert [nouns for nouns in owners.values() if len(nouns) > 1] == []


def test_no_finite_form_belongs_to_two_verbs():
    owners = defaultdict(set)
    for verb in WORDS.verbs:
        forms = forms_of(verb)
        for form in {*forms.present.values(), *forms.past.values()}:
            owners[form, verb.particle, verb.is_reflexive].add(verb.german)
    assert [verbs for verbs in owners.values() if len(verbs) > 1] == []


def test_no_german_word_has_two_english_ones():
    meanings = defaultdict(set)
    for verb in WORDS.verbs:
        meanings[verb.german, verb.frame].add(verb.english)
    for adjective in WORDS.adjectives.values():
        meanings[adjective.german, "adjective"].add(adjective.english)
    for adverb in WORDS.adverbs.values():
        meanings[adverb.german, "adverb"].add(adverb.english)
    assert [words for words in meanings.values() if len(words) > 1] == []


def test_english_verbs_that_take_objects_stand_for_one_german_verb_each():
    german = defaultdict(set)
    for verb in WORDS.verbs:
        if verb.objects:
            german[verb.english, verb.frame, verb.governs and verb.governs.english].add(verb.german)
    assert [verbs for verbs in german.values() if len(verbs) > 1] == []


def test_every_fact_of_a_verb_is_explained_and_every_explained_fact_is_used():
    assert {fact for verb in WORDS.verbs for fact in verb.facts} == VERB_FACTS.keys()


def test_a_passive_never_looks_like_a_future():
    for verb in WORDS.verbs:
        if "passive" in verb.facts:
            assert forms_of(verb).participle != forms_of(verb).infinitive


def test_every_verb_finds_somebody_to_do_it_and_something_to_do_it_to():
    for verb in WORDS.verbs:
        if verb.frame in ("copula", "exist", "weather"):
            continue
        assert verb.subjects, verb.german
        if verb.frame in ("object", "dative", "recipient", "about", "put"):
            assert verb.objects, verb.german
        if verb.frame in ("motion", "position", "put"):
            assert verb.targets, verb.german
            assert all(place.where if verb.frame == "position" else place.whither for place in verb.targets)


def partners(relation, position):
    found = defaultdict(set)
    for pair in held_out_pairs():
        if pair.relation == relation:
            found[pair[1 + position]].add(pair[2 - position])
    return found


def test_no_verb_and_no_adjective_loses_more_than_a_fifth_of_its_nouns():
    for verb, lost in partners("object", 0).items():
        possible = {n.german for v in WORDS.verbs if v.german == verb and v.frame != "about" for n in v.objects}
        assert len(lost) <= len(possible) / 5, verb
    for adjective, lost in partners("quality", 0).items():
        assert len(lost) <= len(WORDS.adjectives[adjective].fits) / 5, adjective


def described(word):
    """How many adjectives, or none, can stand before a noun in training."""
    fitting = [a for a in WORDS.adjectives.values() if word in a.fits]
    held_out = held_out_pairs()
    return 1 + sum(WordPair("quality", a.german, word.german) not in held_out for a in fitting)


def test_the_world_has_more_than_a_hundred_million_sentences():
    # Only "the (adjective) noun verbs the (adjective) noun." in the present, singular or plural, and only
    # what training may hold: every combination differs from every other in a German word or an ending.
    missing = held_out_cases()
    numbers = {word: 2 if word.plural else 1 for word in WORDS.nouns.values()}
    total = 0
    for verb in WORDS.verbs:
        if verb.frame != "object":
            continue
        doers = sum(
            described(n) * numbers[n] for n in verb.subjects if NounCase(n.german, "nominative") not in missing
        )
        done = sum(
            described(n) * numbers[n]
            for n in verb.objects
            if NounCase(n.german, "accusative") not in missing
            and WordPair("object", verb.german, n.german) not in held_out_pairs()
        )
        total += doers * done
    assert total > 100_000_000


def test_sentences_of_that_small_grammar_really_differ():
    subjects = [maker("Lehrer", "definite", *a) for maker in (noun, nouns) for a in ((), ("alt",), ("jung",))]
    objects = [maker("Fenster", "definite", *a) for maker in (noun, nouns) for a in ((), ("alt",), ("klein",))]
    told = {
        said(clause(verb, subject, object=thing))[0]
        for verb, subject, thing in product(("putzen", "aufmachen", "zumachen"), subjects, objects)
    }
    assert len(told) == 3 * 6 * 6


def test_the_tables_are_read_once_and_refer_to_their_own_nouns():
    assert lexicon() is lexicon() is WORDS
    known = set(WORDS.nouns.values())
    for verb in WORDS.verbs:
        assert {*verb.subjects, *verb.objects, *verb.targets} <= known
        assert (verb.governs is not None) == (verb.frame == "about")
    assert all(adjective.fits and set(adjective.fits) <= known for adjective in WORDS.adjectives.values())


def test_a_noun_has_the_classes_of_its_classes():
    assert {"person", "living"} <= WORDS.nouns["Frau"].classes
    assert WORDS.nouns["Frau"].sex == "f" and WORDS.nouns["Mann"].sex == "m" and WORDS.nouns["Hund"].sex is None


def test_prepositions_of_two_cases_take_the_dative_for_a_position_and_the_accusative_for_a_goal():
    for word in WORDS.nouns.values():
        assert all(each.case == "dative" for each in word.where)
        if word.whither and word.whither.german in ("in", "auf", "an"):
            assert word.whither.case == "accusative"
