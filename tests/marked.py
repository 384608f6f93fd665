"""A corpus in which each word tells where it stands: document, sentence and place, such as `d3s2w7`."""

import numpy as np

from regard.data.corpus.shards import tokenize
from regard.data.settings.text import DocumentSource
from regard.text.settings import MaskedTextSettings
from regard.text.training import train_tokenizer

WORDS = MaskedTextSettings(kind="word", size=200_000, min_frequency=1)


def documents(sizes):
    """Return texts, one for each list of the numbers of words of its sentences, a full stop included."""
    return [
        " ".join(
            " ".join(f"d{number}s{sentence}w{word}" for word in range(words - 1)).capitalize() + "."
            for sentence, words in enumerate(sentences)
        )
        for number, sentences in enumerate(sizes)
    ]


def drawn_sizes(count, seed=0, sentences=12, words=14):
    draw = np.random.default_rng(seed)
    return [draw.integers(2, words, draw.integers(1, sentences)).tolist() for _ in range(count)]


def told_apart(folder, sizes, shard_tokens=500):
    """Return the corpus of such documents in small shards, and its tokenizer."""
    texts = documents(sizes)
    path = folder / "text.txt"
    path.write_text("\n\n".join(texts) + "\n", encoding="utf-8")
    tokenizer = train_tokenizer(texts, WORDS)
    place = DocumentSource(paths=(str(path),))
    corpus = tokenize(place, tokenizer, folder / "corpus", shard_tokens=shard_tokens, sentences="marks")
    return corpus, tokenizer


def whereabouts(tokenizer):
    """Return (document, sentence, word) of each id that is a word; None for others."""
    found = [None] * tokenizer.size
    for number, piece in tokenizer.vocabulary.items():
        word = piece.removeprefix("▁")
        if word.startswith("d") and "s" in word:
            document, _, rest = word[1:].partition("s")
            sentence, _, place = rest.partition("w")
            found[number] = (int(document), int(sentence), int(place))
    return found


def texts_of(rows, tokenizer):
    """Return (first text, second text) of each sequence as lists of ids, the frames left out."""
    found = []
    for begin, end in zip(rows.cu_seqlens[:-1].tolist(), rows.cu_seqlens[1:].tolist(), strict=True):
        tokens, segments = rows.tokens[begin:end].tolist(), rows.segments[begin:end].tolist()
        assert tokens[0] == tokenizer.bos_id and tokens[-1] == tokenizer.eos_id
        first = [token for token, segment in zip(tokens, segments, strict=True) if segment == 0]
        second = [token for token, segment in zip(tokens, segments, strict=True) if segment == 1]
        assert first[-1] == tokenizer.eos_id and (not second or second[-1] == tokenizer.eos_id)
        found.append((first[1:-1], second[:-1]))
    return found
