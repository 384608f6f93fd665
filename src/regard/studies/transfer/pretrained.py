"""The pretrained models of a transfer study: given by the user, or pretrained on the miniature world."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from regard.config.overrides import nested
from regard.config.settings import flatten
from regard.errors import ConfigError
from regard.interop.word_vector_files import underscored, write_word_vectors
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
"""Pretraining text: reviews of the miniature world without their labels."""
VALID = {"paths": ["miniature:opinions/valid"], "max_rows": 200}
DOCUMENTS = {"documents": "blank-lines"}
RECIPES: dict[str, tuple[str, dict[str, Any]]] = {
    "vectors": ("vectors-miniature", {"data.train": TEXT, "objective.window": 10, "train.epochs": 10}),
    "elmo": (
        "elmo-miniature",
        {
            "data.train": TEXT | DOCUMENTS,
            "data.valid": VALID | DOCUMENTS,
            "data.test": {},
            "text.words": 1000,
            "window": 24,
            "train": {"steps": 800, "tokens_per_update": 768, "validate_every": 400},
        },
    ),
    # Narrow, one review per sequence. A minute of training suffices only with rotary positions and this standard
    # deviation of the initialization: benchmarks/RESULTS.md.
    "bert": (
        "masked-miniature",
        {
            "data.train": TEXT,
            "data.valid": VALID,
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
"""The recipe of each kind, and the settings that make it smaller and faster."""
BERT_FINETUNING: dict[str, Any] = {"pooling": "mean", "train.learning_rate": 1e-3}
"""Settings for fine-tuning a BERT that is pretrained here: without next-sentence prediction its [CLS] state is
untrained, and a narrow model takes a higher rate."""
FLAGS = {"vectors": "--vectors FILE", "elmo": "--elmo RUN", "bert": "--bert RUN (or hf:DIR)"}


def needed_models(methods: list[str], given: Mapping[str, str | None], is_miniature: bool) -> dict[str, str | None]:
    """Return the pretrained models of the methods, None where one is to be pretrained; a missing one is refused."""
    models: dict[str, str | None] = {}
    for name in methods:
        for kind in METHODS[name].pretrained:
            models[kind] = given.get(kind)
            if models[kind] is None and not is_miniature:
                raise ConfigError(
                    f"--methods {name}: it starts from a pretrained model; give {FLAGS[kind]}, or leave the method "
                    f"out."
                )
    return models


class PretrainedModels:
    """The pretrained models of a transfer study; those that are not given are pretrained on first use."""

    def __init__(
        self, transfer: Transfer, given: dict[str, str | None], machine: Mapping[str, Any], progress: Progress
    ) -> None:
        self.transfer, self.given, self.machine, self.progress = transfer, given, dict(machine), progress

    def path(self, kind: str) -> str:
        """Return the path of a pretrained model."""
        given = self.given[kind]
        if given is not None:
            return self._vector_file(given) if kind == "vectors" else given
        run = self.transfer.pretrained(kind)
        if not run.exists or run.state not in ENDED:
            self.progress.info(f"{kind}: pretraining on the miniature world, in {run.path}.")
            folder = {"data.folder": str(self.transfer.path / "pretrained" / f"text-{kind}")}
            recipe, changes = RECIPES[kind]
            _train(run, recipe, changes | folder | self.machine, self.progress)
        return self._vector_file(str(run.path)) if kind == "vectors" else str(run.path)

    def _vector_file(self, source: str) -> str:
        """Return a file of word vectors: the given one, or the exported vectors of a run."""
        if not Path(source).is_dir():
            return source
        path = self.transfer.path / "pretrained" / "vectors.txt"
        if not path.is_file():
            path.parent.mkdir(exist_ok=True)
            write_word_vectors(path, underscored(load_word_vectors(source).entries), "word2vec")
        return str(path)

    def finetuning(self, kind: str | None) -> dict[str, Any]:
        """Return settings for fine-tuning a model that is pretrained here; empty for a given one."""
        return BERT_FINETUNING if kind == "bert" and self.given["bert"] is None else {}

    def cost(self) -> dict[str, Any]:
        """Return the seconds of pretraining of the models that are pretrained here."""
        runs = {kind: self.transfer.pretrained(kind) for kind, given in self.given.items() if given is None}
        return {kind: {"seconds": run.record.seconds} for kind, run in runs.items() if run.exists}


def _train(run: Run, recipe: str, changes: dict[str, Any], progress: Progress) -> None:
    if run.exists:
        resume(run.path, progress=progress)
        return
    overrides = dict(flatten(nested(changes)))
    execute(run, RunSpec(resolve_run(find_recipe(recipe), overrides)), progress)


def check_pretrained(kind: str, source: str) -> None:
    """Refuse a pretrained model of another kind, before any training."""
    if kind == "vectors":
        if not Path(source).exists():
            raise ConfigError(f"--vectors {source}: there is no such file or run; check the path.")
        load_word_vectors(source, SAMPLE_ROWS)
        return
    if is_word_file(source):
        raise ConfigError(
            f"--{kind} {source}: these are word vectors; give them with --vectors, and a run of another kind here."
        )
    model = family(str(pretrained_settings(source)["family"])).kind
    if model != {"elmo": "bidirectional-lm", "bert": "encoder"}[kind]:
        words = {"elmo": "an ELMo (regard train elmo)", "bert": "a BERT"}[kind]
        raise ConfigError(f"--{kind} {source}: this is not {words}; give the run of one.")
