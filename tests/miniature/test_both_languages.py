"""Sentences of every kind, the same in both languages."""

import pytest
from saying import (
    HE,
    ME,
    THEY,
    WORDS,
    YOU,
    about,
    adverb,
    circumstance,
    clause,
    content,
    name,
    noun,
    nouns,
    phrase,
    said,
    where,
    whither,
)

from regard.miniature.meaning import GAP, Ago, Clock, Coordination, Lasting, Pronoun, Quality


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (2, ("Er sieht zwei alte Bäume.", "He sees two old trees.")),
        (12, ("Er sieht zwölf alte Bäume.", "He sees twelve old trees.")),
        (21, ("Er sieht einundzwanzig alte Bäume.", "He sees twenty-one old trees.")),
        (76, ("Er sieht sechsundsiebzig alte Bäume.", "He sees seventy-six old trees.")),
        (100, ("Er sieht hundert alte Bäume.", "He sees a hundred old trees.")),
    ],
)
def test_numbers_are_words_in_both_languages(number, words):
    assert said(clause("sehen", HE, object=nouns("Baum", "indefinite", "alt", numeral=number))) == words


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ((clause("lesen", HE, object=noun("Buch")), "whether"),
         ("Liest er das Buch?", "Does he read the book?")),
        ((clause("lesen", HE, object=noun("Buch"), tense="spoken"), "whether"),
         ("Hat er das Buch gelesen?", "Did he read the book?")),
        ((clause("sein", HE, predicate=Quality(WORDS.adjectives["alt"])), "whether"),
         ("Ist er alt?", "Is he old?")),
        ((clause("lesen", GAP, object=noun("Buch")), "who"), ("Wer liest das Buch?", "Who reads the book?")),
        ((clause("sehen", noun("Frau"), object=GAP), "who"),
         ("Wen sieht die Frau?", "Who does the woman see?")),
        ((clause("helfen", noun("Frau"), object=GAP), "who"),
         ("Wem hilft die Frau?", "Who does the woman help?")),
        ((clause("kaufen", noun("Frau"), object=GAP, tense="spoken"), "what"),
         ("Was hat die Frau gekauft?", "What did the woman buy?")),
        ((clause("wohnen", YOU), "where"), ("Wo wohnst du?", "Where do you live?")),
        ((clause("ankommen", noun("Zug"), tense="future"), "when"),
         ("Wann wird der Zug ankommen?", "When will the train arrive?")),
        ((clause("lachen", THEY, "alone"), "why"), ("Warum lachen sie?", "Why do they laugh?")),
    ],
)  # fmt: skip
def test_questions_put_the_verb_first_and_english_adds_do(question, words):
    asked, kind = question
    assert said(asked, asked=kind) == words


def test_the_passive_makes_the_object_the_subject():
    bread = {"object": noun("Brot"), "is_passive": True}
    assert said(clause("kaufen", noun("Frau"), **bread, tense="narrated")) == (
        "Das Brot wurde von der Frau gekauft.", "The bread was bought by the woman.",
    )  # fmt: skip
    assert said(clause("kaufen", None, **bread)) == ("Das Brot wird gekauft.", "The bread is bought.")
    inner = clause("wegwerfen", None, object=nouns("Brief"), is_passive=True, tense="narrated")
    assert said(clause("wissen", HE, content=content("dass", inner))) == (
        "Er weiß, dass die Briefe weggeworfen wurden.", "He knows that the letters were thrown away.",
    )  # fmt: skip


def test_there_is_and_it_rains_have_subjects_of_their_own():
    dogs = {"object": nouns("Hund", "indefinite", numeral=2), "place": where("Garten")}
    assert said(clause("geben", None, "exist", **dogs)) == (
        "Es gibt im Garten zwei Hunde.", "There are two dogs in the garden.",
    )  # fmt: skip
    one = {"object": noun("Hund", "indefinite"), "place": where("Garten"), "tense": "narrated"}
    inner = clause("geben", None, "exist", **one)
    assert said(clause("sagen", HE, content=content("dass", inner))) == (
        "Er sagt, dass es im Garten einen Hund gab.", "He says that there was a dog in the garden.",
    )  # fmt: skip
    assert said(clause("regnen")) == ("Es regnet.", "It is raining.")
    rain = circumstance("wenn", clause("regnen"))
    assert said(clause("lachen", HE, "alone", circumstance=rain)) == (
        "Er lacht, wenn es regnet.", "He laughs when it rains.",
    )  # fmt: skip


