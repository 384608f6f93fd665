import torch
from torch.testing import assert_close

from regard.models.base.settings import Vocabularies
from regard.models.word_embeddings import WordEmbeddings, WordEmbeddingSettings
from small import random_tokens


def test_a_vector_depends_on_its_word_alone():
    model = WordEmbeddings(WordEmbeddingSettings(width=6), Vocabularies(40, 40, True)).eval()
    tokens = random_tokens(2, 5)
    hidden = model.hidden_states(tokens)
    assert_close(hidden, model.table.weight[tokens])
    nothing = torch.zeros(0)
    assert_close(model.hidden_states_varlen(tokens.flatten(), nothing, nothing, nothing, 5), hidden.flatten(0, 1))
    assert_close(model.pool(hidden[:, 0]), hidden[:, 0])
    assert model.head.weight is model.table.weight


def test_dropout_acts_in_training_only():
    model = WordEmbeddings(WordEmbeddingSettings(width=6, dropout=0.5), Vocabularies(40, 40, True))
    tokens = random_tokens(2, 5)
    assert (model.train().hidden_states(tokens) == 0).any()
    assert not (model.eval().hidden_states(tokens) == 0).any()
