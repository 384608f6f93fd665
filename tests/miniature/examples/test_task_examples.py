"""Examples of every set: the same for a seed, apart by split, well formed, balanced, and more than a bag of words."""

import hashlib
import re
import time
from collections import Counter, defaultdict

import numpy as np
import pytest
from scipy.sparse import csr_matrix, hstack
from scipy.stats import spearmanr
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression, Ridge

from regard.errors import DataError
from regard.miniature.examples.drawing import EXAMPLE_SPLITS, Share, drawn, first, share_of
from regard.miniature.examples.entities import ENTITY_KINDS, UNSEEN_NAMES, entities
from regard.miniature.examples.paraphrases import likeness, paraphrases
from regard.miniature.examples.phrasebook import phrasebook
from regard.miniature.examples.questions import questions
from regard.miniature.examples.reviews import opinions, reviews
from regard.miniature.examples.senses import SENSES, word_senses

MAKERS = {
    "reviews": reviews,
    "opinions": opinions,
    "entities": entities,
    "questions": questions,
    "paraphrases": paraphrases,
    "likeness": likeness,
    "senses": word_senses,
}


def sentences_of(name, example):
    """The texts of an example of which no two splits may share one."""
    if name == "entities":
        return [" ".join(example.tokens)]
    if name in ("paraphrases", "likeness"):
        return [example.first, example.second]
    return [example.context if name == "questions" else example.text]


@pytest.fixture(scope="module")
def made():
    """Some of every set and split."""
    counts = {"train": 3_000, "valid": 400, "test": 600}
    return {(name, split): list(make(split, counts[split])) for name, make in MAKERS.items() for split in counts}


# Change these only together with the books or the grammar, and say so in the changelog.
FIRST = {
    "reviews": "64b26c9da1a12481",
    "opinions": "d23dbf09e33153b9",
    "entities": "bc1bb232ce3ee9da",
    "questions": "df54a7c9d11e9f3a",
    "paraphrases": "8bc9c9f757ef1d54",
    "likeness": "45f6ec1b537000fd",
    "senses": "323f94234b64e7ec",
}


@pytest.mark.parametrize("name", MAKERS)
def test_the_first_examples_never_change(name):
    text = repr([tuple(each) for each in MAKERS[name]("train", 60)])
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == FIRST[name]


@pytest.mark.parametrize("name", MAKERS)
def test_fewer_examples_are_the_first_of_more_and_seeds_differ(name):
    make = MAKERS[name]
    more = list(make("valid", 12, seed=3))
    assert list(make("valid", 5, seed=3)) == more[:5]
    assert list(make("valid", 12, seed=4)) != more


@pytest.mark.parametrize("name", MAKERS)
def test_splits_share_no_sentence_whatever_the_seeds(name, made):
    texts = defaultdict(set)
    for split in EXAMPLE_SPLITS:
        examples = [*made[name, split], *MAKERS[name](split, 300, seed=7)]
        texts[split] = {text for each in examples for text in sentences_of(name, each)}
    assert not texts["train"] & texts["valid"]
    assert not texts["train"] & texts["test"]
    assert not texts["valid"] & texts["test"]


@pytest.mark.parametrize("name", MAKERS)
def test_no_example_comes_twice(name, made):
    examples = made[name, "train"]
    assert len(set(examples)) > 0.995 * len(examples)


@pytest.mark.parametrize("name", MAKERS)
def test_a_thousand_examples_take_a_moment(name):
    started = time.process_time()
    assert len(list(MAKERS[name]("train", 1_000, seed=1))) == 1_000
    assert time.process_time() - started < 4


@pytest.mark.parametrize("name", MAKERS)
def test_an_unknown_split_and_a_count_of_none_are_refused(name):
    with pytest.raises(DataError) as raised:
        list(MAKERS[name]("unseen-depth", 3))
    assert str(raised.value).startswith('split: "unseen-depth" is not one of train, valid, test')
    with pytest.raises(DataError) as raised:
        list(MAKERS[name]("valid", 0))
    assert str(raised.value) == "count: 0 is too few; ask valid for 1 example or more."


SENTENCE = re.compile(r"[A-Z\"].*[.?!]\"?")


