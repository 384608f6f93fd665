"""What German asks of a phrase: gender, number, case and contraction."""

import pytest
from saying import (
    HE,
    WORDS,
    about,
    adverb,
    clause,
    name,
    noun,
    nouns,
    relative,
    said,
    where,
    whither,
)

from regard.miniature.german.morphology import CASES
from regard.miniature.german.phrases import noun_phrase
from regard.miniature.meaning import Quality


def declined(value):
    return " | ".join(noun_phrase(value, case) for case in CASES)


def quality(word):
    return Quality(WORDS.adjectives[word])


def german(*arguments, **more):
    return said(*arguments, **more)[0]


@pytest.mark.parametrize(
    ("value", "forms"),
    [
        (noun("Hund", "definite", "klein"),
         "der kleine Hund | den kleinen Hund | dem kleinen Hund | des kleinen Hundes"),
        (noun("Katze", "definite", "klein"),
         "die kleine Katze | die kleine Katze | der kleinen Katze | der kleinen Katze"),
        (noun("Pferd", "definite", "klein"),
         "das kleine Pferd | das kleine Pferd | dem kleinen Pferd | des kleinen Pferdes"),
        (nouns("Hund", "definite", "klein"),
         "die kleinen Hunde | die kleinen Hunde | den kleinen Hunden | der kleinen Hunde"),
        (noun("Hund", "indefinite", "klein"),
         "ein kleiner Hund | einen kleinen Hund | einem kleinen Hund | eines kleinen Hundes"),
        (noun("Katze", "my", "klein"),
         "meine kleine Katze | meine kleine Katze | meiner kleinen Katze | meiner kleinen Katze"),
        (noun("Pferd", "our", "klein"),
         "unser kleines Pferd | unser kleines Pferd | unserem kleinen Pferd | unseres kleinen Pferdes"),
        (nouns("Pferd", "her", "klein"),
         "ihre kleinen Pferde | ihre kleinen Pferde | ihren kleinen Pferden | ihrer kleinen Pferde"),
        (noun("Käse", "indefinite", "hart"), "harter Käse | harten Käse | hartem Käse | harten Käses"),
        (noun("Milch", "indefinite", "kalt"), "kalte Milch | kalte Milch | kalter Milch | kalter Milch"),
        (nouns("Buch", "many", "alt"),
         "viele alte Bücher | viele alte Bücher | vielen alten Büchern | vieler alter Bücher"),
        (noun("Berg", "demonstrative", "hoch"),
         "dieser hohe Berg | diesen hohen Berg | diesem hohen Berg | dieses hohen Berges"),
        (noun("Auto", "each", "teuer"),
         "jedes teure Auto | jedes teure Auto | jedem teuren Auto | jedes teuren Autos"),
    ],
)  # fmt: skip
def test_adjectives_end_as_the_determiner_gender_number_and_case_ask(value, forms):
    assert declined(value) == forms


def test_weak_nouns_end_in_n_everywhere_but_in_the_nominative():
    assert declined(noun("Student")) == "der Student | den Studenten | dem Studenten | des Studenten"
    assert declined(noun("Herr")) == "der Herr | den Herrn | dem Herrn | des Herrn"
    assert declined(nouns("Herr")) == "die Herren | die Herren | den Herren | der Herren"


def test_the_dative_plural_ends_in_n_unless_the_plural_ends_in_n_or_s():
    assert noun_phrase(nouns("Vater"), "dative") == "den Vätern"
    assert noun_phrase(nouns("Frau"), "dative") == "den Frauen"
    assert noun_phrase(nouns("Auto"), "dative") == "den Autos"
    assert noun_phrase(nouns("Mädchen"), "dative") == "den Mädchen"


def test_a_second_adjective_and_a_degree_stand_before_the_noun():
    assert noun_phrase(noun("Hut", "indefinite", "alt", "rot"), "accusative") == "einen alten roten Hut"
    very = noun("Baum", "indefinite", "alt", degree=adverb("sehr"))
    assert noun_phrase(very, "nominative") == "ein sehr alter Baum"


def test_prepositions_take_in_the_article_unless_a_relative_clause_follows():
    assert german(clause("wohnen", HE, complement=where("Haus"))) == "Er wohnt im Haus."
    assert german(clause("gehen", HE, complement=whither("Schule"))) == "Er geht in die Schule."
    assert german(clause("gehen", HE, complement=whither("Museum"))) == "Er geht ins Museum."
    assert german(clause("gehen", HE, complement=whither("Bahnhof"))) == "Er geht zum Bahnhof."
    assert german(clause("gehen", HE, complement=whither("Universität"))) == "Er geht zur Universität."
    assert german(clause("sitzen", HE, complement=where("Strand"))) == "Er sitzt am Strand."
    assert german(clause("träumen", HE, complement=about("träumen", noun("Schiff")))) == "Er träumt vom Schiff."
    old = relative("subject", "sein", predicate=quality("alt"))
    assert german(clause("wohnen", HE, complement=where("Haus", relative=old))) == (
        "Er wohnt in dem Haus, das alt ist."
    )


def test_names_and_noun_phrases_stand_in_the_genitive():
    dog = noun("Hund", "definite", "klein", possessor=name("Anna"))
    assert german(clause("schlafen", dog)) == "Annas kleiner Hund schläft."
    assert german(clause("sehen", HE, object=dog)) == "Er sieht Annas kleinen Hund."
    teacher = noun("Hund", possessor=noun("Lehrer", "definite", "alt"))
    assert german(clause("schlafen", teacher)) == "Der Hund des alten Lehrers schläft."
    assert german(clause("schlafen", noun("Hund", possessor=nouns("Lehrer")))) == "Der Hund der Lehrer schläft."
