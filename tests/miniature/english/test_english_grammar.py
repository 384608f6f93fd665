"""What English asks of a sentence, and that it says what the German says."""

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
    name,
    noun,
    nouns,
    relative,
    said,
    where,
)

from regard.miniature.english.clauses import in_english
from regard.miniature.english.morphology import comparative, forms_of, noun_form
from regard.miniature.english.phrases import noun_phrase
from regard.miniature.meaning import GAP
from regard.miniature.sampling.sentences import sample


def english(*arguments, **more):
    return said(*arguments, **more)[1]


def test_the_indefinite_article_goes_by_sound():
    phrases = [
        noun("Apfel", "indefinite"),
        noun("Universität", "indefinite"),
        noun("Antwort", "indefinite", "ehrlich"),
        noun("Hammer", "indefinite", "nützlich"),
        noun("Baum", "indefinite", "alt", degree=adverb("sehr")),
        noun("Stunde", "indefinite"),
    ]
    assert [noun_phrase(value) for value in phrases] == [
        "an apple", "a university", "an honest answer", "a useful hammer", "a very old tree", "an hour",
    ]  # fmt: skip


def test_plurals_are_spelled_by_rule_or_by_heart():
    plurals = {
        "Buch": "books", "Bus": "buses", "Schachtel": "boxes", "Kirche": "churches", "Junge": "boys",
        "Bibliothek": "libraries", "Kind": "children", "Maus": "mice", "Schaf": "sheep", "Messer": "knives",
        "Tomate": "tomatoes",
    }  # fmt: skip
    assert {german: noun_form(WORDS.nouns[german], "plural") for german in plurals} == plurals


def test_verbs_are_spelled_by_rule_or_by_heart():
    words = ["waschen", "weinen", "spielen", "gehen", "planen", "schwimmen", "liegen", "beginnen", "besuchen"]
    forms = [forms_of(WORDS.verb(german)) for german in words]
    assert [form.third for form in forms] == (
        ["washes", "cries", "plays", "goes", "plans", "swims", "lies", "begins", "visits"]
    )
    assert [form.past for form in forms] == (
        ["washed", "cried", "played", "went", "planned", "swam", "lay", "began", "visited"]
    )
    assert [form.gerund for form in forms] == (
        ["washing", "crying", "playing", "going", "planning", "swimming", "lying", "beginning", "visiting"]
    )


def test_adjectives_are_compared_with_an_ending_or_with_more():
    words = ["groß", "glücklich", "schön", "gut", "einfach", "interessant", "dünn"]
    assert [comparative(WORDS.adjectives[german]) for german in words] == [
        "bigger", "happier", "more beautiful", "better", "simpler", "more interesting", "thinner",
    ]  # fmt: skip


def test_possessors_that_live_take_an_apostrophe_and_houses_take_of():
    assert noun_phrase(noun("Hund", possessor=name("Anna"))) == "Anna's dog"
    assert noun_phrase(noun("Hund", "definite", "klein", possessor=noun("Lehrer"))) == "the teacher's small dog"
    assert noun_phrase(noun("Hund", possessor=nouns("Lehrer"))) == "the teachers' dog"
    assert noun_phrase(noun("Hund", possessor=nouns("Kind"))) == "the children's dog"
    assert noun_phrase(noun("Dach", possessor=noun("Haus"))) == "the roof of the house"


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({}, "The woman buys the hat."),
        ({"tense": "narrated"}, "The woman bought the hat."),
        ({"tense": "spoken"}, "The woman bought the hat."),
        ({"tense": "finished", "frequency": adverb("schon")}, "The woman has already bought the hat."),
        ({"tense": "finished", "frequency": adverb("noch nie")}, "The woman has never bought the hat."),
        ({"tense": "earlier"}, "The woman had bought the hat."),
        ({"tense": "future"}, "The woman will buy the hat."),
        ({"time": adverb("jetzt")}, "The woman is buying the hat now."),
        ({"time": adverb("jeden Tag")}, "The woman buys the hat every day."),
        ({"is_negated": True}, "The woman does not buy the hat."),
        ({"is_negated": True, "tense": "spoken"}, "The woman did not buy the hat."),
        ({"is_negated": True, "tense": "future"}, "The woman will not buy the hat."),
        ({"frequency": adverb("oft")}, "The woman often buys the hat."),
    ],
)
def test_tense_negation_and_adverbs_shape_the_verb_group(parts, words):
    assert english(clause("kaufen", noun("Frau"), object=noun("Hut"), **parts)) == words


