"""Small language models with their tokenizers, ours and Hugging Face's, for tests of files."""

import torch

from regard.checkpoint.bundle import Bundle
from regard.models.base.settings import Vocabularies
from regard.models.families import build_model
from regard.models.gpt.model import GptSettings
from regard.text.tokenizer import Tokenizer
from spelling import END, NASTY, trained_bytes

MODERN = {
    "positions": "rotary",
    "norm": "rms",
    "activation": "swiglu",
    "has_bias": False,
    "key_value_heads": 2,
    "attention_dropout": 0.0,
    "dropout": 0.0,
    "embedding_dropout": 0.0,
}
FORMS = {"GPT-2": {}, "GPT": {"norm_order": "post"}, "Llama": MODERN}
LLAMA = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "intermediate_size": 24,
    "max_position_embeddings": 32,
}
TEXTS = [*NASTY, *["The dog sleeps in the garden, and the cat plays with the old ball."] * 20]


def small_gpt(**changes) -> GptSettings:
    base = {"width": 16, "heads": 4, "feed_forward_width": 64, "layers": 2, "max_positions": 32}
    return GptSettings(**(base | changes))


def shaken(model: torch.nn.Module) -> torch.nn.Module:
    """Return a model with something in every bias and norm, whose outputs are far from uniform."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.3)
    return model.eval()


def small_language_bundle(tokenizer: Tokenizer, generate: dict | None = None, **changes) -> Bundle:
    """Return a small language model ready to be written."""
    settings, vocabularies = small_gpt(**changes), Vocabularies(tokenizer.size, tokenizer.size, True)
    torch.manual_seed(1)
    model = shaken(build_model(settings, vocabularies))
    facts = {"window": settings.max_positions, "generate": {"add_bos": False} | (generate or {})}
    return Bundle("language-model", model, settings, vocabularies, {"tokenizer": tokenizer}, facts)


def their_folder(folder, kind="gpt2", **changes):
    """Save a model of theirs with a byte-level tokenizer, and return it."""
    import transformers

    backend = trained_bytes(TEXTS)
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=backend, bos_token=END, eos_token=END, unk_token=END
    ).save_pretrained(folder)
    number = backend.token_to_id(END)
    sizes = {"vocab_size": backend.get_vocab_size(), "bos_token_id": number, "eos_token_id": number}
    sizes |= LLAMA if kind == "llama" else {"n_positions": 32, "n_embd": 16, "n_layer": 2, "n_head": 4}
    torch.manual_seed(2)
    config = transformers.AutoConfig.for_model(kind, **(sizes | changes))
    found = shaken(transformers.AutoModelForCausalLM.from_config(config))
    found.save_pretrained(folder)
    return found


def greedy(model, prompt: list[int], end: int, length: int, never: tuple[int, ...] = ()) -> list[int]:
    """Return the continuation of a prompt: the most probable token at each step, to the end or so many tokens."""
    said, state = [], model.start()
    with torch.no_grad():
        hidden = model.hidden_states(torch.tensor([prompt]), state)
        while len(said) < length:
            logits = model.project(hidden[:, -1]).index_fill(1, torch.tensor(never, dtype=torch.long), -torch.inf)
            said.append(int(logits.argmax()))
            if said[-1] == end:
                break
            hidden = model.hidden_states(torch.tensor([said[-1:]]), state)
    return said


def random_ids(size: int, rows: int = 3, length: int = 20) -> torch.Tensor:
    return torch.randint(4, size - 1, (rows, length), generator=torch.Generator().manual_seed(3))
