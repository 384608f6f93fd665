"""Speed of tokenizing running text into memory-mapped shards, with reading and writing, and of reusing them.

    python benchmarks/tokenize_speed.py train.txt.gz --documents blank-lines

A byte-level BPE is trained on the first documents (not timed); then the whole text is tokenized into an empty
folder, on all cores, and opened again with nothing changed; in turn with both, `tokenizers` alone encodes the same
documents in memory and keeps nothing, which is what there is to be reached.
"""

import argparse
import json
import os
import platform
import statistics
import tempfile
import time
from itertools import islice
from pathlib import Path

from regard.data.corpus.shards import BATCH, tokenize
from regard.data.settings.text import TextSource
from regard.data.sources.text_files import read_documents
from regard.text.settings import TokenizerSettings
from regard.text.tokenizer import Tokenizer
from regard.text.training import train_tokenizer


def encode_alone(place: TextSource, tokenizer: Tokenizer) -> float:
    """Return the seconds that encoding takes when reading and writing cost nothing."""
    documents = list(read_documents(place))
    started = time.perf_counter()
    for start in range(0, len(documents), BATCH):
        tokenizer.backend.encode_batch_fast(documents[start : start + BATCH], add_special_tokens=False)
    return time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", help="files or folders of text")
    parser.add_argument("--documents", default="file", choices=["file", "blank-lines", "lines"])
    parser.add_argument("--size", type=int, default=16_000, help="tokens of the vocabulary")
    parser.add_argument("--sample", type=int, default=3000, help="documents the tokenizer is trained on")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()

    place = TextSource(paths=tuple(options.paths), documents=options.documents)
    settings = TokenizerSettings(size=options.size, pretokenizer="byte-level")
    tokenizer = train_tokenizer(islice(read_documents(place), options.sample), settings)
    load = os.getloadavg()[0]
    seconds, again, alone = [], [], []
    for _ in range(options.repeats):
        alone.append(encode_alone(place, tokenizer))
        with tempfile.TemporaryDirectory() as folder:
            for times in (seconds, again):
                started = time.perf_counter()
                corpus = tokenize(place, tokenizer, Path(folder) / "shards")
                times.append(time.perf_counter() - started)
            counts = corpus.counts
    median = statistics.median(seconds)
    result = {
        "seconds": round(median, 2),
        "all_seconds": [round(each, 2) for each in seconds],
        "bytes_per_second": round(counts.bytes / median),
        "tokens_per_second": round(counts.tokens / median),
        "seconds_of_tokenizers_alone": round(statistics.median(alone), 2),
        "seconds_when_nothing_changed": round(statistics.median(again), 4),
        "documents": counts.documents,
        "bytes": counts.bytes,
        "words": counts.words,
        "tokens": counts.tokens,
        "vocabulary": tokenizer.size,
        "load_before": round(load, 2),  # what else was running
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
    }
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