def test_qualities_are_compared():
    bigger = Quality(WORDS.adjectives["groß"], comparison="more", standard=noun("Katze"))
    equal = Quality(WORDS.adjectives["groß"], comparison="equal", standard=noun("Katze"))
    assert said(clause("sein", noun("Hund"), predicate=bigger)) == (
        "Der Hund ist größer als die Katze.", "The dog is bigger than the cat.",
    )  # fmt: skip
    assert said(clause("sein", noun("Hund"), predicate=equal, tense="future")) == (
        "Der Hund wird so groß sein wie die Katze.", "The dog will be as big as the cat.",
    )  # fmt: skip


def test_again_comes_after_what_the_verb_governs():
    again = {"complement": about("warten", ME), "manner": adverb("wieder")}
    assert said(clause("warten", HE, "about", **again)) == (
        "Er wartet wieder auf mich.",
        "He waits for me again.",
    )


def test_verbs_that_english_says_with_be_need_no_do():
    novel = {"complement": about("sich interessieren", noun("Roman"))}
    assert said(clause("sich interessieren", HE, **novel, is_negated=True)) == (
        "Er interessiert sich nicht für den Roman.", "He is not interested in the novel.",
    )  # fmt: skip


def test_a_pronoun_that_points_back_has_german_gender_and_english_sex():
    dog, girl = WORDS.nouns["Hund"], WORDS.nouns["Mädchen"]
    tired = Quality(WORDS.adjectives["müde"])
    it = circumstance("weil", clause("sein", Pronoun("it", "m", dog), predicate=tired))
    she = circumstance("weil", clause("sein", Pronoun("she", "n", girl), predicate=tired))
    assert said(clause("schlafen", noun("Hund"), circumstance=it)) == (
        "Der Hund schläft, weil er müde ist.", "The dog sleeps because it is tired.",
    )  # fmt: skip
    assert said(clause("schlafen", noun("Mädchen"), circumstance=she)) == (
        "Das Mädchen schläft, weil es müde ist.", "The girl sleeps because she is tired.",
    )  # fmt: skip


def test_times_and_goals_are_said_in_both_languages():
    days, hour = WORDS.nouns["Tag"], WORDS.nouns["Stunde"]
    sleep = {"tense": "narrated"}
    assert said(clause("schlafen", HE, **sleep, time=Ago(3, days))) == (
        "Er schlief vor drei Tagen.", "He slept three days ago.",
    )  # fmt: skip
    assert said(clause("schlafen", HE, **sleep, time=Lasting(1, hour))) == (
        "Er schlief eine Stunde lang.", "He slept for an hour.",
    )  # fmt: skip
    assert said(clause("schlafen", HE, time=Clock(1))) == (
        "Er schläft um ein Uhr.",
        "He sleeps at one o'clock.",
    )
    during = phrase("occasion", noun("Konzert"), "während")
    assert said(clause("schlafen", HE, time=during)) == (
        "Er schläft während des Konzerts.", "He sleeps during the concert.",
    )  # fmt: skip
    home = {"complement": adverb("nach Hause"), "manner": adverb("vorsichtig")}
    assert said(clause("fahren", HE, **home)) == (
        "Er fährt vorsichtig nach Hause.",
        "He drives home carefully.",
    )
    station = {"complement": whither("Bahnhof"), "manner": adverb("vorsichtig")}
    assert said(clause("fahren", HE, **station)) == (
        "Er fährt vorsichtig zum Bahnhof.", "He drives carefully to the train station.",
    )  # fmt: skip
    train = phrase("means", noun("Zug"))
    assert said(clause("reisen", HE, complement=phrase("destination", name("Wien")), company=train)) == (
        "Er reist mit dem Zug nach Wien.", "He travels to Vienna by train.",
    )  # fmt: skip


def test_two_subjects_are_one_plural():
    both = Coordination(name("Anna"), noun("Mann"))
    assert said(clause("schlafen", both)) == ("Anna und der Mann schlafen.", "Anna and the man sleep.")
