"""Conversations as ids: answers have labels, prompts none."""

import numpy as np
import pytest
import torch

from regard.data.encoding.batches import NO_LABEL
from regard.data.feeds.chats import chat_ids, encode_chats, rendered_prompt
from regard.data.sources.chats import Chat
from regard.models.base.settings import Vocabularies
from regard.models.families import build_model
from regard.models.gpt.model import GptSettings
from regard.objectives.language_model import LanguageObjective
from regard.text.chat_template import ROLES_TEMPLATE, ChatTemplate, Message
from regard.text.settings import TokenizerSettings
from regard.text.training import train_tokenizer

TEMPLATE = ChatTemplate(ROLES_TEMPLATE)
CHATS = [
    Chat((Message("user", "who is it ?"), Message("assistant", "it is me ."))),
    Chat(
        (Message("user", "why </s> ?"), Message("assistant", "so ."), Message("user", "a"), Message("assistant", "b"))
    ),
]


@pytest.fixture(scope="module")
def tokenizer():
    return train_tokenizer(
        ["who is it ? it is me . why so ? a b <|user|> <|assistant|>"] * 3, TokenizerSettings(size=300)
    )


def test_the_tokens_of_answers_and_their_ends_alone_have_labels(tokenizer):
    ids, answers = chat_ids(TEMPLATE, CHATS[1], tokenizer)
    labeled = [token for token, is_label in zip(ids, answers) if is_label]
    assert tokenizer.decode(labeled).replace(" ", "") == "so.b"
    assert labeled.count(tokenizer.eos_id) == 2 and labeled[-1] == tokenizer.eos_id
    assert ids.count(tokenizer.eos_id) == 3  # the first one of all, and that of each answer: none in a message


def test_a_prompt_has_the_ids_that_training_has_before_its_answer(tokenizer):
    ids, answers = chat_ids(TEMPLATE, CHATS[0], tokenizer)
    text, prompt = rendered_prompt(TEMPLATE, CHATS[0].messages[:1], tokenizer)
    assert prompt == ids[: answers.index(True)] and text.endswith("<|assistant|>\n")


def test_batches_are_padded_and_cut_at_the_window(tokenizer):
    encoded = encode_chats(CHATS, TEMPLATE, tokenizer, 200)
    batch = encoded.batch(np.arange(2))
    assert batch.label_count == int((batch.labels != NO_LABEL).sum()) == int(encoded.label_counts.sum())
    for row in range(2):
        ids = encoded.sequences[row]
        assert batch.tokens[row, : len(ids) - 1].tolist() == ids[:-1].tolist()
        assert (batch.labels[row, len(ids) - 1 :] == NO_LABEL).all()
    first = int(np.argmax(encoded.is_label)) + 1
    cut = encode_chats(CHATS, TEMPLATE, tokenizer, first)
    assert int(cut.sequences.lengths.max()) <= first + 1 and cut.is_truncated.any()
    assert len(encode_chats(CHATS, TEMPLATE, tokenizer, 3)) == 0


def test_masked_tokens_get_no_gradient_and_neighbors_in_a_batch_change_nothing(tokenizer):
    torch.manual_seed(0)
    settings = GptSettings(width=16, heads=2, feed_forward_width=32, layers=1, max_positions=64)
    model = build_model(settings, Vocabularies(tokenizer.size, tokenizer.size, True)).double().eval()
    encoded, objective = encode_chats(CHATS, TEMPLATE, tokenizer, 60), LanguageObjective()
    batch = encoded.batch(np.arange(2))
    hidden = model.hidden_states(batch.tokens).detach().requires_grad_()
    model.hidden_states = lambda tokens: hidden
    objective(model, batch)["ce"].sum.backward()
    has_gradient = hidden.grad.abs().sum(-1) > 0
    assert torch.equal(has_gradient, batch.labels != NO_LABEL)
    del model.hidden_states
    alone = sum(float(objective(model, encoded.batch(np.array([row])))["nll"].sum) for row in range(2))
    assert float(objective(model, batch)["nll"].sum) == pytest.approx(alone, rel=1e-5)
