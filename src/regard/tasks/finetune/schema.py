"""The schema of a fine-tuning run for a model of some family."""

from functools import cache
from typing import TYPE_CHECKING, Any

from pydantic import create_model

from regard.models.base.family import BIDIRECTIONAL_KINDS
from regard.models.base.settings import ModelSettings
from regard.tasks.finetune.settings import FineTuneSettings
from regard.text.settings import MaskedTextSettings, WordTextSettings

if TYPE_CHECKING:
    pass


@cache
def settings_of(schema: Any, model: type[ModelSettings]) -> type[FineTuneSettings[ModelSettings]]:
    """Return a schema for a model of some family; an encoder's tokenizer is BERT's by default."""
    from regard.models.families import family

    run: type[FineTuneSettings[ModelSettings]] = schema[model]
    kind = family(model.model_fields["family"].default).kind
    if kind == "embeddings":
        return create_model(run.__name__, __base__=run, text=(WordTextSettings, WordTextSettings()))
    if kind not in BIDIRECTIONAL_KINDS:
        return run
    return create_model(run.__name__, __base__=run, text=(MaskedTextSettings, MaskedTextSettings()))
