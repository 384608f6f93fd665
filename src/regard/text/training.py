"""Training a tokenizer of any kind on the user's text."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from tokenizers import Regex, decoders, models, normalizers, pre_tokenizers, trainers
from tokenizers import Tokenizer as Backend

from regard.errors import ConfigError, DataError
from regard.progress import SILENT, Bar, Progress
from regard.text.repeatable import in_order, without_added
from regard.text.settings import TokenizerSettings
from regard.text.tokenizer import SPECIAL_TOKENS, UNKNOWN, Tokenizer

CHUNK = 1000


def train_tokenizer(
    texts: Iterable[str], settings: TokenizerSettings, progress: Progress = SILENT, title: str = "tokenizer"
) -> Tokenizer:
    """Return a tokenizer trained on the texts."""
    texts = list(texts)
    if not any(text.strip() for text in texts):
        raise DataError("There is no text to train a tokenizer on; give files that are not empty.")
    normalizer = _normalizer(settings)
    backend, trainer = BUILDERS[settings.kind](settings, texts, normalizer)
    backend.normalizer = normalizer
    with progress.bar(title, len(texts)) as bar:
        backend.train_from_iterator(_told(texts, bar), trainer, length=len(texts))
    if settings.kind == "wordpiece":
        backend = without_added(backend)
    elif settings.kind == "unigram":
        backend = in_order(backend)
    if backend.get_vocab_size() > settings.size:
        raise ConfigError(_too_small(backend, settings))
    return Tokenizer(backend)


def _told(texts: list[str], bar: Bar) -> Iterator[list[str]]:
    """Yield the texts in chunks and tell how far it is; the merges follow once all have been read."""
    for start in range(0, len(texts), CHUNK):
        chunk = texts[start : start + CHUNK]
        yield chunk
        bar.advance(len(chunk))


def _too_small(backend: Backend, settings: TokenizerSettings) -> str:
    needed = backend.get_vocab_size()
    way_out = "" if settings.kind != "bpe" or settings.marks == "bytes" else ', or text.marks="bytes"'
    return (
        f"A vocabulary of {settings.size} (size) is too small: this text's characters and the special tokens alone "
        f"need {needed}; ask for {needed} or more{way_out}."
    )


def _normalizer(settings: TokenizerSettings) -> normalizers.Normalizer:
    steps: list[normalizers.Normalizer] = []
    if settings.normal_form != "none":
        steps.append(normalizers.NFC() if settings.normal_form == "nfc" else normalizers.NFKC())
    if settings.lowercase:
        steps.append(normalizers.Lowercase())
    if settings.marks == "spaces" and settings.kind != "char":
        # A run of white space carries no meaning once spaces are marks between words.
        steps += [normalizers.Replace(Regex(r"\s+"), " "), normalizers.Strip()]
    return normalizers.Sequence(steps)


def _mark_words(backend: Backend) -> None:
    """Give a backend words marked by ▁ with punctuation split off, which join again without a trace."""
    backend.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Metaspace(), pre_tokenizers.Punctuation()])
    backend.decoder = decoders.Metaspace()


def _bpe(settings: TokenizerSettings, *_: Any) -> tuple[Backend, trainers.Trainer]:
    alphabet: list[str] = []
    if settings.marks == "bytes":
        backend = Backend(models.BPE())
        backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        backend.decoder = decoders.ByteLevel()
        alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    else:
        backend = Backend(models.BPE(unk_token=UNKNOWN, fuse_unk=True))
        _mark_words(backend)
    return backend, trainers.BpeTrainer(
        vocab_size=settings.size,
        min_frequency=settings.minimum_frequency,
        special_tokens=list(SPECIAL_TOKENS),
        initial_alphabet=alphabet,
        show_progress=False,
    )


def _wordpiece(
    settings: TokenizerSettings, texts: list[str], normalizer: normalizers.Normalizer
) -> tuple[Backend, trainers.Trainer]:
    backend = Backend(models.WordPiece(unk_token=UNKNOWN, max_input_chars_per_word=100))
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.decoder = decoders.WordPiece()
    # The library numbers the characters inside words in the order of a hash table, and ties between merges follow
    # those numbers; naming them first, in order, makes training repeat.
    words = {word for text in texts for word in normalizer.normalize_str(text).split()}
    inside = sorted({character for word in words for character in word[1:]})
    return backend, trainers.WordPieceTrainer(
        vocab_size=settings.size,
        min_frequency=settings.minimum_frequency,
        special_tokens=[*SPECIAL_TOKENS, *(f"##{character}" for character in inside)],
        show_progress=False,
    )


def _unigram(settings: TokenizerSettings, *_: Any) -> tuple[Backend, trainers.Trainer]:
    backend = Backend(models.Unigram())
    _mark_words(backend)
    return backend, trainers.UnigramTrainer(
        vocab_size=settings.size,
        special_tokens=list(SPECIAL_TOKENS),
        unk_token=UNKNOWN,
        show_progress=False,
    )


def _word(settings: TokenizerSettings, *_: Any) -> tuple[Backend, trainers.Trainer]:
    backend = Backend(models.WordLevel({}, unk_token=UNKNOWN))
    _mark_words(backend)
    return backend, _word_trainer(settings)


def _char(settings: TokenizerSettings, *_: Any) -> tuple[Backend, trainers.Trainer]:
    backend = Backend(models.WordLevel({}, unk_token=UNKNOWN))
    backend.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated")
    backend.decoder = decoders.Fuse()
    return backend, _word_trainer(settings)


def _word_trainer(settings: TokenizerSettings) -> trainers.Trainer:
    return trainers.WordLevelTrainer(
        vocab_size=settings.size,
        min_frequency=settings.minimum_frequency,
        special_tokens=list(SPECIAL_TOKENS),
        show_progress=False,
    )


BUILDERS: dict[str, Callable[..., tuple[Backend, trainers.Trainer]]] = {
    "bpe": _bpe,
    "wordpiece": _wordpiece,
    "unigram": _unigram,
    "word": _word,
    "char": _char,
}
