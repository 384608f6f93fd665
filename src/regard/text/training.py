"""Tokenizer training: BPE, WordPiece, unigram, word and character vocabularies from the user's text."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from tokenizers import Regex, decoders, models, normalizers, pre_tokenizers, trainers
from tokenizers import Tokenizer as Backend

from regard.errors import ConfigError, DataError
from regard.progress import SILENT, Bar, Progress
from regard.text.deterministic import in_order, without_added
from regard.text.native_errors import check_texts, explaining, silent_panics
from regard.text.settings import TokenizerSettings
from regard.text.tokenizer import BERT_TOKENS, SPECIAL_TOKENS, Tokenizer

CHUNK = 1000

SPECIALS = {"plain": SPECIAL_TOKENS, "bert": BERT_TOKENS}
"""Special tokens in the order of their ids; the second is the unknown token."""

ALPHABET = 1000
"""Maximum number of characters in BERT's WordPiece alphabet: the most frequent ones; an encyclopedia has more."""


def train_tokenizer(
    texts: Iterable[str], settings: TokenizerSettings, progress: Progress = SILENT, title: str = "tokenizer"
) -> Tokenizer:
    """Return a tokenizer trained on the texts."""
    texts = list(texts)
    if not any(isinstance(text, str) and text.strip() for text in texts):
        check_texts(texts)
        raise DataError("There is no text to train a tokenizer on; give files that are not empty.")
    normalizer = _normalizer(settings)
    with explaining(
        f"A {settings.kind} tokenizer cannot be trained on this text", texts, "give other text, or another size"
    ):
        backend, trainer = BUILDERS[settings.kind](settings, texts, normalizer)
        backend.normalizer = normalizer
        with progress.bar(title, len(texts)) as bar, silent_panics():
            backend.train_from_iterator(_chunks(texts, bar), trainer, length=len(texts))
        if settings.kind == "wordpiece":
            backend = without_added(backend, SPECIALS[settings.special_tokens])
        elif settings.kind == "unigram":
            backend = in_order(backend, SPECIALS[settings.special_tokens])
    if backend.get_vocab_size() > settings.size:
        raise ConfigError(_too_small(backend, settings))
    return Tokenizer(backend)


def _chunks(texts: list[str], bar: Bar) -> Iterator[list[str]]:
    """Yield the texts in chunks and advance the bar; merges are computed after the last one."""
    for start in range(0, len(texts), CHUNK):
        chunk = texts[start : start + CHUNK]
        yield chunk
        bar.advance(len(chunk))


def _too_small(backend: Backend, settings: TokenizerSettings) -> str:
    needed = backend.get_vocab_size()
    way_out = (
        ""
        if settings.kind != "bpe" or settings.pretokenizer == "byte-level"
        else ', or text.pretokenizer="byte-level"'
    )
    return (
        f"A vocabulary of {settings.size} (size) is too small: this text's characters and the special tokens alone "
        f"need {needed}; ask for {needed} or more{way_out}."
    )


def _normalizer(settings: TokenizerSettings) -> normalizers.Normalizer:
    steps: list[normalizers.Normalizer] = []
    if settings.normal_form != "none":
        steps.append(normalizers.NFC() if settings.normal_form == "nfc" else normalizers.NFKC())
    if settings.special_tokens == "bert" and settings.kind == "wordpiece":
        bert = normalizers.BertNormalizer(strip_accents=not settings.has_accents, lowercase=settings.lowercase)
        return normalizers.Sequence([*steps, bert]) if steps else bert
    if settings.lowercase:
        steps.append(normalizers.Lowercase())
    if not settings.has_accents:
        steps += [normalizers.NFD(), normalizers.StripAccents()]
    if settings.pretokenizer == "metaspace" and settings.kind != "char":
        # With ▁ between words, runs of white space are one space.
        steps += [normalizers.Replace(Regex(r"\s+"), " "), normalizers.Strip()]
    return normalizers.Sequence(steps)


def _unknown(settings: TokenizerSettings) -> str:
    return SPECIALS[settings.special_tokens][1]


