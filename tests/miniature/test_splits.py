"""The splits: what they hold, what they keep from each other, and that they never change."""

import hashlib
import re
from collections import Counter
from itertools import islice

import pytest
from saying import WORDS

from regard.errors import DataError
from regard.miniature import depth, held_out_cases, held_out_pairs, noun_cases, word_pairs
from regard.miniature.german.morphology import noun_forms
from regard.miniature.holdout import possible_pairs
from regard.miniature.measures import parts_of
from regard.miniature.splits import SPLITS, TranslationPair, generate, pairs, sentences

UNSEEN = ["unseen-pairs", "unseen-cases", "unseen-depth"]


def first(split, count, seed=0):
    return list(islice(sentences(split, seed), count))


def test_the_first_training_pairs_never_change():
    # Change this number only together with the grammar or the lexicon, and say so in the changelog.
    text = "".join(f"{pair.source}\t{pair.target}\n" for pair in pairs("train", 200))
    assert (
        hashlib.sha256(text.encode()).hexdigest()
        == "4834ecffdea177bcd783950b8ce4200b87f1ae20fb9e37ddd80e34e19ae2af46"
    )


def test_fewer_pairs_are_the_beginning_of_more():
    for split in SPLITS:
        assert pairs(split, 5, seed=3) == pairs(split, 20, seed=3)[:5]
    assert pairs("train", 20, seed=3) != pairs("train", 20, seed=4)


def test_pairs_are_german_and_english():
    assert next(generate("train")) == TranslationPair(*first("train", 1)[0][1:])
    assert len(pairs("unseen-depth")) == SPLITS["unseen-depth"].size == 500


@pytest.mark.parametrize("split", list(SPLITS))
def test_no_split_repeats_a_german_sentence(split):
    found = [sentence.german for sentence in first(split, 100)]
    assert len(set(found)) == 100


def test_splits_share_no_sentence_on_either_side_whatever_the_seed(training):
    trained = {side for sentence in training for side in sentence[1:]}
    counts = {"valid": 120, "test": 120, "unseen-pairs": 200, "unseen-cases": 300, "unseen-depth": 400}
    seen = {split: set() for split in counts}
    for split, count in counts.items():
        for seed in (0, 5):
            seen[split] |= {side for sentence in first(split, count, seed) for side in sentence[1:]}
        assert not seen[split] & trained, split
    for split in counts:
        others = set().union(*(seen[other] for other in counts if other != split))
        assert not seen[split] & others, split


def test_training_holds_no_held_out_pair_case_or_depth(training):
    for sentence in training:
        assert held_out_pairs().isdisjoint(word_pairs(sentence.meaning))
        assert held_out_cases().isdisjoint(noun_cases(sentence.meaning))
        assert depth(sentence.meaning) <= 2


@pytest.mark.parametrize("split", ["valid", "test", *UNSEEN])
def test_each_split_holds_what_its_name_says_and_nothing_else_that_is_new(split):
    for sentence in first(split, 100):
        has_pair = not held_out_pairs().isdisjoint(word_pairs(sentence.meaning))
        has_case = not held_out_cases().isdisjoint(noun_cases(sentence.meaning))
        assert has_pair == (split == "unseen-pairs")
        assert has_case == (split == "unseen-cases")
        deep = depth(sentence.meaning)
        assert deep == 3 if split == "unseen-depth" else deep <= 2


def adjective_noun_bigrams(sentence):
    """Adjective and noun lemmas that stand side by side, read off the German words alone."""
    found = set()
    for left, right in re.findall(r"(?=\b([a-zäöüß]+) ([A-ZÄÖÜ][a-zäöüß]+))", sentence):
        adjective = ADJECTIVE_FORMS.get(left)
        word = NOUN_FORMS.get(right)
        if adjective and word:
            found.add(("quality", adjective, word))
    return found


ADJECTIVE_FORMS = {
    adjective.stem + ending: adjective.german
    for adjective in WORDS.adjectives.values()
    for ending in ("e", "er", "es", "en", "em")
}
NOUN_FORMS = {
    form: word.german for word in WORDS.nouns.values() for row in noun_forms(word).values() for form in row.values()
}


def test_held_out_adjectives_never_stand_before_their_nouns_in_the_text_of_training(training):
    held_out = {tuple(pair) for pair in held_out_pairs()}
    met = Counter(pair for sentence in training for pair in adjective_noun_bigrams(sentence.german))
    assert not held_out & met.keys()
    assert len(met) > 2_000
    unseen = [adjective_noun_bigrams(sentence.german) & held_out for sentence in first("unseen-pairs", 200)]
    assert sum(bool(found) for found in unseen) > 50


def test_forms_that_only_a_held_out_case_has_never_stand_in_the_text_of_training(training):
    forms = set()
    for noun, case in held_out_cases():
        rows = noun_forms(WORDS.nouns[noun]).values()
        others = {form for row in rows for other, form in row.items() if other != case}
        forms |= {row[case] for row in rows} - others
    assert len(forms) >= 6
    words = {word for sentence in training for word in re.findall(r"\w+", sentence.german)}
    assert not forms & words
    unseen = {word for sentence in first("unseen-cases", 400) for word in re.findall(r"\w+", sentence.german)}
    assert len(forms & unseen) >= 6


def test_between_three_and_five_percent_of_the_pairs_are_held_out():
    assert 0.03 <= len(held_out_pairs()) / len(possible_pairs()) <= 0.05


def test_eight_to_ten_percent_of_the_nouns_lose_one_case_each():
    lost = [held_out.noun for held_out in held_out_cases()]
    assert len(lost) == len(set(lost))
    assert 0.08 <= len(lost) / len(WORDS.nouns) <= 0.10
    assert min(Counter(held_out.case for held_out in held_out_cases()).values()) >= 5


