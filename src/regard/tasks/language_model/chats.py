"""Prompts with completions, and conversations, as the data of a language model: its answers alone have a loss."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from regard.checkpoint.atomic import fingerprint
from regard.checkpoint.bundle import Bundle
from regard.data.cleaning import hold_out
from regard.data.feeds.chats import EncodedChats, encode_chats
from regard.data.feeds.feed import PairFeed
from regard.data.feeds.sampler import Rows
from regard.data.settings.text import LanguageData, LanguageSource
from regard.data.sources.chats import Chat, read_chats
from regard.errors import DataError
from regard.models.base.protocols import CausalLM
from regard.models.base.settings import ModelSettings, Vocabularies
from regard.models.families import position_limit
from regard.objectives.language_model import LanguageObjective
from regard.progress import Progress
from regard.tasks.baseline import token_baseline
from regard.tasks.data import EvalSet, Prepared
from regard.tasks.declarations import Context
from regard.tasks.init_from import origin_facts
from regard.tasks.language_model.chat_scores import answer_losses, answer_units, encoded_for
from regard.tasks.language_model.pipeline import Generator
from regard.tasks.language_model.prepare import window_of
from regard.tasks.language_model.records import LanguageFacts
from regard.tasks.language_model.settings import LanguageSettings
from regard.tasks.record import RunRecord
from regard.tasks.text.records import TextReport
from regard.text.chat_template import ROLES_TEMPLATE, ChatTemplate
from regard.text.settings import CorpusTextSettings
from regard.text.tokenizer import Tokenizer
from regard.text.training import train_tokenizer
from regard.training.device.machine import Machine

Settings = LanguageSettings[ModelSettings]
UNIT = "conversation"


@dataclass(frozen=True)
class ChatSets:
    """The conversations of a run as they were read, and the rows dropped by reason, by the name of their set."""

    train: list[Chat]
    valid: list[Chat]
    tests: dict[str, list[Chat]]
    dropped: dict[str, Counter[str]]

    @property
    def sets(self) -> dict[str, list[Chat]]:
        """Every set by its name in run.json."""
        return {"train": self.train, "valid": self.valid} | {
            f"test {name}": rows for name, rows in self.tests.items()
        }


@dataclass(frozen=True)
class ChatData:
    """The conversations of a run, encoded."""

    raw: ChatSets
    encoded: dict[str, EncodedChats]
    """Every set by its name in run.json."""
    tokenizer: Tokenizer
    template: ChatTemplate
    window: int


def gather_chats(data: LanguageData) -> ChatSets:
    """Return all sets, the validation set held out of the training set where there is none."""
    dropped: dict[str, Counter[str]] = {}

    def read(name: str, source: LanguageSource) -> list[Chat]:
        rows, dropped[name] = read_chats(source)
        return rows

    train = read("train", data.train)
    if data.valid is not None:
        valid = read("valid", data.valid)
    else:
        train, valid = hold_out(
            train, data.valid_fraction, lambda each: each.prompt, what=UNIT, origin=data.train.name
        )
    return ChatSets(train, valid, {name: read(f"test {name}", each) for name, each in data.test.items()}, dropped)


def load_chats(settings: Settings, context: Context) -> ChatData:
    """Return conversations encoded by the chat template and a pretrained or a new tokenizer."""
    sets, known = gather_chats(settings.data), context.known
    template = _template(settings, known)
    tokenizer = (
        known.tokenizers["tokenizer"]
        if known
        else _new_tokenizer(settings.text, sets.train, template, context.progress)
    )
    vocabularies = Vocabularies(tokenizer.size, tokenizer.size, is_shared=True)
    window = window_of(settings, position_limit(settings.model, vocabularies))
    encoded = {name: encode_chats(rows, template, tokenizer, window) for name, rows in sets.sets.items()}
    for name, rows in encoded.items():
        if not len(rows):
            raise DataError(
                f"{name}: no {UNIT} has an answer within {window:,} tokens; raise window, or shorten the prompts."
            )
    return ChatData(sets, encoded, tokenizer, template, window)


def prepare_chats(settings: Settings, data: ChatData, bundle: Bundle, machine: Machine) -> Prepared[ChatData]:
    """Return conversations as updates, objective, validation, test sets and report."""
    bundle.facts.update(chat_template=data.template.source)
    sets, encoded, train = data.raw, data.encoded, settings.train
    micro_batch = train.micro_batch_tokens or machine.micro_batch_tokens
    feed = PairFeed(lambda epoch: encoded["train"], train.tokens_per_update, micro_batch, settings.seed)
    sources = {"valid": settings.data.valid} | dict(settings.data.test)
    tests = {
        name: EvalSet(name, encoded[f"test {name}" if name in sets.tests else name], source=sources[name])
        for name in (sets.tests or {"valid": sets.valid})
    }
    return Prepared(
        bundle=bundle,
        feed=feed,
        objective=LanguageObjective(settings.objective.label_smoothing),
        width=settings.model.width,
        validate=_validation(encoded["valid"], settings.validation.tokens, machine),
        tests=tests,
        report=_report(settings, data, bundle),
        data=data,
        baseline=token_baseline(encoded["valid"].sequences.ids[encoded["valid"].is_label]),
    )


def _template(settings: Settings, known: Bundle | None) -> ChatTemplate:
    """Return the template that is stated, the pretrained model's, or the default."""
    own = LanguageFacts.read(known).chat_template if known else None
    return ChatTemplate(settings.chat_template or own or ROLES_TEMPLATE)


