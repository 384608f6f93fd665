import pytest

from regard.errors import ConfigError
from regard.studio.views.models import generating, source_tokenizer_of, tokenizer_of


def test_pipelines_are_narrowed_or_refused(translator, pipeline_of):
    assert generating(translator) is translator and tokenizer_of(translator) is translator.target_tokenizer
    assert source_tokenizer_of(translator) is translator.source_tokenizer
    assert source_tokenizer_of(pipeline_of("language-model")) is pipeline_of("language-model").tokenizer
    with pytest.raises(ConfigError, match="generates no text"):
        generating(pipeline_of("vectors"))
