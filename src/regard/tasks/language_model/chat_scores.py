"""Scores of answers: the negative log-likelihood of their tokens, given the conversation before them."""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from regard.data.feeds.chats import EncodedChats, encode_chats
from regard.data.feeds.sampler import Rows, micro_batches
from regard.data.sources.chats import Chat
from regard.errors import ConfigError, DataError
from regard.metrics.comparison import Score
from regard.models.base.protocols import CausalLM
from regard.nn.inference.memory import retry_smaller
from regard.tasks.data import EvalSet, SampleLoss, spread
from regard.tasks.evaluation import Evaluation
from regard.tasks.language_model.evaluate import text_statistics, window_of_pipeline
from regard.tasks.language_model.pipeline import Generator
from regard.tasks.text.corpora import scoring_machine
from regard.tasks.text.nll import TextUnits, label_losses, tokenizer_hash, unit_lines, values_of
from regard.training.device.machine import Machine

Losses = NDArray[np.float64]


def answer_units(chats: EncodedChats) -> TextUnits:
    """Return conversations as the units of a text, with the bytes and words of their answers."""
    texts = ["\n".join(each.answers) for each in chats.chats]
    begins = np.concatenate([np.zeros(1, np.int64), np.cumsum(chats.label_counts)[:-1]])
    sizes = ([len(text.encode()) for text in texts], [max(1, len(text.split())) for text in texts])
    return TextUnits("conversations", begins, *(np.asarray(each, float) for each in sizes))


@torch.inference_mode()
def answer_losses(model: CausalLM, chats: EncodedChats, rows: Rows, machine: Machine) -> list[Losses]:
    """Return the negative log-likelihoods of the answers' tokens of some conversations, in order."""
    losses: list[Losses] = [np.zeros(0)] * len(rows)

    def measure(limit: int) -> None:
        nothing, lengths = chats.lengths
        for part in micro_batches(np.arange(len(rows)), nothing[rows], lengths[rows], limit):
            batch = chats.batch(rows[part]).to(machine.device)
            with machine.autocast():
                hidden = model.hidden_states(batch.tokens).flatten(0, 1)
            has_label = batch.labels.flatten() >= 0
            head = model.head
            values = label_losses(hidden[has_label], head.weight, head.bias, batch.labels.flatten()[has_label]).nll
            sizes = (batch.labels >= 0).sum(1).cumsum(0).tolist()
            for row, own in zip(part.tolist(), np.split(values, sizes[:-1]), strict=True):
                losses[row] = own

    longest = int(chats.lengths[1].max())
    retry_smaller(measure, machine.micro_batch_tokens, longest, machine.device)
    return losses


def encoded_for(generator: Generator, name: str, chats: Sequence[Chat]) -> EvalSet:
    """Return conversations as a model with a chat template takes them."""
    template = generator.chat_template
    if template is None:
        raise ConfigError(
            f"{name}: this model has no chat template; score running text (--text), or a model trained on prompts "
            f"with completions."
        )
    encoded = encode_chats(chats, template, generator.tokenizer, window_of_pipeline(generator))
    if not len(encoded):
        raise DataError(f"{name}: no conversation has an answer within the context window; shorten the prompts.")
    return EvalSet(name, encoded)


def sample_chats(generator: Generator, chats: Sequence[Chat], examples: int) -> SampleLoss:
    """Return the loss on the answers of so many conversations, spread over those that are given."""
    encoded, machine = encoded_for(generator, "valid", chats).rows, scoring_machine(generator.device)
    rows = np.array(spread(len(encoded), examples))
    return SampleLoss(
        lambda: float(np.concatenate(answer_losses(generator.model, encoded, rows, machine)).mean()), len(rows)
    )


def evaluate_chats(generator: Generator, chosen: EvalSet) -> Evaluation:
    """Return the metrics of a model on the answers of conversations."""
    chats, machine = chosen.rows, scoring_machine(generator.device)
    losses = answer_losses(generator.model, chats, np.arange(len(chats)), machine)
    outputs = unit_lines(np.array([each.sum() for each in losses]), chats.label_counts.astype(float))
    units, window = answer_units(chats), window_of_pipeline(generator)
    statistics = text_statistics(units, outputs)
    values = values_of(statistics, len(outputs))
    signatures = {
        "perplexity": f"answers, window {window}, tokenizer {tokenizer_hash(generator.tokenizer)}",
        "word_perplexity": "answers",
        "bits_per_byte": "answers",
    }
    counts = {
        "tokens": int(chats.label_counts.sum()),
        "bytes": int(units.bytes.sum()),
        "words": int(units.words.sum()),
    }
    decode = {"window": window}
    return Evaluation(
        chosen.name,
        {**counts, **values},
        tuple(Score(key.replace("_", " "), values[key], each, key) for key, each in signatures.items()),
        outputs,
        statistics,
        hashes={"sources": chats.text_hash, "references": []},
        decode=decode,
        decode_defaults=decode,
    )
