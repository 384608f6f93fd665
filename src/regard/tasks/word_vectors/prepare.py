"""Preparation of a run of word vectors: words counted, text as word ids, two embedding matrices."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.checkpoint.atomic import write_json
from regard.checkpoint.bundle import Bundle
from regard.data.corpus.corpus import Corpus
from regard.data.corpus.manifest import write_array
from regard.data.corpus.shards import tokenize
from regard.data.corpus.word_counts import WordEncoder, count_words
from regard.data.feeds.word2vec import Word2VecFeed
from regard.data.sources.text_files import find_inputs
from regard.errors import DataError, RegardError
from regard.models.base.settings import ModelSettings, Vocabularies
from regard.progress import Progress
from regard.tasks.data import Prepared
from regard.tasks.declarations import Context
from regard.tasks.init_from import origin_facts
from regard.tasks.model_size import new_model
from regard.tasks.text.corpora import corpus_folder
from regard.tasks.text.tokenizer import MADE_FROM, TOKENIZER, made_before, sign_of
from regard.tasks.word_vectors.evaluate import read_questions, read_rated_pairs
from regard.tasks.word_vectors.init_from import init_vectors
from regard.tasks.word_vectors.records import WordCountsRecord, WordReport
from regard.tasks.word_vectors.settings import VectorEvaluationSettings, VectorSettings
from regard.text.tokenizer import Tokenizer
from regard.text.word_vocabulary import table_tokenizer
from regard.training.device.machine import Machine

Settings = VectorSettings[ModelSettings]

COUNTS = "word-counts.npy"


@dataclass(frozen=True)
class CountedWords:
    """Text as word ids, and the counts of its words."""

    settings: Settings
    corpus: Corpus
    tokenizer: Tokenizer
    counts: NDArray[np.int64]  # (V,)
    totals: WordCountsRecord
    folder: Path
    """The folder of the encoded text."""


def load_words(settings: Settings, context: Context) -> CountedWords:
    """Count the words and encode the text as word ids, or take both as made before."""
    _check_evaluation(settings.evaluation)
    folder, resumed = corpus_folder(settings.data, settings.text), context.resumed
    tokenizer, counts, totals = vocabulary_of(settings, folder, context.progress)
    if resumed:
        tokenizer = resumed.tokenizers["tokenizer"]
    encoder = WordEncoder(tokenizer, settings.text)
    corpus = tokenize(
        settings.data.train, tokenizer, folder / "train", context.progress, "encode words", encoder=encoder
    )
    words = int(counts.sum())
    if words < 2:
        raise DataError(f"{settings.data.train.name}: there are no two words with vectors in it; add text.")
    record = WordCountsRecord.model_validate(asdict(corpus.counts) | {"words": words} | totals)
    return CountedWords(settings, corpus, tokenizer, counts, record, folder)


def prepare_vectors(settings: Settings, data: CountedWords, bundle: Bundle) -> Prepared[CountedWords]:
    """Return the feed of the trainer of word vectors, and the report; nothing is validated or tested."""
    feed: Any = Word2VecFeed(
        data.corpus, data.counts, settings.train.words_per_update
    )  # VectorTrainer's, no Feed of token batches
    objective: Any = settings.objective
    report = WordReport.model_validate(
        {
            "train": data.totals,
            "vocabulary": data.tokenizer.size - 1,
            "folder": str(data.folder),
            "hash": data.corpus.fingerprint,
        }
        | origin_facts(bundle)
    )
    return Prepared(
        bundle=bundle,
        feed=feed,
        objective=objective,
        width=settings.model.width,
        validate=lambda model: {},
        tests={},
        report=report,
        data=data,
    )


def vocabulary_of(
    settings: Settings, folder: Path, progress: Progress
) -> tuple[Tokenizer, NDArray[np.int64], dict[str, int]]:
    """Return the words of a text with their counts and totals; those kept from before, if nothing has changed."""
    source = settings.data.train
    before = made_before(folder)
    made_from = {
        "text": settings.text.model_dump(mode="json"),
        "source": source.model_dump(mode="json"),
        "inputs": {each.name: sign_of(each, before["inputs"].get(each.name)) for each in find_inputs(source)},
    }
    is_same = {name: before.get(name) for name in ("text", "source")} == {n: made_from[n] for n in ("text", "source")}
    both = (before["inputs"], made_from["inputs"])
    hashes = [{name: sign["sha256"] for name, sign in inputs.items()} for inputs in both]
    if is_same and hashes[0] == hashes[1]:
        try:
            counts, tokenizer = np.load(folder / COUNTS), Tokenizer.load(folder / TOKENIZER)
            if counts.dtype != np.int64 or counts.shape != (tokenizer.size - 1,) or counts.min(initial=0) < 0:
                raise ValueError
            return tokenizer, counts, dict(before["facts"])
        except (OSError, ValueError, KeyError, TypeError, EOFError, RegardError):
            pass  # incomplete, so they are counted again
    counted = count_words(source, settings.text, progress)
    tokenizer = table_tokenizer(counted.counts)
    counts = np.fromiter(counted.counts.values(), np.int64, len(counted.counts))
    totals = {"words_read": counted.total, "pruned_below": counted.pruned_below}
    progress.info(
        f"{len(counts):,} words have vectors; they cover {counts.sum():,} of the {counted.total:,} words of the text."
    )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / MADE_FROM).unlink(missing_ok=True)
        tokenizer.save(folder / TOKENIZER)
        write_array(folder / COUNTS, counts)
        write_json(folder / MADE_FROM, made_from | {"facts": totals})
    except OSError as error:
        raise DataError(f"{folder}: the vocabulary cannot be written ({error.strerror}); free some space.") from None
    return tokenizer, counts, totals


def new_vectors(settings: Settings, tokenizer: Tokenizer, machine: Machine, progress: Progress) -> Bundle:
    """Return two new embedding matrices, with the vectors of pretrained ones where they are given."""
    vocabularies = Vocabularies(tokenizer.size - 1, tokenizer.size - 1, is_shared=True)
    model = new_model(settings, vocabularies, machine)
    facts: dict[str, Any] = {"text": settings.text.model_dump(mode="json"), "seed": settings.seed}
    if settings.init_from is not None:
        facts |= init_vectors(model, tokenizer, settings.init_from, progress)
    return Bundle(settings.task, model, settings.model, vocabularies, {"tokenizer": tokenizer}, facts)


def _check_evaluation(evaluation: VectorEvaluationSettings) -> None:
    """Read the files that the vectors are scored on before training: a mistake there is reported early."""
    if evaluation.analogies is not None:
        read_questions(Path(evaluation.analogies))
    for path in evaluation.similarities:
        read_rated_pairs(Path(path))
