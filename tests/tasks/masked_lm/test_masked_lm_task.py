"""The task masked-language-model: settings, sequences, card and declarations, without a training."""

import json

import pytest
import torch
from pydantic import ValidationError

from encoder_folders import bert_tokenizer, small_bert, small_encoder_bundle
from regard import miniature
from regard.data.corpus.splits import tokenize_all
from regard.data.feeds.masking import Masker
from regard.data.settings.masking import MaskingSettings
from regard.data.settings.text import MaskedTextData, SequenceSettings
from regard.errors import ConfigError, DataError
from regard.interop.huggingface.encoder_configs import MASKED_WORDS
from regard.models.base.settings import ModelSettings
from regard.tasks.data import TextTaskData
from regard.tasks.declarations import Context
from regard.tasks.masked_lm.evaluate import MaskedText
from regard.tasks.masked_lm.prepare import (
    check_documents,
    check_masks,
    check_pairs,
    early_updates_of,
    length_of,
    new_masked_bundle,
    stages_of,
)
from regard.tasks.masked_lm.records import MaskedFacts
from regard.tasks.masked_lm.settings import MaskedSettings
from regard.tasks.masked_lm.task import TASK
from regard.training.device.machine import prepare_machine
from regard.training.settings import MachineSettings
from run_records import SOURCES, card_of, cells, evaluated, run_record, scores_of

SCORES = evaluated(
    "pseudo_perplexity",
    masked=1500,
    loss=2.5,
    mlm_loss=2.0,
    pseudo_perplexity=7.389,
    masked_accuracy=0.5,
    majority_baseline=0.0625,
    next_sentence_accuracy=None,
    pairs=0,
    rule="15% of tokens",
)
MARKED = SOURCES | {"sentences": "marks"}


def run_settings(path="text.txt", **more):
    values = {"data": {"train": {"paths": [str(path)]}}} | more
    bound = {"model": small_bert(next_sentence_head=True)} | values
    return MaskedSettings[ModelSettings](**bound)


@pytest.fixture(scope="module")
def tokenizer():
    return bert_tokenizer()


@pytest.fixture
def text(tmp_path, tokenizer):
    """A function that tokenizes documents and returns settings with their data."""

    def made(documents, **more):
        sources = {name: {"paths": [str(tmp_path / f"{name}.txt")]} for name in ("train", "valid")}
        for name in sources:
            (tmp_path / f"{name}.txt").write_text("\n\n".join(documents), encoding="utf-8")
        settings = run_settings(tmp_path / "train.txt", **more)
        data = MaskedTextData.model_validate_json(json.dumps(sources))
        corpora = tokenize_all(data, tokenizer, tmp_path / "corpus")
        return settings, TextTaskData(settings, corpora, tokenizer, tmp_path / "corpus")

    return made


def bundle_of(settings, tokenizer):
    return new_masked_bundle(settings, tokenizer, Context(prepare_machine(MachineSettings(device="cpu"))))


def test_a_pretrained_model_brings_its_tokenizer():
    assert run_settings(init_from="bert").init_from == "bert"
    with pytest.raises(ValidationError, match='text: the tokenizer comes from the pretrained model "bert"'):
        run_settings(init_from="bert", text={"size": 99})


def test_facts_of_a_model_trained_here_have_a_length():
    assert MaskedFacts().length is None and MaskedFacts(seed=1, length=32).length == 32
    with pytest.raises(ValidationError, match="length is missing"):
        MaskedFacts(seed=1)


@pytest.mark.parametrize(
    "settings, bound, sentence",
    [
        ({"length": 64}, 32, "sequences.length: 64 tokens are more than the 32 positions of the model"),
        ({}, 7, "sequences.length: 7 tokens leave no room for a sentence between the special tokens; 8 are needed"),
        ({"phase1_length": 32}, 32, "sequences.phase1_length: 32 tokens are not fewer than the 32 of later"),
    ],
)
def test_lengths_that_do_not_fit_are_refused(settings, bound, sentence):
    with pytest.raises(ConfigError, match=sentence):
        length_of(SequenceSettings(**settings), bound)


def test_the_length_is_the_setting_or_the_maximum():
    assert length_of(SequenceSettings(), 32) == 32 and length_of(SequenceSettings(length=16), 32) == 16


def test_short_sequences_come_first_for_their_fraction_of_updates(tokenizer, text):
    stories = list(miniature.documents("train", 12))
    sequences = {"phase1_length": 16, "phase1_fraction": 0.25}
    settings, data = text(stories, sequences=sequences, train={"steps": 40})
    assert MaskedFacts.read(bundle_of(settings, tokenizer)).early_updates == early_updates_of(settings) == 10
    first, second = stages_of(settings, data, 32, 10)
    assert (first.pairs.length, first.updates, second.pairs.length) == (16, 10, 32)
    settings, data = text(stories)
    (only,) = stages_of(settings, data, 32, 0)
    assert only.pairs.length == 32 and only.pairs.has_pairs


def test_a_new_model_depends_on_the_seed_alone(tokenizer):
    weights = [bundle_of(run_settings(seed=seed), tokenizer).model.state_dict() for seed in (1, 1, 2)]
    assert all(torch.equal(weights[0][name], weights[1][name]) for name in weights[0])
    assert any(not torch.equal(weights[0][name], weights[2][name]) for name in weights[0])


def test_text_without_pairs_or_masks_is_refused(tokenizer, text):
    settings, data = text(["One document. It has two sentences."])
    with pytest.raises(DataError, match="this is one document, and half of all pairs need another; split it"):
        check_documents(data.corpora, settings, None)
    settings, data = text(["One sentence here.", "Another one there.", "A third one too."] * 9)
    (stage,) = stages_of(settings, data, 32, 0)
    with pytest.raises(DataError, match="no document has two sentences, so there are no pairs"):
        check_pairs(stage.pairs, settings, None)
    masker = Masker(MaskingSettings(), tokenizer)
    check_masks({"fine": MaskedText(stage.pairs, masker)})
    settings, data = text([f"{'x' * 500} {'y' * 500}", f"{'u' * 500} {'v' * 500}"] * 9)
    (stage,) = stages_of(settings, data, 32, 0)
    with pytest.raises(DataError, match="long words: no token of this text can be masked"):
        check_masks({"long words": MaskedText(stage.pairs, masker)})


def test_the_card_has_a_row_of_scores_and_the_rule_of_sentences():
    record = run_record("masked-language-model", scores={"valid": SCORES}, sources=MARKED)
    data = TASK.describe(card_of(record))
    row = ["valid", "1,500", "7.39", "2.0000", "0.5000", "0.0625", "`0123456789ab`"]
    assert cells(scores_of(record), "valid") == row
    assert data[-1].startswith("Sentences are split at full stops") and "up to 32 tokens" in data[-1]
    lines = TASK.describe(card_of(run_record("masked-language-model", sources=SOURCES | {"sentences": "lines"})))
    assert lines[-1].startswith("Sentences are split a line each")


def test_scores_are_printed_with_the_rule_of_masking():
    assert TASK.score_lines({"valid": SCORES}) == ["masking: 15% of tokens"]


def test_an_untrained_masked_lm_head_is_not_suggested(tokenizer):
    assert TASK.suggested(small_encoder_bundle(tokenizer)).name == "fill"
    assert TASK.suggested(small_encoder_bundle(tokenizer, {"untrained": [MASKED_WORDS]})).name == "embed"
