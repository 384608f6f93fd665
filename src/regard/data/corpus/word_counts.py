"""Words of running text: counted in one pass over it, and as numbers on disk for the passes that learn."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from regard.data.settings.text import TextSource
from regard.data.sources.documents import DocumentChunk
from regard.data.sources.text_files import find_inputs, nothing_in
from regard.errors import DataError
from regard.progress import SILENT, Progress
from regard.text.tokenizer import Tokenizer
from regard.text.word_vocabulary import (
    Split,
    WordCounter,
    WordSettings,
    find_phrases,
    join_phrases,
    neighbors_of,
    splitter,
)


@dataclass(frozen=True)
class WordCounts:
    """Words that have vectors and how often they occur, and how many words were read for it in all."""

    counts: dict[str, int]
    total: int
    forgotten_below: int
    """Counts up to which words may have been forgotten on the way, for want of memory; 0: none was."""


def count_words(place: TextSource, settings: WordSettings, progress: Progress = SILENT) -> WordCounts:
    """Count the words of a place, a pass over it (one more for each pass that joins phrases)."""
    split = splitter(settings)
    phrases: frozenset[str] = frozenset()
    for number in range(settings.phrases):
        singles, pairs = WordCounter(settings.max_counted_words), WordCounter(settings.max_counted_words)
        for words in _each(place, split, phrases.__contains__, number, progress, f"phrases, pass {number + 1}"):
            singles.add(words)
            pairs.add(list(neighbors_of(words)))
        phrases |= find_phrases(singles, pairs, settings)
    counter = WordCounter(settings.max_counted_words)
    for words in _each(place, split, phrases.__contains__, settings.phrases, progress, "count words"):
        counter.add(words)
    if not counter.total:
        raise nothing_in(place)
    if counter.floor:
        progress.warn(
            f"{place.name}: it has more than {settings.max_counted_words:,} different words, so those seen "
            f"{counter.floor:,} times or less were forgotten on the way (text.max_counted_words)."
        )
    found = counter.frequent(settings.minimum_count, settings.size)
    if len(found) < 2:
        if len(counter.counts) == 1 and found:
            raise DataError(
                f'{place.name}: it holds but one word, "{next(iter(counter.counts))}", which has no words around it '
                f"to learn from; add text."
            )
        most = max(counter.counts.values(), default=0)
        raise DataError(
            f"{place.name}: {len(found)} of its {len(counter.counts):,} different words occur "
            f"{settings.minimum_count:,} times or more (the most frequent {most:,} times), which is no vocabulary; "
            f"lower text.minimum_count, or add text."
        )
    return WordCounts(found, counter.total, counter.floor)


def _each(
    place: TextSource, split: Split, known: Callable[[str], bool], passes: int, progress: Progress, title: str
) -> Iterator[list[str]]:
    """Yield the words of each piece of a place."""
    inputs = find_inputs(place)
    sizes = [each.size for each in inputs]
    total = None if None in sizes else sum(size or 0 for size in sizes)
    documents = 0
    with progress.bar(title, total) as bar:
        for each in inputs:
            for piece in each.pieces():
                words = split(piece.text)
                yield join_phrases(words, known, passes) if passes else words
                bar.advance(piece.consumed)
                documents += piece.is_last
                if documents == place.max_rows:
                    return


class WordEncoder:
    """The numbers of the words of pieces; those without a vector leave no trace, documents end with the end token."""

    def __init__(self, tokenizer: Tokenizer, settings: WordSettings) -> None:
        self.tokenizer = tokenizer
        self.split, self.passes = splitter(settings), settings.phrases
        self.numbers = {word: number for number, word in tokenizer.vocabulary.items()}
        self.reading: dict[str, Any] = {"words": settings.model_dump(include={"split", "lowercase", "phrases"})}

    def words(self, text: str) -> list[str]:
        """Return the words of a text, phrases joined."""
        found = self.split(text)
        return join_phrases(found, self.numbers.__contains__, self.passes) if self.passes else found

    def __call__(self, pieces: Sequence[DocumentChunk]) -> list[list[int]]:
        """Return the numbers of each piece."""
        return [self._row(piece) for piece in pieces]

    def _row(self, piece: DocumentChunk) -> list[int]:
        numbers = self.numbers
        row = [numbers[word] for word in self.words(piece.text) if word in numbers]
        return [*row, self.tokenizer.eos_id] if piece.is_last else row
