"""What German asks of a sentence: agreement, cases, verb order and commas."""

from random import Random

import pytest
from saying import (
    HE,
    ME,
    SHE,
    WORDS,
    about,
    adverb,
    circumstance,
    clause,
    content,
    noun,
    nouns,
    phrase,
    relative,
    said,
    where,
    whither,
)

from regard.miniature.german.clauses import in_german
from regard.miniature.german.morphology import forms_of
from regard.miniature.meaning import Pronoun, Quality
from regard.miniature.sampling.sentences import sample


def quality(word):
    return Quality(WORDS.adjectives[word])


def german(*arguments, **more):
    return said(*arguments, **more)[0]


def test_separable_verbs_part_in_main_clauses_and_join_everywhere_else():
    door = noun("Tür")
    assert german(clause("aufmachen", SHE, object=door)) == "Sie macht die Tür auf."
    assert german(clause("aufmachen", SHE, object=door, tense="spoken")) == "Sie hat die Tür aufgemacht."
    assert german(clause("aufmachen", SHE, object=door, tense="future")) == "Sie wird die Tür aufmachen."
    inner = clause("aufmachen", SHE, object=door)
    assert german(clause("sagen", HE, content=content("dass", inner))) == "Er sagt, dass sie die Tür aufmacht."
    prepared = forms_of(WORDS.verb("vorbereiten"))
    assert (prepared.participle, prepared.infinitive) == ("vorbereitet", "vorbereiten")


def test_the_finite_verb_comes_second_whatever_comes_first():
    parts = {"object": noun("Hund"), "time": adverb("heute")}
    child = noun("Kind")
    assert german(clause("füttern", child, **parts)) == "Das Kind füttert heute den Hund."
    assert german(clause("füttern", child, **parts, front="time")) == "Heute füttert das Kind den Hund."
    assert german(clause("füttern", child, **parts, front="object")) == "Den Hund füttert das Kind heute."
    assert german(clause("helfen", child, object=noun("Frau"), front="object")) == "Der Frau hilft das Kind."
    given = clause("geben", child, object=noun("Ball", "indefinite"), recipient=noun("Mann"), front="recipient")
    assert german(given) == "Dem Mann gibt das Kind einen Ball."
    placed = clause("schlafen", noun("Katze"), place=where("Garten"), front="place")
    assert german(placed) == "Im Garten schläft die Katze."
    unlucky = clause("schlafen", noun("Katze"), stance=adverb("leider"), front="stance")
    assert german(unlucky) == "Leider schläft die Katze."


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"tense": "present"}, "das Buch liest"),
        ({"tense": "narrated"}, "das Buch las"),
        ({"tense": "spoken"}, "das Buch gelesen hat"),
        ({"tense": "earlier"}, "das Buch gelesen hatte"),
        ({"tense": "future"}, "das Buch lesen wird"),
        ({"modal": WORDS.modals["müssen"]}, "das Buch lesen muss"),
        ({"modal": WORDS.modals["wollen"], "tense": "narrated"}, "das Buch lesen wollte"),
    ],
)
def test_subordinate_clauses_end_with_the_finite_verb_behind_the_others(parts, words):
    inner = clause("lesen", noun("Mann"), object=noun("Buch"), **parts)
    for conjunction in ("dass", "ob"):
        told = german(clause("wissen", SHE, content=content(conjunction, inner)))
        assert told == f"Sie weiß, {conjunction} der Mann {words}."
    for conjunction in (
        "weil",
        "wenn",
        "obwohl",
        "bevor",
        "nachdem",
        "während",
        "falls",
        "sobald",
        "bis",
        "damit",
    ):
        told = german(clause("lachen", SHE, circumstance=circumstance(conjunction, inner)))
        assert told == f"Sie lacht, {conjunction} der Mann {words}."


def test_the_perfect_takes_haben_or_sein():
    assert german(clause("schlafen", HE, tense="spoken")) == "Er hat geschlafen."
    assert german(clause("einschlafen", HE, tense="spoken")) == "Er ist eingeschlafen."
    assert german(clause("einschlafen", HE, tense="earlier")) == "Er war eingeschlafen."


