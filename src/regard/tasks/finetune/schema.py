"""The schema of a fine-tuning run for a model of some family."""

from functools import cache
from typing import Any

from pydantic import create_model

from regard.models.base.settings import ModelSettings
from regard.models.families import BIDIRECTIONAL_KINDS, FAMILIES
from regard.tasks.finetune.settings import FineTuneSettings
from regard.text.settings import MaskedTextSettings, WordTextSettings


@cache
def settings_of(schema: Any, model: type[ModelSettings]) -> type[FineTuneSettings[ModelSettings]]:
    """Return a schema for a model of some family; an encoder's tokenizer is BERT's by default."""
    run: type[FineTuneSettings[ModelSettings]] = schema[model]
    kind = next(each.kind for each in FAMILIES.values() if each.settings is model)
    if kind == "embeddings":
        return create_model(run.__name__, __base__=run, text=(WordTextSettings, WordTextSettings()))
    if kind not in BIDIRECTIONAL_KINDS:
        return run
    return create_model(run.__name__, __base__=run, text=(MaskedTextSettings, MaskedTextSettings()))
