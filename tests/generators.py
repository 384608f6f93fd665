"""Untrained language models with a tokenizer, and generation by its definition, for tests."""

import numpy as np
import torch

from language import small_language_model
from regard import miniature
from regard.checkpoint.bundle import Bundle
from regard.decoding.logits.counter_uniforms import counter_uniforms
from regard.decoding.settings import length_penalty
from regard.decoding.steppers.decoder_only import window_start
from regard.models.base.settings import Vocabularies
from regard.models.families import build_model
from regard.models.gpt.model import GptSettings
from regard.models.recurrent.language_model import RecurrentLmSettings
from regard.tasks.language_model.pipeline import Generator
from regard.text.settings import TokenizerSettings
from regard.text.training import train_tokenizer
from small import ENDS

STORIES = list(miniature.documents("train", 60))

FAMILIES = {
    "gpt": {"family": "gpt", "max_positions": 24},
    "post-norm": {"family": "gpt", "norm_order": "post", "max_positions": 24},
    "rotary": {"family": "gpt", "positions": "rotary"},
    "alibi": {"family": "gpt", "positions": "alibi", "key_value_heads": 2},
    "lstm": {"family": "recurrent-lm", "cell": "lstm", "layers": 2},
    "gru": {"family": "recurrent-lm", "cell": "gru"},
    "rnn": {"family": "recurrent-lm", "cell": "rnn", "embedding_width": 12},
}


def settings_of(name):
    """Return the settings of a small model."""
    if FAMILIES[name]["family"] == "gpt":
        return GptSettings(**{"width": 16, "heads": 4, "feed_forward_width": 32, "layers": 2} | FAMILIES[name])
    return RecurrentLmSettings(**{"width": 16} | FAMILIES[name])


def small_model(name):
    """Return a small model in fp64 whose texts vary, and now and then end."""
    model = small_language_model(settings_of(name), seed=3)
    with torch.no_grad():
        model.head.weight[ENDS.eos_id].mul_(1.5)
    return model


def tokenizer_of(pretokenizer="metaspace", size=500):
    return train_tokenizer(STORIES, TokenizerSettings(size=size, pretokenizer=pretokenizer))


def language_bundle(tokenizer, name="gpt", spread=0.15, **facts):
    """Return a small language model whose outputs are far from uniform, ready to be written."""
    settings = settings_of(name)
    vocabularies = Vocabularies(tokenizer.size, tokenizer.size, True)
    torch.manual_seed(1)
    model = build_model(settings, vocabularies)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * spread)
    return Bundle("language-model", model.eval(), settings, vocabularies, {"tokenizer": tokenizer}, facts)


def small_generator(tokenizer, name="gpt", **facts):
    return Generator(language_bundle(tokenizer, name, **facts))


def generated_by_definition(model, prompt, settings, sample=0, window=None):
    """Return the tokens that follow a prompt and their log probabilities: without a cache, step by step."""
    ids, values = list(prompt.ids), []
    begin = 0
    for step in range(settings.max_new_tokens):
        while window is not None and len(ids) - begin > window:  # the window is full: its newest half stays
            begin = begin + window + 1 - max(1, window // 2)
        with torch.no_grad():
            log_p = model(torch.tensor([ids[begin:]]))[0, -1].log_softmax(-1).double().numpy()
        chance = counter_uniforms(settings.seed, np.array([prompt.line]), np.array([sample]), step)
        token = chosen(log_p, ids, step, settings, chance)
        ids.append(token)
        values.append(float(log_p[token]))
        if token == ENDS.eos_id:
            break
    return ids[len(prompt.ids) :], values


def beam_by_definition(model, prompt, settings, window=None):
    """Return ids, finish reason, log probabilities and score of a beam search: without a cache, step by step."""
    active, finished = [([], [], 0.0)], []
    for length in range(1, settings.max_new_tokens + 1):
        candidates = []
        for ids, values, total in active:
            text = [*prompt, *ids]
            with torch.no_grad():
                log_p = model(torch.tensor([text[window_start(len(text), window) :]]))[0, -1].float().log_softmax(-1)
            for token, value in enumerate(log_p.tolist()):
                is_early = token == ENDS.eos_id and length < settings.min_new_tokens
                if token not in ENDS.never and not is_early:
                    candidates.append(([*ids, token], [*values, value], total + value))
        candidates.sort(key=lambda each: -each[2])
        for ids, values, total in candidates[: settings.beam_size]:
            if ids[-1] == ENDS.eos_id:
                finished.append((ids[:-1], "eos", values, total / length_penalty(settings, length)))
        finished = sorted(finished, key=lambda each: -each[3])[: settings.beam_size]
        active = [each for each in candidates if each[0][-1] != ENDS.eos_id][: settings.beam_size]
        best = active[0][2] / length_penalty(settings, length)
        if len(finished) == settings.beam_size and best <= finished[-1][3]:
            return finished
    cut = [(ids, "length", values, total / length_penalty(settings, length)) for ids, values, total in active]
    return [*finished, *cut][: settings.beam_size]


def chosen(log_p, ids, step, settings, chance):
    """Return the next token as the settings define it, in plain NumPy."""
    past = [token for token in ids if token != ENDS.eos_id]
    allowed = log_p.copy()
    allowed[list(ENDS.never)] = -np.inf
    if step + 1 < settings.min_new_tokens:
        allowed[ENDS.eos_id] = -np.inf
    for token in set(past):
        allowed[token] *= settings.repetition_penalty if np.isfinite(allowed[token]) else 1
    size = settings.no_repeat_ngram_size
    for begin in range(len(past) - size + 1 if size else 0):
        if past[begin : begin + size - 1] == past[len(past) - size + 1 :]:
            allowed[past[begin + size - 1]] = -np.inf
    if np.isneginf(allowed).all():
        allowed[ENDS.eos_id] = log_p[ENDS.eos_id]
    if settings.temperature == 0:
        return int(allowed.argmax())
    chances = softmax(allowed / settings.temperature)
    order = np.argsort(-chances, kind="stable")
    if settings.top_k is not None:
        chances[order[settings.top_k :]] = 0
        chances = chances / chances.sum()
    if settings.top_p is not None:
        before = np.cumsum(chances[order]) - chances[order]
        chances[order[before >= settings.top_p]] = 0
        chances = chances / chances.sum()
    if settings.min_p is not None:
        chances[chances < settings.min_p * chances.max()] = 0
    sums = np.cumsum(chances)
    return int(np.searchsorted(sums, chance * sums[-1], side="right")[0])


def softmax(values):
    values = np.exp(values - values.max())
    return values / values.sum()
