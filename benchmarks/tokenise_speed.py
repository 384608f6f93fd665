"""How fast running text becomes memory-mapped shards of ids, reading and writing included, and what a re-use costs.

    python benchmarks/tokenise_speed.py train.txt.gz --documents blank-lines

A byte-level BPE is trained on the first documents (not timed); then the whole text is tokenised into an empty
folder, in as many processor cores as there are, and opened again with nothing changed.
"""

import argparse
import json
import os
import platform
import resource
import statistics
import tempfile
import time
from itertools import islice
from pathlib import Path

from regard.data.inputs import read_documents
from regard.data.shards import tokenise
from regard.data.text_settings import TextSource
from regard.text import TokenizerSettings, train_tokenizer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", help="files or folders of text")
    parser.add_argument("--documents", default="file", choices=["file", "blank-lines", "lines"])
    parser.add_argument("--size", type=int, default=16_000, help="tokens of the vocabulary")
    parser.add_argument("--sample", type=int, default=3000, help="documents the tokenizer is trained on")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()

    place = TextSource(paths=tuple(options.paths), documents=options.documents)
    settings = TokenizerSettings(size=options.size, marks="bytes")
    tokenizer = train_tokenizer(islice(read_documents(place), options.sample), settings)
    load = os.getloadavg()[0]
    seconds, again = [], []
    for _ in range(options.repeats):
        with tempfile.TemporaryDirectory() as folder:
            for times in (seconds, again):
                started = time.perf_counter()
                corpus = tokenise(place, tokenizer, Path(folder) / "shards")
                times.append(time.perf_counter() - started)
            counts = corpus.counts
    median = statistics.median(seconds)
    result = {
        "seconds": round(median, 2),
        "all_seconds": [round(each, 2) for each in seconds],
        "bytes_per_second": round(counts.bytes / median),
        "tokens_per_second": round(counts.tokens / median),
        "seconds_when_nothing_changed": round(statistics.median(again), 4),
        "documents": counts.documents,
        "bytes": counts.bytes,
        "words": counts.words,
        "tokens": counts.tokens,
        "vocabulary": tokenizer.size,
        "peak_memory_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        "load_before": round(load, 2),  # what else was running
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
    }
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
