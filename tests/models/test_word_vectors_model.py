import torch
from torch.testing import assert_close

from regard.models.base.settings import Vocabularies
from regard.models.word_vectors import WordVectorSettings, WordVectorTables


def tables():
    torch.manual_seed(0)
    return WordVectorTables(WordVectorSettings(width=10), Vocabularies(9, 9, True))


def test_initial_vectors_are_those_of_word2vec():
    model = tables()
    assert model.words.weight.abs().max() <= 0.5 / 10 and model.words.weight.std() > 0
    assert not model.contexts.weight.any()


def test_logits_are_dot_products_of_input_and_output_vectors():
    model = tables()
    torch.nn.init.normal_(model.contexts.weight)
    centers, contexts = torch.tensor([1, 4]), torch.tensor([[2, 3, 1], [0, 8, 4]])
    logits = model(centers, contexts)
    for row in range(2):
        for column in range(3):
            word, context = model.words.weight[centers[row]], model.contexts.weight[contexts[row, column]]
            assert_close(logits[row, column], word @ context)


def test_the_mean_of_a_context_ignores_padding():
    model = tables()
    around, token_mask = torch.tensor([[1, 2, 3], [4, 5, 6]]), torch.tensor([[True, True, False], [False] * 3])
    means = model.mean(around, token_mask)
    assert_close(means[0], model.words.weight[[1, 2]].mean(0))
    assert not means[1].any()
