"""Validation text is held out in whole documents, always the same, and the two parts are the whole."""

import pytest

from regard import miniature
from regard.data.corpus.shards import tokenize
from regard.data.corpus.splits import hold_out, tokenize_all
from regard.data.settings.text import TextData, TextSource
from regard.errors import DataError
from regard.progress import Progress
from regard.text.settings import TokenizerSettings
from regard.text.training import train_tokenizer

SENTENCES = list(dict.fromkeys(pair.target for pair in miniature.pairs("train", 2000)))


@pytest.fixture(scope="module")
def tokenizer():
    return train_tokenizer(SENTENCES, TokenizerSettings(size=400, pretokenizer="byte-level"))


def corpus_of(tmp_path, tokenizer, texts, shard_tokens=3000, **settings):
    folder = tmp_path / f"text{len(list(tmp_path.iterdir()))}"
    folder.mkdir()
    for number, text in enumerate(texts):
        (folder / f"{number:04d}.txt").write_text(text)
    place = TextSource(paths=(str(folder),), **settings)
    return tokenize(place, tokenizer, folder.with_suffix(".out"), shard_tokens=shard_tokens)


def documents(corpus, tokenizer):
    return [tokenizer.decode(corpus.read(begin, end)) for begin, end in corpus.documents()]


def test_whole_documents_are_set_apart_and_nothing_is_lost(tmp_path, tokenizer):
    corpus = corpus_of(tmp_path, tokenizer, ["\n".join(SENTENCES)], documents="lines")
    train, valid = (documents(part, tokenizer) for part in hold_out(corpus, 0.05))
    assert sorted(train + valid) == sorted(SENTENCES)
    assert train == [text for text in SENTENCES if text in set(train)]  # in their order
    parts = hold_out(corpus, 0.05)
    assert 0.04 * len(corpus) < len(parts[1]) <= max(0.05 * len(corpus), 20_000)
    for name in ("documents", "tokens", "bytes", "words", "lines"):
        assert sum(getattr(part.counts, name) for part in parts) == getattr(corpus.counts, name)
    assert parts[1].counts.bytes == sum(len(text.encode()) for text in valid)
    assert len({corpus.fingerprint, *(part.fingerprint for part in parts)}) == 3


def test_a_document_stays_on_its_side_in_whatever_order(tmp_path, tokenizer):
    sides = []
    for texts in (SENTENCES, SENTENCES[::-1]):
        corpus = corpus_of(tmp_path, tokenizer, ["\n".join(texts)], documents="lines")
        sides.append(set(documents(hold_out(corpus, 0.1)[1], tokenizer)))
    assert len(sides[0] & sides[1]) >= 0.98 * len(sides[0])  # but for those at the very limit


@pytest.mark.parametrize("share", [0.03, 0.05, 0.1])
def test_copies_of_a_document_stay_together(tmp_path, tokenizer, share):
    corpus = corpus_of(tmp_path, tokenizer, ["\n".join(SENTENCES[:150] * 7)], documents="lines")
    train, valid = (documents(part, tokenizer) for part in hold_out(corpus, share))
    assert valid and not set(train) & set(valid)


def test_of_one_long_document_the_last_part_is_set_apart(tmp_path, tokenizer):
    text = "\n".join(SENTENCES)
    for shard_tokens in (3000, 10**6):
        corpus = corpus_of(tmp_path, tokenizer, [text], shard_tokens)
        train, valid = hold_out(corpus, 0.1)
        [first], [last] = documents(train, tokenizer), documents(valid, tokenizer)
        assert first + last == text and first.endswith("\n")
        assert 0.05 < len(valid) / len(corpus) < 0.15
        assert train.counts.bytes == len(first.encode()) and valid.counts.words == len(last.split())


def test_documents_too_long_to_be_set_apart_give_the_end_of_the_last(tmp_path, tokenizer):
    texts = ["\n".join(SENTENCES[number::3]) for number in range(3)]
    train, valid = hold_out(corpus_of(tmp_path, tokenizer, texts), 0.1)
    assert documents(train, tokenizer)[:2] == texts[:2]
    assert documents(train, tokenizer)[2] + documents(valid, tokenizer)[0] == texts[2]


def test_a_handful_of_short_documents_gives_one(tmp_path, tokenizer):
    train, valid = hold_out(corpus_of(tmp_path, tokenizer, SENTENCES[:3]), 0.02)
    assert documents(train, tokenizer) == SENTENCES[:2] and documents(valid, tokenizer) == SENTENCES[2:3]


def test_too_little_text_is_told(tmp_path, tokenizer):
    corpus = corpus_of(tmp_path, tokenizer, ["Yes, yes!"])
    with pytest.raises(DataError) as error:
        hold_out(corpus, 0.02)
    assert str(error.value) == (
        f"There are only {len(corpus)} tokens to learn from, too few to hold some out for validation; add text, or "
        f"name a validation text with --valid-text (data.valid)."
    )


def test_the_texts_of_a_run_are_tokenised_side_by_side(tmp_path, tokenizer):
    said = []

    class Listening(Progress):
        def info(self, message):
            said.append(message)

    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.txt").write_text("\n".join(SENTENCES[ord(name) - 97 :: 3]))
    place = lambda name: {"paths": [str(tmp_path / f"{name}.txt")], "documents": "lines"}
    data = TextData(train=place("a"), valid=place("b"), test={"held-out": place("c")})
    found = tokenize_all(data, tokenizer, tmp_path / "out", Listening())
    assert [documents(part, tokenizer) for part in (found.train, found.valid, found.test["held-out"])] == [
        SENTENCES[start::3] for start in range(3)
    ]
    assert said == []
    carved = tokenize_all(TextData(train=place("a")), tokenizer, tmp_path / "out", Listening())
    assert said == [f"{len(carved.valid):,} of {len(found.train):,} tokens are held out for validation."]
