"""Pipelines as views need them: one that generates, and its tokenizer."""

from typing import TYPE_CHECKING

from regard.errors import ConfigError
from regard.pipelines.base import AnyPipeline
from regard.pipelines.generation import GeneratingPipeline
from regard.text.tokenizer import Tokenizer

if TYPE_CHECKING:
    from typing import Any

    from torch import nn

    AnyGenerator = GeneratingPipeline[Any, Any, Any]


def body_of(pipeline: AnyPipeline) -> "nn.Module":
    """Return the model itself, or the body under a head; word vectors have neither."""
    model = getattr(pipeline, "model", None)
    if model is None:
        raise ConfigError("model: this is a table of word vectors; choose a model that reads text.")
    body: nn.Module = getattr(model, "body", model)
    return body


def generating(pipeline: AnyPipeline) -> "AnyGenerator":
    """Return a pipeline that generates text; another one is refused."""
    if not isinstance(pipeline, GeneratingPipeline) or len(pipeline.models) > 1:
        raise ConfigError("model: this one generates no text; choose a translator or a language model.")
    return pipeline


def tokenizer_of(pipeline: AnyPipeline) -> Tokenizer:
    """Return the tokenizer of a pipeline, the target's of a translator; one without is refused."""
    tokenizer = getattr(pipeline, "tokenizer", None)
    if not isinstance(tokenizer, Tokenizer):
        raise ConfigError("model: this one has no sub-word tokenizer; choose another model.")
    return tokenizer


def source_tokenizer_of(pipeline: AnyPipeline) -> Tokenizer:
    """Return the tokenizer of what a pipeline reads."""
    own = getattr(pipeline, "source_tokenizer", None)
    return own if isinstance(own, Tokenizer) else tokenizer_of(pipeline)