@pytest.mark.parametrize(
    ("subject", "present", "past"),
    [
        (ME, "Ich schlafe.", "Ich schlief."),
        (Pronoun("you"), "Du schläfst.", "Du schliefst."),
        (HE, "Er schläft.", "Er schlief."),
        (Pronoun("we"), "Wir schlafen.", "Wir schliefen."),
        (nouns("Kind"), "Die Kinder schlafen.", "Die Kinder schliefen."),
    ],
)
def test_verbs_agree_with_their_subject(subject, present, past):
    assert german(clause("schlafen", subject)) == present
    assert german(clause("schlafen", subject, tense="narrated")) == past


@pytest.mark.parametrize(
    ("modal", "present", "past"),
    [
        ("können", "Du kannst tanzen.", "Du konntest tanzen."),
        ("müssen", "Du musst tanzen.", "Du musstest tanzen."),
        ("wollen", "Du willst tanzen.", "Du wolltest tanzen."),
        ("dürfen", "Du darfst tanzen.", "Du durftest tanzen."),
        ("sollen", "Du solltest tanzen.", "Du solltest tanzen."),
        ("möchten", "Du möchtest tanzen.", None),
        ("gern", "Du tanzt gern.", "Du tanztest gern."),
    ],
)
def test_modals_send_the_infinitive_to_the_end(modal, present, past):
    parts = {"modal": WORDS.modals[modal]}
    assert german(clause("tanzen", Pronoun("you"), **parts)) == present
    if past:
        assert german(clause("tanzen", Pronoun("you"), **parts, tense="narrated")) == past


def test_nicht_follows_known_objects_and_times_and_precedes_the_rest():
    no = {"is_negated": True}
    assert german(clause("kaufen", HE, object=noun("Buch"), time=adverb("heute"), **no)) == (
        "Er kauft das Buch heute nicht."
    )
    assert german(clause("kaufen", HE, object=noun("Buch"), tense="spoken", **no)) == "Er hat das Buch nicht gekauft."
    assert german(clause("aufmachen", HE, object=noun("Tür"), **no)) == "Er macht die Tür nicht auf."
    assert german(clause("wohnen", HE, complement=where("Haus"), **no)) == "Er wohnt nicht im Haus."
    assert german(clause("sein", HE, predicate=quality("müde"), **no)) == "Er ist nicht müde."
    assert german(clause("warten", HE, "about", complement=about("warten", noun("Bus")), **no)) == (
        "Er wartet nicht auf den Bus."
    )


def test_kein_denies_what_is_indefinite():
    no = {"is_negated": True}
    assert german(clause("kaufen", HE, object=noun("Hut", "indefinite"), **no)) == "Er kauft keinen Hut."
    assert german(clause("kaufen", HE, object=nouns("Buch", "indefinite"), **no)) == "Er kauft keine Bücher."
    assert german(clause("trinken", HE, object=noun("Milch", "indefinite"), **no)) == "Er trinkt keine Milch."
    assert german(clause("sein", HE, predicate=noun("Arzt", "indefinite", "gut"), **no)) == "Er ist kein guter Arzt."
    assert german(clause("schlafen", noun("Hund", "no"))) == "Kein Hund schläft."


def test_relative_pronouns_take_the_gender_of_the_noun_and_the_case_of_the_gap():
    def about_it(value, *arguments, **parts):
        head = noun(value, relative=relative(*arguments, **parts))
        return german(clause("sein", head, predicate=quality("alt")))

    assert about_it("Mann", "subject", "schlafen") == "Der Mann, der schläft, ist alt."
    assert about_it("Mann", "object", "sehen", subject=noun("Frau")) == "Der Mann, den die Frau sieht, ist alt."
    assert about_it("Frau", "object", "helfen", subject=ME) == "Die Frau, der ich helfe, ist alt."
    assert about_it("Kind", "recipient", "geben", subject=ME, object=noun("Ball")) == (
        "Das Kind, dem ich den Ball gebe, ist alt."
    )
    gap = {"complement": about("warten", relative("subject", "schlafen").clause.subject)}
    assert about_it("Bus", "complement", "warten", "about", subject=ME, **gap) == (
        "Der Bus, auf den ich warte, ist alt."
    )
    sister = noun("Schwester", "whose")
    assert about_it("Mann", "possessor", "schlafen", subject=sister) == (
        "Der Mann, dessen Schwester schläft, ist alt."
    )
    assert about_it("Frau", "possessor", "schlafen", subject=sister) == (
        "Die Frau, deren Schwester schläft, ist alt."
    )
    dogs = nouns("Hund", relative=relative("object", "helfen", subject=ME))
    assert german(clause("schlafen", dogs)) == "Die Hunde, denen ich helfe, schlafen."