def _mark_words(backend: Backend) -> None:
    """Give a backend the metaspace pre-tokenizer with punctuation split off, and the decoder that reverses it."""
    backend.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Metaspace(), pre_tokenizers.Punctuation()])
    backend.decoder = decoders.Metaspace()


def _bpe(settings: TokenizerSettings, *_: Any) -> tuple[Backend, trainers.Trainer]:
    alphabet: list[str] = []
    if settings.pretokenizer == "byte-level":
        backend = Backend(models.BPE())
        backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        backend.decoder = decoders.ByteLevel()
        alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    else:
        backend = Backend(models.BPE(unk_token=_unknown(settings), fuse_unk=True))
        _mark_words(backend)
    return backend, trainers.BpeTrainer(
        vocab_size=settings.size,
        min_frequency=settings.min_frequency,
        special_tokens=list(SPECIALS[settings.special_tokens]),
        initial_alphabet=alphabet,
        show_progress=False,
    )


def _wordpiece(
    settings: TokenizerSettings, texts: list[str], normalizer: normalizers.Normalizer
) -> tuple[Backend, trainers.Trainer]:
    backend = Backend(models.WordPiece(unk_token=_unknown(settings), max_input_chars_per_word=100))
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.decoder = decoders.WordPiece()
    # The library numbers the characters inside words in the order of a hash table, and ties between merges follow
    # those ids; adding them first, sorted, makes training reproducible.
    more: dict[str, Any] = {}
    if settings.special_tokens == "bert":
        alphabet, inside = _frequent(texts, normalizer, backend.pre_tokenizer)
        more = {"initial_alphabet": alphabet, "limit_alphabet": len(alphabet)}
    else:
        words = {word for text in texts for word in normalizer.normalize_str(text).split()}
        inside = sorted({character for word in words for character in word[1:]})
    return backend, trainers.WordPieceTrainer(
        vocab_size=settings.size,
        min_frequency=settings.min_frequency,
        special_tokens=[*SPECIALS[settings.special_tokens], *(f"##{character}" for character in inside)],
        show_progress=False,
        **more,
    )


def _frequent(
    texts: list[str], normalizer: normalizers.Normalizer, splitter: pre_tokenizers.PreTokenizer
) -> tuple[list[str], list[str]]:
    """Return the most frequent characters, sorted, and those of them that can occur inside a word."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(normalizer.normalize_str(text))
    characters = [character for character in counts if splitter.pre_tokenize_str(character)]  # no white space
    kept = sorted(sorted(characters, key=lambda character: (-counts[character], character))[:ALPHABET])
    within = (normalizer.normalize_str(f"a{character}a") for character in kept)
    inside = [character for character, word in zip(kept, within) if len(splitter.pre_tokenize_str(word)) == 1]
    return kept, inside


def _unigram(settings: TokenizerSettings, *_: Any) -> tuple[Backend, trainers.Trainer]:
    backend = Backend(models.Unigram())
    _mark_words(backend)
    return backend, trainers.UnigramTrainer(
        vocab_size=settings.size,
        special_tokens=list(SPECIALS[settings.special_tokens]),
        unk_token=_unknown(settings),
        show_progress=False,
    )


def _word(settings: TokenizerSettings, *_: Any) -> tuple[Backend, trainers.Trainer]:
    backend = Backend(models.WordLevel({}, unk_token=_unknown(settings)))
    _mark_words(backend)
    return backend, _word_trainer(settings)


def _char(settings: TokenizerSettings, *_: Any) -> tuple[Backend, trainers.Trainer]:
    backend = Backend(models.WordLevel({}, unk_token=_unknown(settings)))
    backend.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated")
    backend.decoder = decoders.Fuse()
    return backend, _word_trainer(settings)


def _word_trainer(settings: TokenizerSettings) -> trainers.Trainer:
    return trainers.WordLevelTrainer(
        vocab_size=settings.size,
        min_frequency=settings.min_frequency,
        special_tokens=list(SPECIALS[settings.special_tokens]),
        show_progress=False,
    )


BUILDERS: dict[str, Callable[..., tuple[Backend, trainers.Trainer]]] = {
    "bpe": _bpe,
    "wordpiece": _wordpiece,
    "unigram": _unigram,
    "word": _word,
    "char": _char,
}
