"""Small random models with a head and their tokenizers, for tests of fine-tuning tasks."""

import torch

from labeled import reviews, word_tokenizer
from regard.checkpoint.bundle import Bundle
from regard.data.encoding.templates import FRAME_TOKENS
from regard.models.base.settings import HeadSettings, Vocabularies
from regard.models.bert import BertSettings
from regard.models.families import build_model
from regard.models.gpt.model import GptSettings
from regard.text.settings import MaskedTextSettings
from regard.text.training import train_tokenizer

TEXTS = [text for text, _ in reviews(30)]
SMALL = {"width": 16, "heads": 2, "feed_forward_width": 32, "layers": 2, "max_positions": 40}
HEADS = {
    "classify": "classification",
    "regress": "regression",
    "choose": "multiple-choice",
    "tag": "token-classification",
    "answer": "extractive-qa",
}
FACTS = {
    "classify": {"labels": ["a", "b", "c"], "texts": 1, "pair_encoding": "cross-encoder"},
    "regress": {"texts": 1, "pair_encoding": "cross-encoder", "center": 10.0, "spread": 4.0},
    "choose": {},
    "tag": {"labels": ["O", "B-X", "I-X"]},
    "answer": {"stride": 8, "max_answer_tokens": 5, "has_unanswerable": True, "threshold": 0.0},
}


def head_bundle(task: str, family: str = "bert", pooling: str = "token", **facts) -> Bundle:
    """Return a model with random weights, large enough for outputs to differ."""
    if family == "bert":
        tokenizer = train_tokenizer(TEXTS, MaskedTextSettings(size=200, min_frequency=1))
        settings = BertSettings(**SMALL)
    else:
        tokenizer = word_tokenizer(*TEXTS).with_special(FRAME_TOKENS)
        settings = GptSettings(**SMALL)
    known = {"max_length": 40} | FACTS[task] | facts
    kind = "similarity" if known.get("pair_encoding") == "bi-encoder" else HEADS[task]
    outputs = len(known["labels"]) if "labels" in known else 2 if task == "answer" else 1
    head = HeadSettings(kind=kind, outputs=outputs, pooling="mean" if kind == "similarity" else pooling)
    vocabularies = Vocabularies(tokenizer.size, tokenizer.size, True)
    torch.manual_seed(0)
    model = build_model(settings, vocabularies, head)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.3)
    return Bundle(task, model.eval(), settings, vocabularies, {"tokenizer": tokenizer}, known, head)
