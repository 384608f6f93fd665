"""Clauses that are drawn fill the roles of their verbs, nest as deep as asked for, and can be said."""

from dataclasses import replace
from random import Random

import pytest
from saying import HE, ME, SHE, WORDS, circumstance, clause, name, noun, nouns, relative

from regard.miniature.meaning import GAP, Coordination, Meaning, NounPhrase, PrepositionalPhrase, Pronoun
from regard.miniature.measures import depth
from regard.miniature.sampling.choices import verbs_of
from regard.miniature.sampling.circumstances import add_circumstances, is_liking, is_open, is_state
from regard.miniature.sampling.clauses import simple_clause
from regard.miniature.sampling.links import LINKS, LINKS_FROM, Link, check
from regard.miniature.sampling.nesting import nested
from regard.miniature.sampling.reference import mentioned, pronoun_for, same_subject
from regard.miniature.sampling.relatives import with_relative
from regard.miniature.sampling.roles import DEEDS, FRAMES, fill
from regard.miniature.sampling.sentences import sample
from regard.miniature.sampling.setting import Setting, Unsayable, actor_of, choose_verb, period_of, subject_for

FILLED = {
    "object": ("subject", "object"),
    "dative": ("subject", "object"),
    "recipient": ("subject", "recipient", "object"),
    "put": ("subject", "object", "complement"),
    "about": ("subject", "complement"),
    "motion": ("subject", "complement"),
    "position": ("subject", "complement"),
    "alone": ("subject",),
    "copula": ("subject", "predicate"),
    "exist": ("object", "place"),
}


def drawn(make, count=40):
    """What a function draws for so many seeds, Unsayable left out; most of it must be there."""
    results = []
    for seed in range(count):
        try:
            results.append(make(Random(seed).random))
        except Unsayable:
            continue
    assert len(results) > count // 10
    return results


@pytest.mark.parametrize("frame", list(FILLED))
def test_every_role_of_a_verb_is_filled_and_given_ones_stay(frame):
    def filled(draw):
        parts = {"verb": verbs_of(frame)(draw)}
        fill(draw, parts, Setting())
        return parts

    for parts in drawn(filled):
        expected = [role for role in FILLED[frame] if not (role == "subject" and parts.get("is_passive"))]
        assert all(parts.get(role) is not None for role in expected)
        if frame in ("motion", "position", "about"):
            phrase = parts["complement"]
            assert not isinstance(phrase, PrepositionalPhrase) or phrase.nominal is not None
    if frame == "object":
        given = noun("Hund")

        def with_object(draw):
            parts = {"verb": WORDS.verb("sehen"), "object": given}
            fill(draw, parts, Setting())
            return parts

        assert all(parts["object"] is given for parts in drawn(with_object))


def test_all_frames_can_be_drawn():
    assert set(DEEDS.items) <= set(FRAMES.items) and set(FRAMES.items) - {"weather"} == FILLED.keys()


@pytest.mark.parametrize("tense", ["present", "past", "future"])
def test_a_simple_clause_is_of_its_period_and_keeps_its_parts(tense):
    setting = Setting(tense=tense, is_main=True, is_alone=True)
    for made in drawn(lambda draw: simple_clause(draw, {"verb": WORDS.verb("suchen"), "subject": ME}, setting)):
        assert made.verb is WORDS.verb("suchen") and made.subject is ME
        assert period_of(made.tense) == tense or made.tense == "finished"
        assert not (made.is_negated and made.frequency) and (made.front != "time" or made.time is not None)
        assert depth(Meaning(made)) == 0


def test_a_plain_clause_ends_with_its_last_role():
    setting = Setting(is_main=True, is_plain=True)
    for made in drawn(lambda draw: simple_clause(draw, {"verb": WORDS.verb("suchen")}, setting)):
        assert made.place is made.manner is made.company is made.cause is None
        assert made.time is None or made.front == "time"


def test_a_negated_clause_gets_no_manner_frequency_company_or_cause():
    def made(draw):
        parts = {"verb": WORDS.verb("suchen"), "subject": ME, "object": noun("Hund"), "tense": "narrated"}
        parts["is_negated"] = True
        add_circumstances(draw, parts, Setting(tense="past", is_main=True))
        return parts

    results = drawn(made, 200)
    assert not any(parts.keys() & {"manner", "frequency", "company", "cause", "stance"} for parts in results)
    assert any("place" in parts for parts in results) and any("time" in parts for parts in results)


def test_states_likings_and_subjects_that_close_a_negation_are_known():
    assert is_state(WORDS.verb("wissen")) and not is_state(WORDS.verb("gehen"))
    assert is_liking({"modal": WORDS.modals["gern"]}) and not is_liking({"modal": WORDS.modals["wollen"]})
    assert (
        is_open(noun("Hund"))
        and is_open(ME)
        and not is_open(nouns("Hund", "many"))
        and not is_open(noun("Hund", "no"))
    )


@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_clauses_nest_exactly_as_deep_as_asked_for(level):
    setting = Setting(is_main=True, richness=0.7)
    for made in drawn(lambda draw: nested(draw, {}, setting, level), 60):
        assert depth(Meaning(made)) == level


