"""Training speed on a GPU: Transformer-base, 512 pairs of 48 tokens, regard against Hugging Face's Marian, compiled.

python benchmarks/train_speed_cuda.py
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable

import torch
from torch.nn import functional as F

from regard.data.encoding.batches import TranslationBatch
from regard.models.base.settings import Vocabularies
from regard.models.families import build_model, family
from regard.models.presets import preset
from regard.objectives.translation import TranslationObjective
from regard.training.device.gradients import build_gradients
from regard.training.device.machine import prepare_machine
from regard.training.settings import MachineSettings

VOCABULARY, SMOOTHING, RATE = 32_000, 0.1, 1e-4


def random_batch(pairs: int, length: int) -> TranslationBatch:
    tokens = torch.randint(4, VOCABULARY, (3, pairs, length))
    token_mask = torch.ones(pairs, length, dtype=torch.bool)
    places = torch.arange(pairs * length)
    return TranslationBatch(tokens[0], token_mask, tokens[1], token_mask, places, tokens[2].flatten(), len(places))


def regard_step(batch: TranslationBatch, is_compiled: bool) -> Callable[[], object]:
    machine = prepare_machine(MachineSettings(device="cuda", compile=is_compiled))
    kind = family("transformer")
    settings = kind.settings(**preset("transformer-base").settings | {"embedding_dropout": 0.1})
    model = build_model(settings, Vocabularies(VOCABULARY, VOCABULARY, True)).cuda().train()
    optimizer = torch.optim.Adam(model.parameters(), RATE, betas=(0.9, 0.98), fused=True)
    gradients = build_gradients(model, TranslationObjective(SMOOTHING), machine)
    counts = dict.fromkeys(("ce", "nll"), batch.label_count)

    def step() -> None:
        gradients.begin(counts)
        gradients.add(batch)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        gradients.clear()

    return step


def marian_step(batch: TranslationBatch) -> Callable[[], object]:
    from transformers import MarianConfig, MarianMTModel

    config = MarianConfig(
        vocab_size=VOCABULARY,
        d_model=512,
        encoder_layers=6,
        decoder_layers=6,
        encoder_attention_heads=8,
        decoder_attention_heads=8,
        encoder_ffn_dim=2048,
        decoder_ffn_dim=2048,
        dropout=0.1,
        activation_function="relu",
        scale_embedding=True,
        pad_token_id=0,
        eos_token_id=3,
        decoder_start_token_id=2,
    )
    model = MarianMTModel(config).cuda().train()
    compiled = torch.compile(model)
    optimizer = torch.optim.Adam(model.parameters(), RATE, betas=(0.9, 0.98), fused=True)
    source, target, labels = (x.cuda() for x in (batch.source, batch.target, batch.labels))
    token_mask = batch.source_mask.cuda()

    def step() -> None:
        with torch.autocast("cuda", torch.bfloat16):
            logits = compiled(input_ids=source, attention_mask=token_mask, decoder_input_ids=target).logits
            loss = F.cross_entropy(logits.flatten(0, 1), labels, label_smoothing=SMOOTHING)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    return step


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=512)
    parser.add_argument("--length", type=int, default=48)
    parser.add_argument("--rounds", type=int, default=7)
    words = parser.parse_args()
    batch = random_batch(words.pairs, words.length)
    sides = {
        "regard": regard_step(batch, is_compiled=False),
        "regard, blocks compiled": regard_step(batch, is_compiled=True),
        "marian, compiled": marian_step(batch),
    }
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    for step in sides.values():  # compiling, recording
        for _ in range(4):
            step()
    for _ in range(words.rounds):
        for name, step in sides.items():
            torch.cuda.synchronize()
            started = time.perf_counter()
            for _ in range(5):
                step()
            torch.cuda.synchronize()
            seconds[name].append((time.perf_counter() - started) / 5)
    speed = {name: round(batch.label_count / statistics.median(each)) for name, each in seconds.items()}
    ratios = {name: round(value / speed["marian, compiled"], 3) for name, value in speed.items()}
    machine = f"{torch.cuda.get_device_name()}, torch {torch.__version__}"
    print(json.dumps({"target_tokens_per_second": speed, "ratio": ratios, "machine": machine}, indent=2))


if __name__ == "__main__":
    main()
