"""A model that has learned already, to begin with."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor

from regard.checkpoint.atomic import fingerprint
from regard.checkpoint.bundle import Bundle, read_bundle, read_config, weights_of
from regard.checkpoint.identity import HUGGING_FACE, model_hash, model_place
from regard.checkpoint.store import find_checkpoint
from regard.config.resolve import Layer
from regard.errors import ConfigError
from regard.interop.huggingface.read import read as read_hugging_face
from regard.models.families import KINDS, Kind, family
from regard.models.heads import load_matching_weights
from regard.tasks.embedding_init import LOOKED_AT, names_vectors
from regard.tasks.load import load_word_vectors

TABLES = (".csv", ".tsv", ".jsonl", ".json", ".conll")
BODY = "body."
"""How the names of a headed model's weights begin, its head's left out."""

FEATURE_RATE = 1e-3
RATES: dict[Kind, float] = {
    "causal-lm": 6.25e-5,
    "encoder": 3e-5,
    "bidirectional-lm": FEATURE_RATE,
    "embeddings": FEATURE_RATE,
}
USUAL_WIDTH = 768
"""The rates that GPT (Radford et al., 2018, §4.1) and BERT (Devlin et al., 2019, A.3) are fine-tuned with, and the
width of both: half as wide, twice the rate. What is new above a start that
gives features learns at a rate of its own, whatever its width."""
RATE_OF_GOING_ON = 5e-5
"""That of going on with pretraining: half of BERT's own (Devlin et al., 2019, A.2), as updates are smaller here."""
RATE_OF_TRANSLATORS = 1e-4
"""That of going on with a translator on other pairs: about a tenth of what recipes begin with at the same width."""
EPOCHS, EPOCHS_FROM_NOTHING = 3, 10
"""Passes over the examples that fine-tuning takes (both papers), and that learning from nothing else takes."""
NO_BOUND = 10**7
"""Updates at most, where epochs say when it ends."""


@dataclass(frozen=True)
class InitFrom:
    """How a task begins with a model that has learned already."""

    rates: Mapping[Kind, float]
    """The usual peak rate of each kind of model that it may begin with, for one 768 wide."""
    is_fine_tuning: bool = True
    """Whether the model gets a new head; otherwise it goes on with what it has learned."""
    free: tuple[str, ...] = ()
    """Settings of the model that may be others than the start's, beside dropout."""
    takes_vectors: bool = False
    """Whether word vectors are a start too, from which only the table of tokens is taken: another matter."""


def is_word_file(start: str) -> bool:
    """Tell whether a start is a file of word vectors, or a run that learned some."""
    if Path(start).is_file() and Path(start.removesuffix(".gz")).suffix.lower() in TABLES:
        raise ConfigError(
            f"init_from: {start} is a table of examples, and no model; name a run, a checkpoint, hf:DIR or a file of "
            f"word vectors, and give examples with --data."
        )
    return names_vectors(start)


def read_start(start: str) -> Bundle:
    """Return the model to begin with, on the CPU."""
    if start.startswith(HUGGING_FACE):
        return read_hugging_face(Path(start.removeprefix(HUGGING_FACE)))
    return read_bundle(find_checkpoint(Path(start)))


def start_of(settings: Any, resumed: Bundle | None) -> Bundle | None:
    """Return the model that a new run goes on with, if it does; one that is resumed has gone on already."""
    return None if settings.init_from is None or resumed else read_start(settings.init_from)


def body_weights(start: Bundle) -> dict[str, Tensor]:
    """Return the weights of a model by name; those of its head, if it has one, are left behind."""
    weights = weights_of(start.model)
    if start.head is None:
        return weights
    return {name.removeprefix(BODY): each for name, each in weights.items() if name.startswith(BODY)}


def load_pretrained(model: Any, start: Bundle, settings: Any) -> dict[str, Any]:
    """Give a new model the weights of one that learned the same before, and return the facts of where they are from.

    What only one of both has is left as it is.
    """
    kept = model.state_dict().keys()
    load_matching_weights(model, {name: each for name, each in body_weights(start).items() if name in kept})
    return {"init_from": {"path": settings.init_from, "sha256": start_hash(settings.init_from)}}