def _new_tokenizer(
    text: CorpusTextSettings, chats: Sequence[Chat], template: ChatTemplate, progress: Progress
) -> Tokenizer:
    """Return the tokenizer that is named, or a new one trained on what the template renders."""
    if text.tokenizer:
        return Tokenizer.load(Path(text.tokenizer))
    texts = (piece.text for chat in chats for piece in template.render(chat.messages, "", ""))
    return train_tokenizer(texts, text, progress)


def _beginning(chats: EncodedChats, tokens: int) -> Rows:
    """Return the rows of the first conversations with so many labels, one at least."""
    count = int(np.searchsorted(np.cumsum(chats.label_counts), tokens, side="right"))
    return np.arange(min(len(chats), count + 1))


def _validation(chats: EncodedChats, tokens: int, machine: Machine) -> Callable[[CausalLM], dict[str, float]]:
    """Return the function the loop validates with: the loss of the same answers each time."""
    rows = _beginning(chats, tokens)

    def validate(model: CausalLM) -> dict[str, float]:
        losses = np.concatenate(answer_losses(model, chats, rows, machine))
        return {"loss": float(losses.mean()), "perplexity": math.exp(min(float(losses.mean()), 700.0))}

    return validate


def _report(settings: Settings, data: ChatData, bundle: Bundle) -> TextReport:
    """Return the counts of every set; bytes and words are those of answers."""
    sets, encoded = data.raw, data.encoded
    counts = {
        name: {
            "documents": len(rows),
            "tokens": int(rows.label_counts.sum()),
            "bytes": int(answer_units(rows).bytes.sum()),
            "words": int(answer_units(rows).words.sum()),
        }
        for name, rows in encoded.items()
    }
    dropped = {
        name: dict(sets.dropped.get(name, Counter()))
        | {"longer than the window": len(sets.sets[name]) - len(rows), "cut off": int(rows.is_truncated.sum())}
        for name, rows in encoded.items()
    }
    sources = [settings.data.train, settings.data.valid, *settings.data.test.values()]
    files = {each.path: Path(each.path) for each in sources if each and each.path and Path(each.path).is_file()}
    return TextReport.model_validate(
        counts
        | {
            "hash": encoded["train"].fingerprint(),
            "files": {name: fingerprint(file)["sha256"] for name, file in files.items()},
            "window": data.window,
            "folder": "",
            "dropped_rows": dropped,
        }
        | origin_facts(bundle)
    )


def chat_sets(generator: Generator, source: LanguageSource | None, record: RunRecord | None) -> dict[str, EvalSet]:
    """Return the conversations at a source, or the test sets of a run (its validation set where it has none)."""
    if source is not None:
        return {source.name: encoded_for(generator, source.name, read_chats(source)[0])}
    assert record is not None, "the caller gives a source or a record"
    sets = gather_chats(record.data_settings(LanguageData))
    return {name: encoded_for(generator, name, rows) for name, rows in (sets.tests or {"valid": sets.valid}).items()}
