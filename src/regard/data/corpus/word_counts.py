"""Words of running text: counted in one pass, then stored as ids for the training epochs."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from regard.data.settings.text import TextSource
from regard.data.sources.documents import DocumentChunk
from regard.data.sources.text_files import find_inputs, nothing_in
from regard.errors import DataError
from regard.progress import SILENT, Progress
from regard.text.settings import WordSettings
from regard.text.tokenizer import Tokenizer
from regard.text.word_vocabulary import Split, WordCounter, find_phrases, join_phrases, neighbors_of, splitter


@dataclass(frozen=True)
class WordCounts:
    """The vocabulary with its counts, and the number of words read."""

    counts: dict[str, int]
    total: int
    pruned_below: int
    """Words up to this count may have been pruned to bound memory; 0: none was."""


def count_words(source: TextSource, settings: WordSettings, progress: Progress = SILENT) -> WordCounts:
    """Return the word counts of a source: one pass over it, and one more for each phrase pass."""
    split = splitter(settings)
    phrases: frozenset[str] = frozenset()
    for number in range(settings.phrases):
        singles, pairs = WordCounter(settings.max_counted_words), WordCounter(settings.max_counted_words)
        for words in _words_in(source, split, phrases.__contains__, number, progress, f"phrases, pass {number + 1}"):
            singles.add(words)
            pairs.add(list(neighbors_of(words)))
        phrases |= find_phrases(singles, pairs, settings)
    counter = WordCounter(settings.max_counted_words)
    for words in _words_in(source, split, phrases.__contains__, settings.phrases, progress, "count words"):
        counter.add(words)
    if not counter.total:
        raise nothing_in(source)
    if counter.floor:
        progress.warn(
            f"{source.name}: it has more than {settings.max_counted_words:,} different words, so those seen "
            f"{counter.floor:,} times or less were pruned (text.max_counted_words)."
        )
    counts = counter.frequent(settings.min_count, settings.size)
    if len(counts) < 2:
        if len(counter.counts) == 1 and counts:
            raise DataError(
                f'{source.name}: it has only one word, "{next(iter(counter.counts))}", which has no context words '
                f"to learn from; add text."
            )
        most = max(counter.counts.values(), default=0)
        raise DataError(
            f"{source.name}: {len(counts)} of its {len(counter.counts):,} different words occur "
            f"{settings.min_count:,} times or more (the most frequent {most:,} times), too few for a vocabulary; "
            f"lower text.min_count, or add text."
        )
    return WordCounts(counts, counter.total, counter.floor)


def _words_in(
    source: TextSource, split: Split, known: Callable[[str], bool], passes: int, progress: Progress, title: str
) -> Iterator[list[str]]:
    """Yield the words of each chunk of a source."""
    inputs = find_inputs(source)
    sizes = [each.size for each in inputs]
    total = None if None in sizes else sum(size or 0 for size in sizes)
    documents = 0
    with progress.bar(title, total) as bar:
        for each in inputs:
            for chunk in each.pieces():
                words = split(chunk.text)
                yield join_phrases(words, known, passes) if passes else words
                bar.advance(chunk.consumed)
                documents += chunk.is_last
                if documents == source.max_rows:
                    return


class WordEncoder:
    """Encodes chunks as word ids; words outside the vocabulary are left out, documents end with EOS."""

    def __init__(self, tokenizer: Tokenizer, settings: WordSettings) -> None:
        self.tokenizer = tokenizer
        self.split, self.passes = splitter(settings), settings.phrases
        self.numbers = {word: number for number, word in tokenizer.vocabulary.items()}
        self.reading: dict[str, Any] = {"words": settings.model_dump(include={"split", "lowercase", "phrases"})}

    def words(self, text: str) -> list[str]:
        """Return the words of a text, phrases joined."""
        words = self.split(text)
        return join_phrases(words, self.numbers.__contains__, self.passes) if self.passes else words

    def __call__(self, chunks: Sequence[DocumentChunk]) -> list[list[int]]:
        """Return the word ids of each chunk."""
        return [self._row(chunk) for chunk in chunks]

    def _row(self, chunk: DocumentChunk) -> list[int]:
        numbers = self.numbers
        row = [numbers[word] for word in self.words(chunk.text) if word in numbers]
        return [*row, self.tokenizer.eos_id] if chunk.is_last else row
