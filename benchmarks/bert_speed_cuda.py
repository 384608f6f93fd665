"""Training speed of BERT on a GPU: masked words and next sentences, regard against Hugging Face, in the same run.

    python benchmarks/bert_speed_cuda.py [--text FILE ...] [--tokenizer tokenizer.json] [--out result.json]

Hugging Face's side is BertForPreTraining under torch.compile with its sdpa attention. Both: bf16 autocast, dropout as
in the paper, gradients clipped to norm 1, fused AdamW, the same batches; they take turns, and the median counts. Full
batches hold random tokens, each sequence as long as all others. With --text, sentence pairs of that text are read
too: end to end here, padded to the longest of a batch there (without a mask where nothing is padded), filled up to a
length (filled:128) or two sentences each (sentences:128); tokens are those of the text, never padding. Where the time
of our step goes is printed by kernel. Without a GPU: --device cpu --layers 1 --width 64 --heads 2 --sizes 4x32.
"""

import argparse
import json
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import cycle, islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch

from regard.data.corpus.shards import tokenize
from regard.data.encoding.batches import NO_LABEL
from regard.data.feeds.masked_lm import MaskedFeed, MlmBatch, Stage, packed_batch
from regard.data.feeds.masking import Masker
from regard.data.feeds.sampler import Position
from regard.data.feeds.sentence_pairs import FOLLOWS, IS_OTHER, Marks, SentencePairBatch, SentencePairSampler
from regard.data.settings.masking import MaskingSettings
from regard.data.settings.text import DocumentSource
from regard.models.base.settings import Vocabularies
from regard.models.families import build_model, family
from regard.models.presets import preset
from regard.objectives.masked_lm import MaskedObjective
from regard.tasks.text.tokenizer import sample_text
from regard.text.settings import MaskedTextSettings
from regard.text.tokenizer import Tokenizer
from regard.text.training import train_tokenizer
from regard.training.device.gradients import build_gradients
from regard.training.device.machine import prepare_machine
from regard.training.settings import MachineSettings

VOCABULARY, SHARE = 30_522, 0.15
OPTIMIZER: dict[str, Any] = {"lr": 1e-4, "betas": (0.9, 0.999), "weight_decay": 0.01, "fused": True}
LEARNED_FROM = 8 * 2**20
KINDS = {
    "matrix products": ("gemm", "cutlass", "nvjet", "xmma", "cublas"),
    "attention": ("flash", "fmha", "attention"),
    "optimizer and clipping": ("adam", "multi_tensor", "foreach", "lpnorm"),
    "loss of words": ("_rows", "softmax", "nll"),
    "fused by the compiler": ("triton",),
    "copies": ("copy", "memcpy", "memset", "cat"),
}
"""Kinds of kernels and parts of their names; the first match counts."""

Step = Callable[[], object]