def test_texts_read_well(made):
    for (name, _), examples in made.items():
        for each in examples:
            texts = [each.question, each.context] if name == "questions" else sentences_of(name, each)
            for text in texts:
                assert SENTENCE.fullmatch(text), text
                assert not re.search(r"[{}<>\[\]@*]|  |\b(?!will will)([\w']+) \1\b| [,.](?! )(?!$)", text, re.I), (
                    text
                )
                assert not re.search(r"\b[Aa] [aeioAEIO]|\b[Aa]n [^aeiouhAEIOUH]", text), text
                assert not re.search(r"[.?!] [a-z]", text.replace('?"', "")) or name == "entities", text


# Reviews
@pytest.mark.parametrize("name", ["reviews", "opinions"])
def test_half_of_the_reviews_are_positive(made, name):
    labels = Counter(review.label for review in made[name, "train"])
    assert set(labels) == {"positive", "negative"}
    assert 0.47 < labels["positive"] / labels.total() < 0.53


def accuracy_of_ngrams(train, test, size):
    vectorizer = CountVectorizer(ngram_range=(1, size), binary=True, token_pattern=r"\w+")
    words = vectorizer.fit_transform(review.text for review in train)
    model = LogisticRegression(max_iter=2_000, C=0.3).fit(words, [review.label for review in train])
    return model.score(vectorizer.transform(review.text for review in test), [review.label for review in test])


def test_a_bag_of_words_does_not_know_what_a_review_means_and_order_does(made):
    train, test = made["reviews", "train"], made["reviews", "test"]
    assert 0.5 < accuracy_of_ngrams(train, test, 1) < 0.72
    assert accuracy_of_ngrams(train, test, 3) > 0.85


def test_words_say_most_of_an_opinion_and_their_order_the_rest(made):
    train, test = made["opinions", "train"], made["opinions", "test"]
    assert 0.8 < accuracy_of_ngrams(train, test, 1) < 0.92
    assert accuracy_of_ngrams(train, test, 3) > 0.93
    assert accuracy_of_ngrams(train[:20], test, 1) < 0.75


# Entities
def spans_of(tags):
    """Spans of IOB2 tags: where each begins and ends, and of which kind it is."""
    found, start = set(), None
    for place, tag in enumerate([*tags, "O"]):
        if start is not None and not tag.startswith("I-"):
            found.add((start, place, tags[start][2:]))
            start = None
        if tag.startswith("B-"):
            start = place
    return found


def test_tags_are_iob2_of_every_kind(made):
    kinds = Counter()
    for sentence in made["entities", "train"]:
        assert len(sentence.tokens) == len(sentence.tags)
        before = "O"
        for tag in sentence.tags:
            assert tag == "O" or (tag[0] in "BI" and tag[2:] in ENTITY_KINDS)
            assert not tag.startswith("I-") or before[2:] == tag[2:]
            before = tag
        kinds.update(kind for _, _, kind in spans_of(sentence.tags))
    assert set(kinds) == set(ENTITY_KINDS)
    assert min(kinds.values()) > 0.08 * kinds.total()


def test_names_begin_with_capitals_and_have_no_punctuation_at_their_ends(made):
    for sentence in made["entities", "train"]:
        for start, end, _ in spans_of(sentence.tags):
            assert sentence.tokens[start][0].isupper() and sentence.tokens[end - 1][0].isupper(), sentence


def test_a_word_alone_does_not_tell_its_tag(made):
    counts = defaultdict(Counter)
    for sentence in made["entities", "train"]:
        for token, tag in zip(*sentence, strict=True):
            counts[token][tag] += 1
    best = {token: found.most_common(1)[0][0] for token, found in counts.items()}
    test = made["entities", "test"]
    right = [spans_of(sentence.tags) for sentence in test]
    said = [spans_of([best.get(token, "O") for token in sentence.tokens]) for sentence in test]
    hits = sum(len(one & other) for one, other in zip(right, said, strict=True))
    assert 2 * hits / sum(map(len, [*right, *said])) < 0.65


def test_the_words_around_a_name_tell_its_tag(made):
    """Each template has one tagging: with names made alike, no two sentences disagree."""
    tags = {}
    for split in EXAMPLE_SPLITS:
        for sentence in made["entities", split]:
            spans = spans_of(sentence.tags)
            frame, kinds, place = [], [], 0
            for start, end, kind in sorted(spans):
                frame += [*sentence.tokens[place:start], "NAME"]
                kinds.append(kind)
                place = end
            frame = (*frame, *sentence.tokens[place:])
            assert tags.setdefault(frame, kinds) == kinds, frame