def test_a_relative_clause_moves_behind_the_verb_that_closes_the_clause():
    dog = noun("Hund", relative=relative("subject", "schlafen", tense="narrated"))
    assert german(clause("sehen", HE, object=dog, tense="spoken")) == "Er hat den Hund gesehen, der schlief."
    assert german(clause("anschauen", HE, object=dog)) == "Er schaut den Hund an, der schlief."
    reason = circumstance("weil", clause("sehen", HE, object=dog))
    assert german(clause("lachen", SHE, circumstance=reason)) == "Sie lacht, weil er den Hund sieht, der schlief."


def test_clauses_before_the_verb_end_with_a_comma():
    inner = clause("sagen", noun("Mann"), content=content("dass", clause("regnen")))
    reason = circumstance("weil", inner, is_first=True)
    assert german(clause("lachen", noun("Frau"), circumstance=reason)) == (
        "Weil der Mann sagt, dass es regnet, lacht die Frau."
    )


def test_main_clauses_are_joined_with_a_comma_but_not_before_und():
    first, second = clause("schlafen", noun("Hund")), clause("spielen", noun("Katze"), "alone")
    joined = {
        j: german(first, joint=WORDS.conjunctions[j], second=second) for j in ("und", "aber", "denn", "deshalb")
    }
    assert joined == {
        "und": "Der Hund schläft und die Katze spielt.",
        "aber": "Der Hund schläft, aber die Katze spielt.",
        "denn": "Der Hund schläft, denn die Katze spielt.",
        "deshalb": "Der Hund schläft, deshalb spielt die Katze.",
    }
    told = clause("sagen", HE, content=content("dass", first))
    assert german(told, joint=WORDS.conjunctions["und"], second=second) == (
        "Er sagt, dass der Hund schläft, und die Katze spielt."
    )


def test_pronouns_come_before_a_subject_that_is_not_one():
    visit = {"object": ME, "time": adverb("heute"), "front": "time"}
    assert german(clause("besuchen", noun("Arzt"), **visit)) == "Heute besucht mich der Arzt."
    assert german(clause("besuchen", HE, **visit)) == "Heute besucht er mich."
    assert german(clause("sich beeilen", noun("Arzt"), time=adverb("heute"), front="time")) == (
        "Heute beeilt sich der Arzt."
    )
    assert german(clause("sich beeilen", ME)) == "Ich beeile mich."
    hurry = clause("sich beeilen", noun("Arzt"))
    assert german(clause("sagen", SHE, content=content("dass", hurry))) == "Sie sagt, dass der Arzt sich beeilt."


def test_circumstances_stand_in_the_order_time_cause_manner_place():
    long = clause(
        "arbeiten", noun("Gärtner"), "alone", time=adverb("am Abend"), manner=adverb("fleißig"),
        cause=phrase("cause", noun("Regen"), "trotz"), place=where("Garten"),
    )  # fmt: skip
    assert german(long) == "Der Gärtner arbeitet am Abend trotz des Regens fleißig im Garten."


def test_what_a_verb_governs_stands_behind_the_place_and_where_it_leads_stands_last():
    waits = {"complement": about("warten", noun("Freund")), "place": where("Garten")}
    assert german(clause("warten", HE, "about", **waits)) == "Er wartet im Garten auf den Freund."
    friend = phrase("company", noun("Freund"), "mit")
    assert german(clause("gehen", HE, complement=whither("Park"), company=friend)) == (
        "Er geht mit dem Freund in den Park."
    )


def test_every_meaning_becomes_one_sentence_whose_clauses_are_closed_by_commas():
    for seed in range(300):
        meaning = sample(Random(seed).random, seed % 4)
        text = in_german(meaning)
        assert text == in_german(meaning) and text[0].isupper() and text[-1] == ("?" if meaning.asked else ".")
        assert "  " not in text and ",," not in text and " ," not in text
        assert seed % 4 == 0 or "," in text  # every subordinate clause is set off