def full_batch(rows: int, length: int) -> MlmBatch:
    """Return random tokens, all sequences of one length."""
    tokens = torch.randint(999, VOCABULARY, (rows * length,))
    segments = (torch.arange(length) >= length // 2).long().repeat(rows)
    chosen = torch.rand(rows, length).argsort(1)[:, : round(SHARE * length)]
    places = (chosen + torch.arange(rows)[:, None] * length).flatten().sort().values
    return MlmBatch(
        tokens=tokens,
        segments=segments,
        positions=torch.arange(length).repeat(rows),
        cu_seqlens=(torch.arange(rows + 1) * length).to(torch.int32),
        label_positions=places,
        labels=tokens[places],
        is_next=torch.randint(2, (rows,)),
        max_seqlen=length,
        label_count=len(places),
        pair_count=rows,
    )


class Text:
    """Batches of a text's sentence pairs."""

    def __init__(self, files: Sequence[str], tokenizer: Path | None, folder: Path) -> None:
        place = DocumentSource(paths=tuple(files))
        settings = MaskedTextSettings(size=VOCABULARY)
        self.tokenizer = (
            Tokenizer.load(tokenizer) if tokenizer else train_tokenizer(sample_text(place, LEARNED_FROM), settings)
        )
        self.corpus = tokenize(place, self.tokenizer, folder, sentences="marks")
        self.masker = Masker(MaskingSettings(), self.tokenizer)

    def filled(self, length: int, tokens: int, count: int) -> list[MlmBatch]:
        """Return batches of pairs that fill a length where their documents do, as they are trained on."""
        maker = SentencePairSampler(self.corpus, Marks.of(self.tokenizer), length, True, short_sequence_fraction=0.1)
        feed = MaskedFeed([Stage(maker)], self.masker, tokens, 10**9, seed=1)
        return [update.micro_batches[0] for update in islice(feed.updates(Position()), count)]

    def sentences(self, length: int, tokens: int, count: int) -> list[MlmBatch]:
        """Return batches of pairs of single sentences, cut to a length, half of them neighbors."""
        ids = self.corpus.read(0, min(len(self.corpus), 8 * tokens * count))
        marks = np.flatnonzero((ids == self.tokenizer.pad_id) | (ids == self.tokenizer.eos_id))
        found = [ids[begin + 1 : end] for begin, end in pairwise(marks.tolist()) if end - begin > 1]
        draw = np.random.default_rng(1)
        batches = []
        for _ in range(count):
            texts, following, size = list[list[int]](), list[int](), 0
            while size < tokens:
                place = int(draw.integers(len(found) - 1))
                is_other = bool(draw.integers(2))
                second = found[int(draw.integers(len(found)))] if is_other else found[place + 1]
                room = length - 3
                a = min(len(found[place]), max(room // 2, room - len(second)))
                b = min(len(second), room - a)
                texts.append([*found[place][:a].tolist(), -1, *second[:b].tolist()])
                following.append(IS_OTHER if is_other else FOLLOWS)
                size += a + b + 3
            batches.append(self._framed(texts, following))
        return batches

    def _framed(self, texts: list[list[int]], following: list[int]) -> MlmBatch:
        first, last = self.tokenizer.bos_id, self.tokenizer.eos_id
        rows = [[first, *(last if each < 0 else each for each in text), last] for text in texts]
        segments = [np.arange(len(row)) > row.index(last) for row in rows]
        sizes = [len(row) for row in rows]
        made = SentencePairBatch(
            np.concatenate([np.array(row) for row in rows]),
            np.concatenate(segments).astype(np.int64),
            np.concatenate([np.arange(size) for size in sizes]),
            np.cumsum([0, *sizes]),
            np.array(following),
            np.arange(len(rows)).astype(np.uint64),
        )
        return packed_batch(self.masker(made), 0, len(rows))


def regard_step(
    batches: Sequence[MlmBatch], words: argparse.Namespace, is_compiled: bool, is_half_precision: bool = False
) -> Step:
    """Return our step: it takes the batches in turn."""
    choices = {"compile": is_compiled, "bf16_residual": is_half_precision}
    machine = prepare_machine(MachineSettings(device=words.device, **choices))
    dropouts = dict.fromkeys(("dropout", "attention_dropout", "embedding_dropout"), words.dropout)
    sizes = {
        "layers": words.layers,
        "width": words.width,
        "heads": words.heads,
        "feed_forward_width": 4 * words.width,
    }
    settings = family("bert").settings(**preset("bert-base").settings | sizes | dropouts)
    model = build_model(settings, Vocabularies(VOCABULARY, VOCABULARY, True)).to(words.device).train()
    optimizer = torch.optim.AdamW(model.parameters(), **OPTIMIZER)
    objective = MaskedObjective()
    gradients = build_gradients(model, objective, machine)
    turn = cycle(batches)

    def step() -> object:
        batch = next(turn)
        gradients.begin(objective.counts(batch))
        sums = gradients.add(batch)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        gradients.clear()
        return sums["mlm"]

    return step


def hugging_face_step(batches: Sequence[MlmBatch], words: argparse.Namespace) -> Step:
    """Return their step on the same batches, padded to the longest row."""
    from transformers import BertConfig, BertForPreTraining

    config = BertConfig(
        vocab_size=VOCABULARY,
        hidden_size=words.width,
        num_hidden_layers=words.layers,
        num_attention_heads=words.heads,
        intermediate_size=4 * words.width,
        hidden_dropout_prob=words.dropout,
        attention_probs_dropout_prob=words.dropout,
        attn_implementation="sdpa",
    )
    model = BertForPreTraining(config).to(words.device).train()
    is_gpu = words.device == "cuda"
    compiled = torch.compile(model, mode=words.mode) if is_gpu else model
    optimizer = torch.optim.AdamW(model.parameters(), **OPTIMIZER)
    turn = cycle([padded(batch) for batch in batches])

    def step() -> object:
        batch = {name: value.to(words.device, non_blocking=True) for name, value in next(turn).items()}
        with torch.autocast(words.device, torch.bfloat16, enabled=is_gpu):
            loss = compiled(**batch).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return loss

    return step


def padded(batch: MlmBatch) -> dict[str, torch.Tensor]:
    """Return a batch as Hugging Face wants it."""
    sizes = batch.cu_seqlens.diff().tolist()
    rows = lambda flat, value: torch.nn.utils.rnn.pad_sequence(flat.split(sizes), True, value)
    labels = torch.full_like(batch.tokens, -100)
    labels[batch.label_positions] = batch.labels
    found = {
        "input_ids": rows(batch.tokens, 0),
        "token_type_ids": rows(batch.segments, 0),
        "labels": rows(labels, -100),
        "next_sentence_label": batch.is_next.masked_fill(batch.is_next == NO_LABEL, -100),
    }
    if min(sizes) < max(sizes):
        found["attention_mask"] = rows(torch.ones_like(batch.tokens), 0)
    return found


def compare(batches: Sequence[MlmBatch], words: argparse.Namespace, warm_up: int, steps: int) -> dict[str, Any]:
    """Return speed and memory of all sides on some batches, taken in turns."""
    is_gpu = words.device == "cuda"
    wait = torch.cuda.synchronize if is_gpu else lambda: None
    builds: dict[str, Callable[[], Step]] = {"regard": lambda: regard_step(batches, words, is_compiled=False)}
    if is_gpu:
        builds["regard, blocks compiled"] = lambda: regard_step(batches, words, is_compiled=True)
        builds["regard, blocks compiled, narrow sums"] = lambda: regard_step(
            batches, words, True, is_half_precision=True
        )
    builds["Hugging Face, compiled" if is_gpu else "Hugging Face"] = lambda: hugging_face_step(batches, words)
    ready, memory, seconds = dict[str, Step](), dict[str, Any](), defaultdict[str, list[float]](list)
    for name, build in builds.items():
        held = torch.cuda.memory_allocated() if is_gpu else 0
        if is_gpu:
            torch.cuda.reset_peak_memory_stats()
        began = time.perf_counter()
        ready[name] = build()
        for _ in range(warm_up):  # compiling, recording
            ready[name]()
        wait()
        memory[name] = round((torch.cuda.max_memory_allocated() - held) / 2**30, 2) if is_gpu else None
        print(f"  {name}: ready after {time.perf_counter() - began:.0f} s", flush=True)
    for _ in range(words.rounds):
        for name, step in ready.items():
            wait()
            started = time.perf_counter()
            for _ in range(steps):
                step()
            wait()
            seconds[name].append((time.perf_counter() - started) / steps)
    tokens = statistics.mean(batch.tokens.numel() for batch in batches)
    speed = {name: round(tokens / statistics.median(each)) for name, each in seconds.items()}
    theirs = list(speed)[-1]
    found = {
        "sequences": statistics.mean(batch.is_next.numel() for batch in batches),
        "tokens": round(tokens),
        "padded_tokens": round(statistics.mean(batch.is_next.numel() * batch.max_seqlen for batch in batches)),
        "milliseconds": {name: round(1000 * statistics.median(each), 2) for name, each in seconds.items()},
        "tokens_per_second": speed,
        "ratio": {name: round(value / speed[theirs], 3) for name, value in speed.items()},
        "peak_gibibytes": memory,
    }
    if is_gpu:
        ours = list(ready)[-2]
        found["kernels"] = {name: kernels(ready[name], steps) for name in (ours,)}
    return found


def kernels(step: Step, steps: int) -> dict[str, Any]:
    """Return where the time of a step goes, in milliseconds: by kind, and the longest kernels."""
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CUDA]) as watched:
        for _ in range(steps):
            step()
        torch.cuda.synchronize()
    kinds, names = defaultdict[str, float](float), list[tuple[float, int, str]]()
    for each in watched.key_averages():
        spent = each.self_device_time_total / 1000 / steps
        if spent:
            low = each.key.lower()
            kind = next((kind for kind, signs in KINDS.items() if any(sign in low for sign in signs)), "other")
            kinds[kind] += spent
            names.append((spent, round(each.count / steps), each.key))
    longest = [f"{spent:.3f} ms, {count} x {name[:110]}" for spent, count, name in sorted(names, reverse=True)[:25]]
    order = sorted(kinds, key=lambda kind: -kinds[kind])
    return {
        "milliseconds": {kind: round(kinds[kind], 3) for kind in order},
        "all": round(sum(kinds.values()), 3),
        "longest": longest,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--text", nargs="*", default=[], help="files of text, documents parted by blank lines")
    parser.add_argument(
        "--tokenizer", type=Path, help="a WordPiece tokenizer.json; unset: one is trained on the text"
    )
    parser.add_argument("--sizes", nargs="*", default=["128x128", "32x512"], help="sequences x tokens, full batches")
    parser.add_argument("--pairs", nargs="*", default=["sentences:128", "filled:128", "filled:512"])
    parser.add_argument("--tokens", type=int, default=16_384, help="about so many tokens of text in a batch")
    parser.add_argument("--batches", type=int, default=8, help="different batches of text")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--mode", default=None, help="of torch.compile, for Hugging Face")
    parser.add_argument("--device", default="cuda")
    for name, value in (("layers", 12), ("width", 768), ("heads", 12)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--out", type=Path)
    words = parser.parse_args()
    machine = torch.cuda.get_device_name() if words.device == "cuda" else "CPU"
    result: dict[str, Any] = {"machine": f"{machine}, torch {torch.__version__}", "dropout": words.dropout}
    torch.manual_seed(1)
    with tempfile.TemporaryDirectory() as folder:
        text = Text(words.text, words.tokenizer, Path(folder)) if words.text else None
        for size in words.sizes:
            rows, _, length = size.partition("x")
            print(size, flush=True)
            result[size] = compare([full_batch(int(rows), int(length))], words, 4, words.steps)
            _report(result, size, words.out)
        for kind in words.pairs if text else []:
            name, _, length = kind.partition(":")
            print(kind, flush=True)
            batches = getattr(text, name)(int(length), words.tokens, words.batches)
            result[kind] = compare(batches, words, 3 * words.batches, words.batches)
            _report(result, kind, words.out)


def _report(result: dict[str, Any], name: str, out: Path | None) -> None:
    """Print one part, and write all there is so far."""
    print(json.dumps({name: result[name]}, indent=2), flush=True)
    if out:
        out.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    if torch.cuda.is_available():
        torch._dynamo.reset()
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