def test_unseen_names_stand_in_no_other_split(made):
    new = set(phrasebook("news").words("pool.new"))
    seen = {token for split in EXAMPLE_SPLITS for sentence in made["entities", split] for token in sentence.tokens}
    assert not new & seen
    for sentence in entities(UNSEEN_NAMES, 300):
        for start, end, _ in spans_of(sentence.tags):
            assert new & set(sentence.tokens[start:end]), sentence


# Paraphrases
def overlap(pairs, vectorizer, is_new):
    """Which words both sentences have and which only one, and how many."""
    both = [[set(re.findall(r"\w+", text.lower())) for text in (pair.first, pair.second)] for pair in pairs]
    texts = [" ".join([*(f"in_one_{w}" for w in a ^ b), *(f"in_both_{w}" for w in a & b)]) for a, b in both]
    words = vectorizer.fit_transform(texts) if is_new else vectorizer.transform(texts)
    return hstack([words, csr_matrix([[len(a & b) / len(a | b), len(a ^ b)] for a, b in both])]).tocsr()


def test_half_of_the_pairs_are_paraphrases_and_a_bag_of_words_does_not_know_which(made):
    train, test = made["paraphrases", "train"], made["paraphrases", "test"]
    assert 0.47 < np.mean([pair.is_same for pair in train]) < 0.53
    vectorizer = CountVectorizer(token_pattern=r"\S+")
    model = LogisticRegression(max_iter=3_000, C=0.1)
    model.fit(overlap(train, vectorizer, True), [pair.is_same for pair in train])
    assert model.score(overlap(test, vectorizer, False), [pair.is_same for pair in test]) < 0.8


def test_every_score_is_alike_and_overlap_does_not_give_it(made):
    train, test = made["likeness", "train"], made["likeness", "test"]
    scores = Counter(pair.score for pair in train)
    assert set(scores) == {0.0, 1.0, 2.0, 3.0, 4.0, 5.0}
    assert max(scores.values()) < 1.25 * min(scores.values())
    assert all(pair.is_same == (pair.score == 5) for pair in train)
    vectorizer = CountVectorizer(token_pattern=r"\S+")
    model = Ridge(1.0).fit(overlap(train, vectorizer, True), [pair.score for pair in train])
    said = model.predict(overlap(test, vectorizer, False))
    assert 0.5 < spearmanr(said, [pair.score for pair in test]).statistic < 0.9


def test_many_pairs_that_differ_have_the_same_words(made):
    pairs = [pair for pair in made["paraphrases", "train"] if not pair.is_same]
    words = [[sorted(re.findall(r"\w+", text.lower())) for text in (pair.first, pair.second)] for pair in pairs]
    assert sum(first == second for first, second in words) > 0.08 * len(words)


# Senses
def test_words_have_two_senses_and_stand_where_they_are_said_to(made):
    found = Counter()
    for story in made["senses", "train"]:
        assert len(story.starts) == 2
        for start in story.starts:
            assert re.match(rf"{story.word}\b", story.text[start:], re.I), story
        found[story.word, story.sense] += 1
    assert set(found) == {(word, sense) for word, senses in SENSES.items() for sense in senses}
    assert min(found["bank", sense] for sense in SENSES["bank"]) > 300
    assert min(found.values()) > 80


# Drawing
def test_a_split_is_an_interval_of_the_fractions_of_its_keys():
    for share in EXAMPLE_SPLITS.values():
        kept = sum(share.holds(f"key {number}") for number in range(2_000)) / 2_000
        assert kept == pytest.approx(share.high - share.low, abs=0.03)
    keys = [f"key {number}" for number in range(200)]
    assert all(sum(share.holds(key) for share in EXAMPLE_SPLITS.values()) == 1 for key in keys)


def test_examples_are_drawn_without_repetition_and_only_those_of_the_split():
    make = lambda draw: int(draw() * 40)
    values = list(first("valid", 3, drawn("numbers", "valid", 0, make, str)))
    assert len(set(values)) == 3 and all(EXAMPLE_SPLITS["valid"].holds(str(value)) for value in values)
    assert values == list(first("valid", 3, drawn("numbers", "valid", 0, make, str)))


def test_a_split_has_a_size_by_default():
    splits = {"few": Share(4, 0.0, 1.0)}
    assert list(first("few", None, iter(range(9)), splits)) == [0, 1, 2, 3] and share_of("few", splits).size == 4
