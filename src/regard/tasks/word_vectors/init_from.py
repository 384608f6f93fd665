"""Word vectors that begin with others: those of a run, or of a file of word2vec or GloVe."""

from pathlib import Path
from typing import Any

import torch

from regard.checkpoint.bundle import Bundle, read_bundle
from regard.checkpoint.store import find_checkpoint
from regard.errors import ConfigError
from regard.pipelines.word_vectors import WordVectors
from regard.progress import Progress
from regard.tasks.embedding_init import names_vectors
from regard.tasks.init_from import start_hash
from regard.text.tokenizer import Tokenizer


@torch.no_grad()
def begin_vectors(model: Any, tokenizer: Tokenizer, start: str, progress: Progress) -> dict[str, Any]:
    """Give words the vectors they have in a run or a file, and return the facts; others stay as they were drawn.

    A run also knows words by the vectors of those around them; a file does not, so those begin with nothing.
    """
    if Path(start).exists() and not names_vectors(start):
        raise ConfigError(
            f"init_from: {start} holds no word vectors; name a run of the task vectors, or a file of word2vec or "
            f"GloVe."
        )
    before: Bundle | None = None
    if Path(start).is_dir():
        before = read_bundle(find_checkpoint(Path(start)))
        known = WordVectors.of_bundle(before)
    else:
        known = WordVectors.of_file(Path(start), progress=progress)
    width = model.words.embedding_dim
    if known.width != width:
        raise ConfigError(
            f"model.width: {width} is not the {known.width} numbers that a word of {start} has; say "
            f"model.width={known.width}."
        )
    pieces = tokenizer.vocabulary
    found = {row: known.index[pieces[row]] for row in range(len(model.words.weight)) if pieces[row] in known.index}
    if not found:
        raise ConfigError(
            f"init_from: no word of the text has a vector in {start}; give vectors of the same language."
        )
    rows, theirs = torch.tensor(list(found)), torch.tensor(list(found.values()))
    model.words.weight[rows] = torch.from_numpy(known.vectors)[theirs]
    if before is not None:
        model.contexts.weight[rows] = before.model.contexts.weight[theirs].to(model.contexts.weight)
    total = len(model.words.weight)
    progress.say(f"{start}: {len(found):,} of the {total:,} words begin with its vectors, others with drawn ones.")
    return {"init_from": {"path": start, "sha256": start_hash(start), "covered": len(found)}}
