"""The task `vectors`: running text in, two tables that are ready to learn from it out."""

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from regard.checkpoint.atomic import write_json
from regard.checkpoint.bundle import Bundle
from regard.data.corpus.manifest import write_array
from regard.data.corpus.shards import tokenize
from regard.data.corpus.word_counts import WordEncoder, count_words
from regard.data.feeds.word2vec import Word2VecFeed
from regard.data.sources.pair import Pair
from regard.data.sources.text_files import find_inputs
from regard.errors import ConfigError, DataError, RegardError
from regard.models.base.protocols import Vocabularies
from regard.models.families import build_model, count_parameters
from regard.pipelines.word_vectors import WordVectors
from regard.progress import SILENT, Progress
from regard.runs.store.folder import Run
from regard.tasks.data import Prepared
from regard.tasks.init_from import start_facts
from regard.tasks.language_model.prepare import MADE_FROM, TOKENIZER, corpus_folder, made_before, sign_of
from regard.tasks.model_size import check_size
from regard.tasks.word_vectors.evaluate import plain_analogies, read_questions, read_rated_pairs, score_analogies
from regard.tasks.word_vectors.evaluate import score_similarities as compare
from regard.tasks.word_vectors.init_from import begin_vectors
from regard.text.tokenizer import Tokenizer
from regard.text.word_vocabulary import table_tokenizer
from regard.training.device.machine import Machine
from regard.training.word2vec.trainer import VectorTrainer

COUNTS = "word-counts.npy"


def prepare_vectors(
    settings: Any,
    machine: Machine,
    progress: Progress = SILENT,
    resumed: Bundle | None = None,
    given: Sequence[Pair] | None = None,
) -> Prepared:
    """Count the words, write the text as numbers (or take both as they were made before), and build the tables."""
    if given is not None:
        raise ConfigError("Sentence pairs are for the task translate; word vectors learn from text files.")
    _check_evaluation(settings.evaluation)
    folder = corpus_folder(settings)
    tokenizer, counts, facts = vocabulary_of(settings, folder, progress)
    if resumed:
        tokenizer = resumed.tokenizers["tokenizer"]
    encoder = WordEncoder(tokenizer, settings.text)
    corpus = tokenize(settings.data.train, tokenizer, folder / "train", progress, "number words", encoder=encoder)
    words = int(counts.sum())
    if words < 2:
        raise DataError(f"{settings.data.train.name}: there are no two words with vectors in it; add text.")
    bundle = resumed or _new_bundle(settings, tokenizer, machine, progress)
    feed: Any = Word2VecFeed(corpus, counts, settings.train.words_per_update)  # for a trainer of its own
    return Prepared(
        bundle=bundle,
        feed=feed,
        objective=settings.objective,
        width=settings.model.width,
        validate=lambda model: {},
        tests={},
        facts={
            "train": asdict(corpus.counts) | {"words": words} | facts,
            "vocabulary": tokenizer.size - 1,
            "folder": str(folder),
            "hash": corpus.fingerprint,
        }
        | start_facts(bundle),
        trainer=partial(_trainer, settings.model.algorithm),
    )


def _trainer(algorithm: str, *parts: Any, width: int, **more: Any) -> VectorTrainer:
    """Return what learns, called as the loop is."""
    return VectorTrainer(*parts, algorithm=algorithm, **more)


def vocabulary_of(
    settings: Any, folder: Path, progress: Progress
) -> tuple[Tokenizer, NDArray[np.int64], dict[str, int]]:
    """Return the words of a text with their counts; those counted before, if nothing has changed since."""
    place = settings.data.train
    before = made_before(folder)
    made_from = {
        "text": settings.text.model_dump(mode="json"),
        "place": place.model_dump(mode="json"),
        "inputs": {each.name: sign_of(each, before["inputs"].get(each.name)) for each in find_inputs(place)},
    }
    same = {name: before.get(name) for name in ("text", "place")} == {n: made_from[n] for n in ("text", "place")}
    hashes = [{n: each["sha256"] for n, each in book["inputs"].items()} for book in (before, made_from)]
    if same and hashes[0] == hashes[1]:
        try:
            counts, tokenizer = np.load(folder / COUNTS), Tokenizer.load(folder / TOKENIZER)
            if counts.dtype != np.int64 or counts.shape != (tokenizer.size - 1,) or counts.min(initial=0) < 0:
                raise ValueError
            return tokenizer, counts, dict(before["facts"])
        except (OSError, ValueError, KeyError, TypeError, EOFError, RegardError):
            pass  # not whole, so they are counted again
    found = count_words(place, settings.text, progress)
    tokenizer = table_tokenizer(found.counts)
    counts = np.fromiter(found.counts.values(), np.int64, len(found.counts))
    facts = {"words_read": found.total, "forgotten_below": found.forgotten_below}
    progress.say(
        f"{len(counts):,} words have vectors; they make up {counts.sum():,} of the {found.total:,} words of the text."
    )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / MADE_FROM).unlink(missing_ok=True)
        tokenizer.save(folder / TOKENIZER)
        write_array(folder / COUNTS, counts)
        write_json(folder / MADE_FROM, made_from | {"facts": facts})
    except OSError as error:
        raise DataError(f"{folder}: the vocabulary cannot be written ({error.strerror}); make room there.") from None
    return tokenizer, counts, facts


def _new_bundle(settings: Any, tokenizer: Tokenizer, machine: Machine, progress: Progress) -> Bundle:
    vocabularies = Vocabularies(tokenizer.size - 1, tokenizer.size - 1, is_shared=True)
    check_size(count_parameters(settings.model, vocabularies), machine)
    torch.manual_seed(settings.seed)
    model = build_model(settings.model, vocabularies)
    facts = {"text": settings.text.model_dump(mode="json"), "seed": settings.seed}
    if settings.init_from is not None:
        facts |= begin_vectors(model, tokenizer, settings.init_from, progress)
    return Bundle("vectors", model, settings.model, vocabularies, {"tokenizer": tokenizer}, facts)


def _check_evaluation(evaluation: Any) -> None:
    """Read what the vectors are scored on before they learn: a mistake there is told early."""
    if evaluation.analogies is not None:
        read_questions(Path(evaluation.analogies))
    for path in evaluation.similarities:
        read_rated_pairs(Path(path))


def score_vectors(run: Run, pipeline: Any, prepared: Prepared, progress: Progress) -> dict[str, Any]:
    """Score vectors that are learned on the files of their settings."""
    evaluation = run.record["settings"]["evaluation"]
    vectors: WordVectors = pipeline
    vectors.name = str(run.path)
    found: dict[str, Any] = {}
    if evaluation["analogies"] is not None:
        found["analogies"] = plain_analogies(
            score_analogies(vectors, Path(evaluation["analogies"]), progress=progress)
        )
    if evaluation["similarities"]:
        found["similarities"] = [asdict(compare(vectors, Path(path))) for path in evaluation["similarities"]]
    return found
