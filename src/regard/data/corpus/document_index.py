"""Document boundaries around any position of a corpus, read only from the shards involved."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from regard.data.corpus.corpus import OPEN, Corpus, Ids


class DocumentIndex:
    """Looks up the documents of a corpus by position."""

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self._ends = lru_cache(OPEN)(self._ends_in)
        names = {segment.shard: None for segment in corpus.segments}
        self._names = list(names)
        numbers = {name: number for number, name in enumerate(names)}
        self._shards = np.array([numbers[segment.shard] for segment in corpus.segments], np.int64)
        self._begins = np.array([segment.begin for segment in corpus.segments], np.int64)
        self._open_since, self._open_until = self._carried()

    def _ends_in(self, shard: str) -> NDArray[np.int64]:
        """Return the positions in a shard at which documents end."""
        rows = self.corpus.shards.chunks(shard)
        return np.asarray(rows["end"])[np.asarray(rows["is_last"])].astype(np.int64)

    def _carried(self) -> tuple[Ids, Ids]:
        """Return, for each segment, the begin of the document of its first token and the end of its last token's."""
        starts = self.corpus.starts
        count = len(self.corpus.segments)
        since, until = np.zeros(count, np.int64), np.full(count, len(self.corpus), np.int64)
        begin, waiting = 0, 0
        for number, segment in enumerate(self.corpus.segments):
            since[number] = begin
            ends = self._ends(segment.shard)
            first, last = np.searchsorted(ends, [segment.begin, segment.end], "right")
            if first < last:
                shift = int(starts[number]) - segment.begin
                until[waiting:number] = ends[first] + shift
                begin, waiting = int(ends[last - 1]) + shift, number
                if begin == starts[number + 1]:
                    until[number], waiting = begin, number + 1
        return since, until

    def bounds(self, positions: Ids) -> tuple[Ids, Ids]:
        """Return (begins, ends) of the documents around some positions, EOS included."""
        starts = self.corpus.starts
        numbers = np.searchsorted(starts, positions, "right") - 1
        begins, ends = self._open_since[numbers], self._open_until[numbers]
        shifts = starts[numbers] - self._begins[numbers]
        shards = self._shards[numbers]
        for shard in np.unique(shards).tolist():
            here = np.flatnonzero(shards == shard)
            stops = self._ends(self._names[shard])
            if not len(stops):
                continue
            after_count = np.searchsorted(stops, positions[here] - shifts[here], "right")
            before = stops[np.maximum(after_count - 1, 0)] + shifts[here]
            after = stops[np.minimum(after_count, len(stops) - 1)] + shifts[here]
            begins_here = (after_count > 0) & (before > starts[numbers[here]])
            ends_here = (after_count < len(stops)) & (after <= starts[numbers[here] + 1])
            begins[here] = np.where(begins_here, before, begins[here])
            ends[here] = np.where(ends_here, after, ends[here])
        return begins, ends
