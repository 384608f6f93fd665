"""Small trainings of every kind in fp64 without dropout, run by several processes that write what came out."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch.testing import assert_close

from labeled import small_headed
from marked import drawn_sizes, told_apart
from regard.data.encoding.labeled import EncodedExamples, Framed
from regard.data.encoding.sequences import Sequences
from regard.data.encoding.templates import SequenceTemplate
from regard.data.feeds.char_words import CharWordFeed, WordLookup, count_words
from regard.data.feeds.feed import PairFeed
from regard.data.feeds.masked_lm import MaskedFeed, Stage
from regard.data.feeds.masking import Masker
from regard.data.feeds.sentence_pairs import Marks, SentencePairSampler
from regard.data.feeds.windows import IdStream, WindowFeed
from regard.data.settings.masking import MaskingSettings
from regard.models.base.settings import Vocabularies
from regard.models.bert import BertSettings
from regard.models.elmo.model import ElmoSettings
from regard.models.families import build_model
from regard.models.gpt.model import GptSettings
from regard.objectives.bidirectional_lm import BidirectionalObjective
from regard.objectives.head import HeadObjective
from regard.objectives.language_model import LanguageObjective
from regard.objectives.masked_lm import MaskedObjective
from regard.objectives.translation import TranslationObjective
from regard.progress import Progress
from regard.text.char_tokenizer import spelling_tokenizer, word_tokenizer
from regard.training.device.machine import Machine
from regard.training.hooks import Hooks
from regard.training.loop import Trainer
from regard.training.parallel.process_group import init_process_group
from regard.training.parallel.shard import whole_of
from regard.training.settings import TrainSettings
from small import random_pairs, small_transformer

CPU = Machine(torch.device("cpu"), "fp32")
KINDS = ("translate", "language", "masked", "elmo", "finetune")
STILL = dict.fromkeys(("dropout", "embedding_dropout"), 0.0)
TINY = {"width": 16, "heads": 4, "feed_forward_width": 32, "layers": 2, "max_positions": 64}
UPDATES = {
    "steps": 8,
    "tokens_per_update": 150,
    "warmup": 2,
    "validate_every": 4,
    "log_every": 3,
    "optimizer": "adamw",
    "weight_decay": 0.1,
    "ema_decay": 0.9,
}


def shaken(settings, vocabularies):
    torch.manual_seed(0)
    model = build_model(settings, vocabularies).double()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.1)
    return model


def parts_of(kind, folder, limit):
    """Return model, feed and objective; vocabularies of 37 and 40 words, which 3 processes do not divide."""
    if kind == "translate":
        pairs = random_pairs(41)
        return (
            small_transformer(**STILL).double(),
            PairFeed(lambda epoch: pairs, 150, limit, seed=3),
            TranslationObjective(0.1),
        )
    if kind == "language":
        stream = IdStream(np.random.default_rng(0).integers(4, 37, 400))
        model = shaken(GptSettings(**TINY, **STILL), Vocabularies(37, 37, True))
        return model, WindowFeed(stream, 16, 150, limit, 3), LanguageObjective(0.1)
    if kind == "masked":
        corpus, tokenizer = told_apart(folder, drawn_sizes(10), 10**7)
        model = shaken(
            BertSettings(**TINY, **STILL, attention_dropout=0.0), Vocabularies(tokenizer.size, tokenizer.size, True)
        )
        sampler = SentencePairSampler(corpus, Marks.of(tokenizer), 40, True)
        feed = MaskedFeed([Stage(sampler)], Masker(MaskingSettings(), tokenizer), 150, limit, 1)
        return model, feed, MaskedObjective()
    if kind == "elmo":
        tokenizer = spelling_tokenizer()
        ids = np.array([*tokenizer.encode("the cat saw a dog by the river bank and sat down. " * 12).ids])
        words = word_tokenizer(count_words(IdStream(ids), 30, 1, 12))
        settings = ElmoSettings(
            width=8, cell_width=12, filters=((1, 4), (3, 6)), highways=1, longest_word=12, dropout=0.0
        )
        model = shaken(settings, Vocabularies(tokenizer.size, words.size, is_shared=False))
        feed = CharWordFeed(IdStream(ids), WordLookup(words, 12), 20, 150, limit, 3)
        return model, feed, BidirectionalObjective()
    draw = np.random.default_rng(0)
    rows = [draw.integers(4, 40, draw.integers(3, 12)).tolist() for _ in range(41)]
    framed = Framed(SequenceTemplate(1, 2, 3, 0, True), Sequences.of(rows), draw.integers(1, 8, 41))
    examples = EncodedExamples(framed, np.arange(42), draw.integers(0, 3, 41), np.zeros(41, bool))
    feed = PairFeed(lambda epoch: examples, 8, limit, 3, pool=4, counts_examples=True)
    return small_headed(family="bert"), feed, HeadObjective()


class ParallelScene:
    """A trainer of one kind, what it records, and what it warns of."""

    def __init__(self, kind, team, folder, limit=60, **changes):
        folder.mkdir(parents=True, exist_ok=True)
        model, feed, objective = parts_of(kind, folder, limit)
        self.records, self.warned, self.saved = [], [], []
        progress = Progress()
        progress.warn = self.warned.append
        hooks = Hooks(lambda model: {"loss": 1.0}, self._save, self.records.append, progress=progress)
        settings = TrainSettings(**(UPDATES | changes))
        self.trainer = Trainer(model, feed, objective, settings, CPU, hooks, seed=3, width=16, team=team)

    def _save(self, state, training, value):
        self.saved.append((state.step, training))

    @property
    def losses(self):
        return [next(iter(record[name] for name in ("nll", "mlm", "forward", "label") if name in record))
                for record in self.records if "learning_rate" in record]  # fmt: skip


def free_port() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def started(count, call, out, **changes):
    """Start `count` processes that each call a function of a test module, named `module:function`."""
    place = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": free_port(), "WORLD_SIZE": str(count)}
    place |= {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])}
    command = [sys.executable, __file__, call, str(out), json.dumps(changes)]
    return [
        subprocess.Popen(
            command, env=os.environ | place | {"RANK": str(rank)}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        for rank in range(count)
    ]


def together(count, call, out, **changes):
    """Run a function of a test module in `count` processes that train together, and return what they print."""
    processes = started(count, call, out, **changes)
    texts = [process.communicate(timeout=240)[0].decode() for process in processes]
    assert [process.returncode for process in processes] == [0] * count, "\n".join(texts)
    return texts


def whole(part, parameter):
    """Return the whole tensor that a process holds a part of."""
    return whole_of(part.detach().clone(), parameter).contiguous()


def train_all(team, out, kinds=KINDS, on_host=None, **changes):
    """Train every kind, and write the weights and losses of the main process."""
    if on_host is not None:
        os.environ["LOCAL_WORLD_SIZE"] = str(on_host)
    for kind in kinds:
        scene = ParallelScene(kind, team, out / f"text-{team.rank}", **changes)
        scene.trainer.run()
        average, parameters = scene.trainer.average, dict(scene.trainer.model.named_parameters())
        tensors = {name: whole(value, parameters[name]) for name, value in average.parameters.items()}
        tensors |= {f"average/{name}": whole(value, parameters[name]) for name, value in average.values.items()}
        if team.is_main:
            save_file(tensors, out / f"{kind}.safetensors")
            (out / f"{kind}.json").write_text(json.dumps(scene.losses))


def assert_same(out, alone, kinds=KINDS):
    """Compare weights and losses that `train_all` wrote."""
    for kind in kinds:
        one, several = (load_file(each / f"{kind}.safetensors") for each in (alone, out))
        assert one.keys() == several.keys()
        for name, value in one.items():
            assert_close(several[name], value, atol=1e-10, rtol=0, msg=f"{kind} {name}")
        losses = json.loads((alone / f"{kind}.json").read_text())
        assert losses and np.allclose(json.loads((out / f"{kind}.json").read_text()), losses, atol=1e-9, rtol=0)


if __name__ == "__main__":
    import importlib

    torch.set_num_threads(1)
    module, _, name = sys.argv[1].partition(":")
    if name == "reporting":  # joins the others itself
        importlib.import_module(module).reporting(Path(sys.argv[2]), **json.loads(sys.argv[3]))
    with init_process_group(CPU.device, 60) as group:
        getattr(importlib.import_module(module), name)(group, Path(sys.argv[2]), **json.loads(sys.argv[3]))