@pytest.mark.parametrize(
    ("modal", "forms"),
    [
        ("können", ("can", "could", "cannot")),
        ("müssen", ("has to", "had to", "does not have to")),
        ("wollen", ("wants to", "wanted to", "does not want to")),
        ("dürfen", ("is allowed to", "was allowed to", "is not allowed to")),
        ("sollen", ("should", "should", "should not")),
        ("möchten", ("would like to", "would like to", "would not like to")),
        ("gern", ("likes to", "liked to", "does not like to")),
    ],
)
def test_each_modal_has_a_present_a_past_and_a_negation(modal, forms):
    parts = {"modal": WORDS.modals[modal]}
    told = [
        english(clause("tanzen", SHE, **parts)),
        english(clause("tanzen", SHE, **parts, tense="narrated")),
        english(clause("tanzen", SHE, **parts, is_negated=True)),
    ]
    assert told == [f"She {form} dance." for form in forms]


def test_what_is_denied_is_any_or_a():
    no = {"is_negated": True}
    assert english(clause("kaufen", HE, object=noun("Hut", "indefinite"), **no)) == "He does not buy a hat."
    assert english(clause("kaufen", HE, object=nouns("Hut", "indefinite"), **no)) == "He does not buy any hats."
    assert english(clause("trinken", HE, object=noun("Milch", "indefinite"), **no)) == "He does not drink any milk."
    assert english(clause("schlafen", noun("Hund", "no"))) == "No dog sleeps."


def test_relative_pronouns_tell_persons_from_things():
    def head(german, *arguments, **parts):
        return english(clause("sehen", HE, object=noun(german, relative=relative(*arguments, **parts))))

    assert head("Mann", "subject", "schlafen") == "He sees the man who sleeps."
    assert head("Hund", "subject", "schlafen") == "He sees the dog which sleeps."
    assert head("Mann", "object", "lieben", subject=ME) == "He sees the man whom I love."
    assert head("Mann", "recipient", "geben", subject=ME, object=noun("Ball")) == (
        "He sees the man to whom I give the ball."
    )
    assert head("Ball", "object", "geben", "recipient", subject=ME, recipient=noun("Mann")) == (
        "He sees the ball which I give to the man."
    )
    waiting = {"subject": ME, "complement": about("warten", GAP)}
    assert head("Bus", "complement", "warten", "about", **waiting) == "He sees the bus for which I wait."
    assert head("Frau", "possessor", "schlafen", subject=noun("Sohn", "whose")) == (
        "He sees the woman whose son sleeps."
    )


def test_fronted_clauses_take_a_comma_and_so_does_although():
    rain = clause("regnen", tense="narrated")
    stays = {"complement": where("Haus"), "tense": "narrated"}
    assert english(clause("bleiben", HE, **stays, circumstance=circumstance("weil", rain, is_first=True))) == (
        "Because it rained, he stayed in the house."
    )
    assert english(clause("bleiben", HE, **stays, circumstance=circumstance("weil", rain))) == (
        "He stayed in the house because it rained."
    )
    assert english(clause("bleiben", HE, **stays, circumstance=circumstance("obwohl", rain))) == (
        "He stayed in the house, although it rained."
    )


def test_english_fronts_times_and_stances_but_not_objects_and_places():
    feeds = {"object": noun("Hund"), "time": adverb("am Abend")}
    assert english(clause("füttern", HE, **feeds, front="time")) == "In the evening he feeds the dog."
    assert english(clause("füttern", HE, **feeds, front="object")) == "He feeds the dog in the evening."
    assert english(clause("schlafen", HE, place=where("Garten"), front="place")) == "He sleeps in the garden."
    assert english(clause("schlafen", HE, stance=adverb("leider"))) == "Unfortunately, he sleeps."
    assert english(clause("schlafen", HE, stance=adverb("vielleicht"))) == "Perhaps he sleeps."
    assert english(clause("schlafen", HE, stance=adverb("wahrscheinlich"))) == "He probably sleeps."


def test_pronouns_stand_inside_phrasal_verbs_and_nouns_behind_them():
    assert english(clause("abholen", SHE, object=ME)) == "She picks me up."
    assert english(clause("abholen", SHE, object=noun("Kind"))) == "She picks up the child."
    assert english(clause("vorlesen", SHE, object=noun("Buch"))) == "She reads the book aloud."
    assert english(clause("suchen", SHE, object=ME)) == "She looks for me."


def test_recipients_come_first_or_take_to():
    assert english(clause("geben", HE, object=noun("Ball"), recipient=noun("Kind"), frame="recipient")) == (
        "He gives the child the ball."
    )
    assert english(clause("erklären", HE, object=noun("Regel"), recipient=noun("Kind"), frame="recipient")) == (
        "He explains the rule to the child."
    )


def test_every_meaning_becomes_one_sentence_with_a_capital_and_a_stop():
    for seed in range(300):
        meaning = sample(Random(seed).random, seed % 4)
        text = in_english(meaning)
        assert text == in_english(meaning) and text[0].isupper() and text[-1] == ("?" if meaning.asked else ".")
        assert "  " not in text and " ," not in text and not set(text) & set("_*")