def start_facts(bundle: Bundle) -> dict[str, Any]:
    """Return where a model's weights are from, if it has begun with some, and the word vectors beside it."""
    return {name: bundle.facts[name] for name in ("init_from", "extra_vectors") if name in bundle.facts}


def start_hash(start: str) -> str:
    """Return a hash of the model to begin with."""
    if is_word_file(start):
        return str(fingerprint(Path(start))["sha256"]) if Path(start).is_file() else model_hash(model_place(start))
    return model_hash(model_place(start))


def model_of(start: str) -> dict[str, Any]:
    """Return the model settings of the model to begin with, its weights unread where that is possible."""
    if start.startswith(HUGGING_FACE):
        return read_start(start).settings.model_dump(mode="json")
    if is_word_file(start):
        return {"family": "words", "width": load_word_vectors(start, LOOKED_AT).width}
    return dict(read_config(find_checkpoint(Path(start)))["model"])


def init_layer(task: str, beginning: InitFrom, values: dict[str, Any], changes: Mapping[str, Any]) -> Layer | None:
    """Return the layer of settings that a start brings along, if there is one; what contradicts it is refused.

    A start named on the command line takes the place of a recipe's own model and tokenizer, and where it goes on
    learning the same, of the rate for one that knows nothing.
    """
    start = changes.get("init_from", values.get("init_from"))
    if not isinstance(start, str) or (beginning.takes_vectors and is_word_file(start)):
        return None
    theirs = model_of(start)
    kind = family(theirs["family"]).kind
    if kind not in beginning.rates:
        needed = " or a ".join(KINDS[each] for each in beginning.rates)
        raise ConfigError(
            f"init_from: {start} is a {KINDS[kind]}, but the task {task} begins with a {needed}; name one."
        )
    if "init_from" in changes:
        for part in ("text", "model"):
            kept = {name: value for name, value in _table(values, part).items() if name.endswith("dropout")}
            values[part] = kept
        if not beginning.is_fine_tuning:
            _table(values, "train").pop("learning_rate", None)
    for name, value in (*_table(values, "model").items(), *_table(changes, "model").items()):
        if name == "preset" and value != theirs.get("preset"):
            raise ConfigError(
                f'model.preset: "{value}" cannot be chosen, the model comes from {start}; leave it out.'
            )
        is_free = name in beginning.free or name.endswith("dropout")
        if name in theirs and not is_free and value != theirs[name]:
            raise ConfigError(f"model.{name}: {value} contradicts {start}, where it is {theirs[name]}; leave it out.")
    is_tuned = beginning.rates[kind] != FEATURE_RATE and not changes.get("freeze_body", values.get("freeze_body"))
    rate = float(f"{beginning.rates[kind] * USUAL_WIDTH / theirs['width']:.3g}") if is_tuned else FEATURE_RATE
    return Layer(f"start {start}", {"model": theirs, "train": {"learning_rate": rate}})


def usual_length(origin: str, has_tuned_start: bool, values: dict[str, Any], changes: Mapping[str, Any]) -> Layer:
    """Return the layer that says how long a run learns where nobody does: weaker than anything else.

    A user's tokens_per_update takes the place of a task's own examples_per_update.
    """
    theirs, given = _table(values, "train"), _table(changes, "train")
    if "tokens_per_update" in given and "examples_per_update" not in given:
        theirs.pop("examples_per_update", None)
    if {"steps", "epochs"} & {*theirs, *given}:
        return Layer(origin, {} if "steps" in {*theirs, *given} else {"train": {"steps": NO_BOUND}})
    epochs = EPOCHS if has_tuned_start else EPOCHS_FROM_NOTHING
    return Layer(origin, {"train": {"steps": NO_BOUND, "epochs": epochs}})


def _table(values: Mapping[str, Any], name: str) -> dict[str, Any]:
    table = values.get(name)
    return table if isinstance(table, dict) else {}