@pytest.mark.parametrize("level", [0, 1, 2])
def test_meanings_are_always_the_same_for_a_draw_and_of_their_depth(level):
    for seed in range(60):
        meaning = sample(Random(seed).random, level)
        assert meaning == sample(Random(seed).random, level) and depth(meaning) == level
        if meaning.asked == "where":
            assert meaning.clause.place is None and meaning.clause.complement is None
        if meaning.asked == "when":
            assert meaning.clause.time is None and meaning.clause.frequency is None
        if meaning.asked in ("who", "what"):
            assert GAP in (meaning.clause.subject, meaning.clause.object)


def test_a_relative_clause_has_one_gap_and_hangs_on_what_needs_it():
    setting = Setting(is_main=True, richness=0.7)
    for made in drawn(lambda draw: with_relative(draw, {}, setting, 1, nested), 150):
        slots = [made.subject, made.object, made.recipient, made.complement]
        phrases = [each.nominal if isinstance(each, PrepositionalPhrase) else each for each in slots]
        (head,) = [each for each in phrases if isinstance(each, NounPhrase) and each.relative]
        assert head.possessor is None and "unique" not in head.noun.classes
        inner = head.relative.clause
        if head.relative.role != "possessor":
            complement = inner.complement.nominal if isinstance(inner.complement, PrepositionalPhrase) else None
            assert [inner.subject, inner.object, inner.recipient, complement].count(GAP) == 1
        else:
            assert inner.subject.determiner == "whose"
        assert inner.verb is not made.verb


def test_links_are_grouped_by_the_tense_they_hang_on():
    for outer, choice in LINKS_FROM.items():
        assert set(choice.items) == {link for link in LINKS.items if link.outer == outer}


SENSELESS = {
    "the same twice": ("weil", {}, clause("schlafen", HE)),
    "a state has no moment": ("bevor", {}, clause("wissen", HE)),
    "only what lasts": ("bis", {"verb": WORDS.verb("finden"), "object": noun("Buch")}, clause("singen", HE)),
    "one reason is enough": (
        "weil",
        {"cause": PrepositionalPhrase(WORDS.preposition("cause"), noun("Regen"))},
        clause("singen", HE),
    ),
    "finished": ("weil", {"tense": "finished"}, clause("singen", HE)),
    "nobody's purpose": ("damit", {"is_negated": True}, clause("singen", HE)),
    "the same conjunction inside": (
        "weil",
        {},
        clause("singen", HE, circumstance=circumstance("weil", clause("lachen", HE))),
    ),
}


@pytest.mark.parametrize("case", list(SENSELESS))
def test_clauses_that_make_no_sense_together_are_refused(case):
    conjunction, changes, inner = SENSELESS[case]
    link = Link(conjunction, "present", "present")
    with pytest.raises(Unsayable):
        check(link, replace(clause("schlafen", SHE), **changes), inner)
    check(Link("weil", "present", "present"), clause("schlafen", SHE), clause("singen", HE))


def test_a_pronoun_points_back_only_where_it_is_clear():
    woman, aunt, man, book = noun("Frau"), noun("Tante"), noun("Mann"), noun("Buch")
    assert pronoun_for(woman, [woman, man]) == Pronoun("she", "f", woman.noun)
    assert pronoun_for(woman, [aunt]) == Pronoun("she", "f", woman.noun)  # the same word would stand for her
    assert pronoun_for(woman, [nouns("Hund")]) is not None
    assert pronoun_for(nouns("Hund"), [woman]) is not None
    assert pronoun_for(noun("Frau", "no"), []) is None and pronoun_for(None, []) is None
    assert pronoun_for(book, [noun("Kind")]) is None  # German says "es" for both
    assert pronoun_for(Coordination(woman, man), []) == Pronoun("they")


def test_everybody_that_a_pronoun_could_mean_is_mentioned():
    seen = replace(noun("Frau"), relative=relative("subject", "lieben", object=noun("Hund")))
    inner = clause("singen", name("Anna"))
    outer = clause("sehen", noun("Mann"), object=seen, circumstance=circumstance("weil", inner))
    values = list(mentioned(outer))
    assert [value for value in values if value is not GAP] == [noun("Mann"), seen, noun("Hund"), name("Anna")]
    assert same_subject(inner, ()) == Pronoun("she", "f")


def test_tenses_are_of_a_period_and_subjects_have_a_noun_to_choose_verbs_for():
    assert [period_of(tense) for tense in ("narrated", "spoken", "earlier")] == ["past"] * 3
    assert [period_of(tense) for tense in ("present", "finished", "future")] == ["present", "present", "future"]
    assert actor_of(noun("Hund"), None) is WORDS.nouns["Hund"] and actor_of(ME, None) is WORDS.nouns["Mann"]
    assert actor_of(GAP, noun("Katze")) is WORDS.nouns["Katze"] and actor_of(None, noun("Katze")) is None


def test_verbs_and_subjects_are_chosen_to_go_together():
    for german in ("Hund", "Frau", "Auto", "Apfel"):
        word = WORDS.nouns[german]
        for verb in drawn(lambda draw, word=word: choose_verb(draw, DEEDS, word)):
            assert word in verb.subjects or verb is WORDS.verb("sein")
        for subject in drawn(lambda draw, word=word: subject_for(draw, word, Setting())):
            assert not isinstance(subject, NounPhrase) or (subject.noun is word and subject.determiner != "no")
