"""What to begin with: named by the user, or pretrained on the embedded world for a transfer on its reviews."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from regard.config.overrides import nested
from regard.config.settings import flatten
from regard.errors import ConfigError
from regard.interop.word_vector_files import without_white_space, write_word_vectors
from regard.models.families import family
from regard.pipelines.word_vectors import load_word_vectors
from regard.progress import Progress
from regard.runs.execute import RunSpec, execute
from regard.runs.planning.recipes import find_recipe, resolve_run
from regard.runs.resume import resume
from regard.runs.run import Run
from regard.studies.folder import ENDED
from regard.studies.transfer.folder import Transfer
from regard.studies.transfer.methods import METHODS
from regard.tasks.embedding_init import SAMPLE_ROWS
from regard.tasks.init_from import is_word_file, pretrained_settings

TEXT = {"paths": ["miniature:opinions/train"], "max_rows": 20_000}
"""The text that what is missing is pretrained on: reviews of the embedded world without their labels."""
WATCHED = {"paths": ["miniature:opinions/valid"], "max_rows": 200}
DOCUMENTS = {"documents": "blank-lines"}
RECIPES: dict[str, tuple[str, dict[str, Any]]] = {
    "vectors": ("vectors-miniature", {"data.train": TEXT, "objective.window": 10, "train.epochs": 10}),
    "elmo": (
        "elmo-miniature",
        {
            "data.train": TEXT | DOCUMENTS,
            "data.valid": WATCHED | DOCUMENTS,
            "data.test": {},
            "text.words": 1000,
            "window": 24,
            "train": {"steps": 800, "tokens_per_update": 768, "validate_every": 400},
        },
    ),
    # Narrow, one review a sequence. A minute is enough to learn which words are of one opinion only with rotary
    # positions and this spread, as benchmarks/RESULTS.md tells.
    "bert": (
        "masked-miniature",
        {
            "data.train": TEXT,
            "data.valid": WATCHED,
            "data.test": {},
            "text.size": 1000,
            "sequences": {"length": 64, "phase1_length": None, "pack_documents": False},
            "masking.mask_fraction": 0.25,
            "model": {
                "width": 64,
                "feed_forward_width": 256,
                "norm_order": "pre",
                "positions": "rotary",
                "next_sentence_head": False,
                "init_std": 0.06,
            },
            "train": {
                "steps": 2500,
                "tokens_per_update": 512,
                "learning_rate": 4e-3,
                "warmup": 60,
                "validate_every": 1250,
            },
        },
    ),
}
"""The recipe of each, and what is smaller, shorter or faster here than there."""
TUNED_HERE: dict[str, Any] = {"pooling": "mean", "train.learning_rate": 1e-3}
"""How a BERT that was pretrained here is tuned: it has no next sentences, so its first token knows nothing of the
whole, and being narrow it can take a higher rate."""
FLAGS = {"vectors": "--vectors FILE", "elmo": "--elmo RUN", "bert": "--bert RUN (or hf:DIR)"}


def needed_starts(methods: list[str], given: Mapping[str, str | None], is_miniature: bool) -> dict[str, str | None]:
    """Return what the methods begin with, None where it is to be pretrained; what is missing is refused."""
    found: dict[str, str | None] = {}
    for name in methods:
        for need in METHODS[name].all_needs:
            found[need] = given.get(need)
            if found[need] is None and not is_miniature:
                raise ConfigError(
                    f"--methods {name}: it begins with something that has learned from text; give {FLAGS[need]}, or "
                    f"leave the method out."
                )
    return found


class Starts:
    """The starts of a transfer, pretrained when they are first asked for."""

    def __init__(
        self, transfer: Transfer, named: dict[str, str | None], machine: Mapping[str, Any], progress: Progress
    ) -> None:
        self.transfer, self.named, self.machine, self.progress = transfer, named, dict(machine), progress

    def __call__(self, need: str) -> str | None:
        """Return where a start is; None if its pretraining was interrupted."""
        given = self.named[need]
        if given is not None:
            return self._vectors_of(given) if need == "vectors" else given
        run = self.transfer.start(need)
        if not run.exists or run.state not in ENDED:
            self.progress.say(f"{need}: pretrained on the embedded world first, in {run.path}.")
            kept = {"data.folder": str(self.transfer.path / "starts" / f"text-{need}")}
            recipe, changes = RECIPES[need]
            _train(run, recipe, changes | kept | self.machine, self.progress)
        if run.state not in ENDED:
            return None
        return self._vectors_of(str(run.path)) if need == "vectors" else str(run.path)

    def _vectors_of(self, place: str) -> str:
        """Return a file of word vectors: the one that is named, or one with those of a run."""
        if not Path(place).is_dir():
            return place
        path = self.transfer.path / "starts" / "vectors.txt"
        if not path.is_file():
            path.parent.mkdir(exist_ok=True)
            write_word_vectors(path, without_white_space(load_word_vectors(place).table), "word2vec")
        return str(path)

    def tuning(self, need: str | None) -> dict[str, Any]:
        """Return settings that go with tuning a start that was pretrained here; others are tuned as usual."""
        return TUNED_HERE if need == "bert" and self.named["bert"] is None else {}

    def cost(self) -> dict[str, Any]:
        """Return what pretraining took, for what was pretrained here."""
        runs = {need: self.transfer.start(need) for need, given in self.named.items() if given is None}
        return {need: {"seconds": run.record.seconds} for need, run in runs.items() if run.exists}


def _train(run: Run, recipe: str, changes: dict[str, Any], progress: Progress) -> None:
    if run.exists:
        resume(run.path, progress=progress)
        return
    overrides = dict(flatten(nested(changes)))
    execute(run, RunSpec(resolve_run(find_recipe(recipe), overrides)), progress)


def check_start(need: str, place: str) -> None:
    """Refuse a start of the wrong kind before anybody waits for a run."""
    if need == "vectors":
        if not Path(place).exists():
            raise ConfigError(f"--vectors {place}: there is no such file or run; check the path.")
        load_word_vectors(place, SAMPLE_ROWS)
        return
    if is_word_file(place):
        raise ConfigError(
            f"--{need} {place}: these are word vectors; give them with --vectors, and here a run of another kind."
        )
    kind = family(str(pretrained_settings(place)["family"])).kind
    wanted = {"elmo": "bidirectional-lm", "bert": "encoder"}[need]
    if kind != wanted:
        words = {"elmo": "an ELMo (regard train elmo)", "bert": "a BERT"}[need]
        raise ConfigError(f"--{need} {place}: this is not {words}; give the run of one.")
