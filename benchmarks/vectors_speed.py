"""Words a second of word vectors that learn, beside gensim on the same words.

Both sides read the words that regard has numbered, with the same vocabulary, window, negatives, dimension and number
of threads, and take turns. gensim is not a dependency; install it in a folder and put that on the path:

    python -m pip install --target /tmp/gensim --no-deps gensim smart_open wrapt
    PYTHONPATH=/tmp/gensim python benchmarks/vectors_speed.py --text classics/train.txt.gz wikipedia/train.txt.gz

On a GPU: `--sides regard --device cuda`.
"""

import argparse
import statistics
import time

import numpy as np

from regard.runs.planning.recipes import find_recipe, resolve_run
from regard.tasks.declarations import Context
from regard.tasks.word_vectors.task import TASK
from regard.training.device.machine import prepare_machine, processor_name
from regard.training.hooks import Hooks
from regard.training.parallel.process_group import ProcessGroup


def regard_side(options, prepared, machine, settings):
    """Return a function that trains on a number of words and returns (words, seconds, processor seconds)."""

    def train_on(words: int) -> tuple[int, float, float]:
        feed = prepared.feed
        per_epoch = feed.updates_in(0)
        steps = max(1, words // feed.words_per_update)
        train = settings.train.model_copy(update={"steps": steps, "save_every": 0, "epochs": steps / per_epoch})
        hooks = Hooks(lambda model: {}, lambda *_: None)
        trainer = TASK.trainer(settings, prepared, train, machine, hooks, seed=1, width=0, team=ProcessGroup())
        worked = time.process_time()
        trainer.run()
        return trainer.state.tokens_seen, trainer.state.seconds, time.process_time() - worked

    return train_on


def gensim_side(options, prepared, machine, settings):
    """Return the same of gensim: lists of words, as long as its batches."""
    from gensim.models import Word2Vec

    feed, tokens = prepared.feed, prepared.bundle.tokenizers["tokenizer"].vocabulary
    names, end = [tokens[number] for number in range(len(feed.counts))], len(feed.counts)
    goal, model = settings.objective, settings.model

    def train_on(words: int) -> tuple[int, float, float]:
        ids = feed.corpus.read(0, min(words, len(feed.corpus)))
        texts = [part[part < end] for part in np.split(ids, np.flatnonzero(ids == end))]
        lists = [[names[n] for n in text[at : at + 10_000]] for text in texts for at in range(0, len(text), 10_000)]
        theirs = Word2Vec(
            vector_size=model.width,
            window=goal.window,
            negative=goal.negatives,
            sample=goal.subsampling,
            sg=int(model.algorithm == "skip-gram"),
            workers=options.threads,
            min_count=1,
            seed=1,
        )
        theirs.build_vocab_from_freq(dict(zip(names, feed.counts.tolist())))
        started, worked = time.perf_counter(), time.process_time()
        theirs.train(lists, total_examples=len(lists), epochs=1)
        return sum(map(len, lists)), time.perf_counter() - started, time.process_time() - worked

    return train_on


SIDES = {"regard": regard_side, "gensim": gensim_side}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--text", nargs="+", required=True)
    parser.add_argument("--preset", default="skip-gram")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--words", type=int, default=2_000_000, help="words of a round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--sides", nargs="+", default=list(SIDES), choices=list(SIDES))
    parser.add_argument("--set", nargs="*", default=[], metavar="KEY=VALUE", help="settings of regard")
    options = parser.parse_args()
    from regard.config.overrides import parse_overrides
    from regard.config.settings import flatten

    changes = dict(flatten(parse_overrides(options.set))) | {"data.train.paths": options.text}
    changes |= {"model.preset": options.preset, "machine.threads": options.threads, "machine.device": options.device}
    settings = resolve_run(find_recipe("vectors"), changes).settings
    machine = prepare_machine(settings.machine)
    context = Context(machine)
    words = TASK.load_data(settings, context)
    prepared = TASK.prepare(settings, words, TASK.build(settings, words, context), context)
    sides = {name: SIDES[name](options, prepared, machine, settings) for name in options.sides}
    for learn in sides.values():
        learn(settings.train.words_per_update)  # compiled, and read from disk
    results: dict[str, list[tuple[int, float, float]]] = {name: [] for name in sides}
    for _ in range(options.rounds):
        for name, learn in sides.items():
            results[name].append(learn(options.words))
    processor = machine.describe()["processor"] if options.device != "cpu" else processor_name()
    print(
        f"{processor}, {options.threads} threads; {options.preset}, {len(prepared.feed.counts):,} words have vectors"
    )
    for name, rounds in results.items():
        speeds = [words / seconds for words, seconds, _ in rounds]
        worked = [words / seconds for words, _, seconds in rounds]
        print(
            f"{name}: {statistics.median(speeds):,.0f} words/s (median of {len(speeds)}, {min(speeds):,.0f} to "
            f"{max(speeds):,.0f}), {statistics.median(worked):,.0f} for each second of a processor"
        )


if __name__ == "__main__":
    main()
