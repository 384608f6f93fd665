"""Word vectors initialized from others: those of a run, or of a file of word2vec or GloVe."""

from pathlib import Path
from typing import Any

import torch

from regard.checkpoint.bundle import Bundle, read_bundle
from regard.checkpoint.store import find_checkpoint
from regard.errors import ConfigError
from regard.pipelines.word_vectors import WordVectors, names_word_vectors
from regard.progress import Progress
from regard.tasks.init_from import origin_hash
from regard.text.tokenizer import Tokenizer


@torch.no_grad()
def init_vectors(model: Any, tokenizer: Tokenizer, init_from: str, progress: Progress) -> dict[str, Any]:
    """Give words the vectors they have in a run or a file, and return the facts; others stay random.

    A run also has the context vectors of its words; a file has none, so those start at zero.
    """
    if Path(init_from).exists() and not names_word_vectors(init_from):
        raise ConfigError(
            f"init_from: {init_from} holds no word vectors; name a run of the task vectors, or a file of word2vec or "
            f"GloVe."
        )
    bundle: Bundle | None = None
    if Path(init_from).is_dir():
        bundle = read_bundle(find_checkpoint(Path(init_from)))
        vectors = WordVectors.of_bundle(bundle)
    else:
        vectors = WordVectors.of_file(Path(init_from), progress=progress)
    width = model.words.embedding_dim
    if vectors.width != width:
        raise ConfigError(
            f"model.width: {width} is not the dimension {vectors.width} of the vectors in {init_from}; set "
            f"model.width={vectors.width}."
        )
    vocabulary, size = tokenizer.vocabulary, len(model.words.weight)
    covered = {row: vectors.index[vocabulary[row]] for row in range(size) if vocabulary[row] in vectors.index}
    if not covered:
        raise ConfigError(
            f"init_from: no word of the text has a vector in {init_from}; give vectors of the same language."
        )
    rows, origins = torch.tensor(list(covered)), torch.tensor(list(covered.values()))
    model.words.weight[rows] = torch.from_numpy(vectors.vectors)[origins]
    if bundle is not None:
        model.contexts.weight[rows] = bundle.model.contexts.weight[origins].to(model.contexts.weight)
    progress.info(f"{init_from}: {len(covered):,} of the {size:,} words have a vector there; the others are random.")
    return {"init_from": {"path": init_from, "sha256": origin_hash(init_from), "covered": len(covered)}}
