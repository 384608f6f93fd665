import pytest

from regard.errors import ConfigError
from regard.studio.views.merges import MergesRequest, show_merges


def test_merges_end_in_the_tokens_of_the_models_tokenizer(translator):
    view = show_merges(translator, MergesRequest(model="m", word="Gesundheitsinstitut"))
    tokens = [token for word in view.words for token in (word.steps[-1].tokens if word.steps else word.characters)]
    assert tokens == translator.source_tokenizer.encode("Gesundheitsinstitut").tokens
    assert view.vocabulary == translator.source_tokenizer.size


def test_what_has_no_merges_is_refused(translator, pipeline_of):
    with pytest.raises(ConfigError, match="give 1 to 200 characters"):
        show_merges(translator, MergesRequest(model="m", word=" "))
    with pytest.raises(ConfigError, match="no sub-word tokenizer"):
        show_merges(pipeline_of("vectors"), MergesRequest(model="m", word="x"))