def test_the_words_of_held_out_pairs_are_common_in_training_in_other_company(training):
    company = Counter()
    for sentence in training[:40_000]:
        for relation, word, noun in word_pairs(sentence.meaning):
            company[relation, "word", word] += 1
            company[relation, "noun", noun] += 1
    used = {p for s in first("unseen-pairs", 500) for p in word_pairs(s.meaning)} & held_out_pairs()
    assert len(used) > 150
    for relation, word, noun in used:
        assert company[relation, "word", word] >= 20, word
        assert company[relation, "noun", noun] >= 20, noun


def test_nouns_that_lose_a_case_are_common_in_training_in_their_other_cases(training):
    uses = Counter(noun for sentence in training[:40_000] for noun, _ in noun_cases(sentence.meaning))
    for noun, _ in held_out_cases():
        assert uses[noun] >= 40, noun


def used_words(training):
    """How often each entry of the lexicon is used."""
    used = Counter()
    for sentence in training:
        used.update([sentence.meaning.joint] if sentence.meaning.joint else [])
        for clause, _, phrases in parts_of(sentence.meaning):
            used.update([clause.verb, clause.modal])
            for slot in (
                clause.time,
                clause.frequency,
                clause.manner,
                clause.place,
                clause.stance,
                clause.complement,
            ):
                used.update([slot, getattr(slot, "preposition", None), getattr(slot, "unit", None)])
            used.update(getattr(slot, "preposition", None) for slot in (clause.cause, clause.company))
            used.update(link.conjunction for link in (clause.content, clause.circumstance) if link)
            used.update([getattr(clause.predicate, "adjective", None), getattr(clause.predicate, "degree", None)])
            for phrase, _ in phrases:
                used.update([phrase.noun, phrase.degree, phrase.numeral, *phrase.adjectives])
    return used


def test_every_word_of_the_lexicon_is_used_thirty_times_in_training(training):
    used = used_words(training)
    entries = [
        *WORDS.nouns.values(),
        *WORDS.adjectives.values(),
        *WORDS.adverbs.values(),
        *WORDS.modals.values(),
    ]
    entries += [*WORDS.verbs, *WORDS.conjunctions.values()]
    rare = {entry.german: used[entry] for entry in entries if used[entry] < 30}
    assert rare == {}
    assert {value: used[value] for value in WORDS.numerals if used[value] < 30} == {}
    others = [p for p in WORDS.prepositions if p.kind not in ("agent", "town", "destination")]
    assert {p.german: used[p] for p in others if used[p] < 30} == {}


def test_word_frequencies_are_neither_even_nor_extreme(training):
    counts = sorted(Counter(noun for s in training for noun, _ in noun_cases(s.meaning)).values())
    assert counts[-1] < 0.03 * sum(counts)
    assert counts[-10] > 5 * counts[10]


def test_sentences_are_of_the_length_and_depth_that_was_asked_for(training):
    lengths = [len(sentence.english.split()) for sentence in training]
    assert 9 <= sum(lengths) / len(lengths) <= 11
    assert max(lengths) <= 30
    assert sum(4 <= length <= 18 for length in lengths) > 0.9 * len(lengths)
    depths = Counter(depth(sentence.meaning) for sentence in training)
    shares = [depths[level] / len(training) for level in range(4)]
    assert shares == pytest.approx([0.55, 0.33, 0.12, 0.0], abs=0.02)


GERMAN = re.compile(r"[A-ZÄÖÜ][a-zäöüß]*( [A-Za-zÄÖÜäöüß]+|, [A-Za-zÄÖÜäöüß]+)*[.?]")
ENGLISH = re.compile(r"[A-Z][a-z'-]*( [A-Za-z'-]+|, [A-Za-z'-]+)*[.?]")


def test_punctuation_and_capitals_are_well_formed(training):
    names = {name.german for name in WORDS.names.values()}
    capitals = names | NOUN_FORMS.keys() | {f"{name}s" for name in names} | {"Uhr"}
    capitals |= {w for adverb in WORDS.adverbs.values() for w in adverb.german.split() if w[0].isupper()}
    proper = {name.english for name in WORDS.names.values()} | {"I"}
    proper |= {a.english for a in WORDS.adjectives.values() if a.english[0].isupper()}
    proper |= {w for adverb in WORDS.adverbs.values() for w in adverb.english.split() if w[0].isupper()}
    for sentence in [*training, *first("unseen-depth", 300), *first("unseen-pairs", 200)]:
        assert GERMAN.fullmatch(sentence.german), sentence.german
        assert ENGLISH.fullmatch(sentence.english), sentence.english
        assert (sentence.german[-1] == "?") == (sentence.english[-1] == "?") == bool(sentence.meaning.asked)
        for word in re.findall(r"(?<= )[A-ZÄÖÜ]\w*", sentence.german):
            assert word in capitals, sentence.german
        for word in re.findall(r"(?<= )[A-Z][a-z]*", sentence.english):
            assert word in proper, sentence.english


def test_an_unknown_split_is_refused_with_the_known_names():
    known = ", ".join(["train", "valid", "test", "unseen-pairs", "unseen-cases", "unseen-depth"])
    message = f'split: "dev" is not one of {known}.'
    for call in (sentences, generate, pairs):
        with pytest.raises(DataError) as raised:
            call("dev")
        assert str(raised.value) == message


@pytest.mark.parametrize("count", [0, -3])
def test_a_count_below_one_is_refused(count):
    with pytest.raises(DataError) as raised:
        pairs("valid", count)
    assert str(raised.value) == f"count: {count} is too few; ask valid for 1 pair or more."
