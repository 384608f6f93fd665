"""Views of a model of any task: attention weights, the logit lens, decoding iterations."""

from collections.abc import Sequence
from inspect import signature
from typing import Any

from regard.config.schema import fields_of
from regard.errors import ConfigError
from regard.inspection.settings import InspectOptions
from regard.inspection.views import IterationsView, LensView, TraceView, WeightsView
from regard.tasks.contract import find_task


def view_of(model: Any, name: str, texts: Sequence[str], chosen: InspectOptions) -> TraceView:
    """Return the view of a forward pass over the texts of a row; `name` is the model's in messages."""
    row = _row(model, texts)
    if chosen.logit_lens:
        lens = getattr(model, "logit_lens", None)
        if lens is None:
            noun = find_task(model.task).wording.noun
            raise ConfigError(f"{name}: {noun} has no logit lens; give a language model or BERT.")
        if len(row) > 1 and "second" not in signature(lens).parameters:
            raise ConfigError("A language model takes one text; leave out the second.")
        named = dict(zip(("text", "second"), row))
        return LensView(lens(**named, count=chosen.top), model.tokenizer.tokens)
    if chosen.iterations is not None:
        if "iterations" not in signature(model.inspect).parameters:
            raise ConfigError(f"{name}: only a mask-predict model decodes in iterations; leave out --iterations.")
        return IterationsView(model.inspect(*row, iterations=chosen.iterations))
    return WeightsView(model.inspect(*row).layer(chosen.attention, chosen.layer), chosen.head, chosen.top)


def _row(model: Any, texts: Sequence[str]) -> list[Any]:
    """Return the fields of a row of the model; where the last one is a list, all further texts."""
    last = next((each for each in fields_of(model.row) if each.name == model.inputs[-1]), None)
    if last is not None and last.is_list:
        return [texts[0], texts[1:]]
    if len(texts) > 2:
        raise ConfigError(f"{len(texts)} texts were given; give one, or two for a pair.")
    return list(texts)
