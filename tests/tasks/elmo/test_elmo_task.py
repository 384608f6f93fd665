"""The task elmo: settings, preparation, card and pipeline, without a training."""

import pytest
import torch
from pydantic import ValidationError

from elmos import SMALL, elmo_bundle
from regard.data.corpus.shards import tokenize
from regard.data.settings.text import TextSource
from regard.errors import ConfigError, DataError
from regard.models.base.settings import ModelSettings
from regard.models.elmo.model import ElmoSettings
from regard.progress import Progress
from regard.runs.planning.recipes import find_recipe, resolve_run
from regard.tasks.declarations import Context
from regard.tasks.elmo.evaluate import CharText, bidirectional_losses
from regard.tasks.elmo.pipeline import DEFAULT_LENGTH, ElmoEncoder
from regard.tasks.elmo.prepare import check_neighbors, new_elmo_bundle
from regard.tasks.elmo.records import ElmoFacts
from regard.tasks.elmo.settings import ElmoRunSettings
from regard.tasks.elmo.task import TASK
from regard.tasks.text.corpora import scoring_machine
from regard.text.char_tokenizer import spelling_tokenizer
from run_records import card_of, cells, evaluated, run_record, scores_of

SCORES = evaluated(
    "perplexity",
    perplexity=4.48,
    words=2345,
    oov_fraction=0.0625,
    loss=1.5,
    forward_loss=1.0,
    backward_loss=2.0,
    forward_perplexity=2.718,
    backward_perplexity=7.389,
    vocabulary=500,
    window=16,
)
CPU = torch.device("cpu")


class Warnings(Progress):
    """Keeps warnings."""

    def __init__(self):
        self.warnings = []

    def warn(self, message):
        self.warnings.append(message)


@pytest.fixture
def corpus(tmp_path):
    """A function that encodes a text."""

    def encoded(text):
        (tmp_path / "text.txt").write_text(text, encoding="utf-8")
        return tokenize(TextSource(paths=(str(tmp_path / "text.txt"),)), spelling_tokenizer(), tmp_path / "corpus")

    return encoded


def run_settings(**more):
    values = {"model": ElmoSettings(**SMALL), "data": {"train": {"paths": ["text.txt"]}}} | more
    return ElmoRunSettings[ModelSettings](**values)


def test_a_pretrained_model_brings_its_vocabulary():
    assert run_settings(init_from="elmo").init_from == "elmo"
    with pytest.raises(ValidationError, match='text: the vocabulary comes from the pretrained model "elmo"'):
        run_settings(init_from="elmo", text={"words": 90})


def test_the_output_vocabulary_has_the_most_frequent_words(corpus):
    text = corpus("the dog saw the cat and the dog ran away\n")
    bundle = new_elmo_bundle(run_settings(), text, Context(scoring_machine(CPU)))
    words = bundle.tokenizers["words"]
    assert ElmoFacts.read(bundle).words == 2 and {"the", "dog"} <= set(words.vocabulary.values())
    assert bundle.vocabularies.target == words.size
    with pytest.raises(DataError, match="no word occurs 9 times, so the output vocabulary is empty; add text"):
        new_elmo_bundle(run_settings(text={"min_frequency": 9}), text, Context(scoring_machine(CPU)))


def test_many_words_out_of_vocabulary_are_a_warning(corpus):
    text = corpus("the dog the dog saw every other animal here\n")
    progress = Warnings()
    new_elmo_bundle(run_settings(), text, Context(scoring_machine(CPU), progress))
    (warning,) = progress.warnings
    assert "of the words are out of the output vocabulary" in warning and "raise text.words (50,000)" in warning
    new_elmo_bundle(run_settings(preflight=False), text, Context(scoring_machine(CPU), silent := Warnings()))
    assert silent.warnings == []


def test_a_text_needs_words_with_neighbors(corpus):
    bundle = elmo_bundle()
    check_neighbors({"two": CharText.of(corpus("the dog"), bundle)})
    endless = CharText.of(corpus("x" * 2000), bundle)
    assert endless.length == 80  # 16 words of 5 bytes
    with pytest.raises(DataError, match="^one: no word of this text has a neighbor; add text"):
        check_neighbors({"one": endless})


def test_words_are_counted_with_the_ends_of_documents(corpus):
    bundle = elmo_bundle()
    losses = bidirectional_losses(bundle.model, CharText.of(corpus("the old dog"), bundle), scoring_machine(CPU))
    assert losses.count == 3
    assert losses.named()["loss"] == pytest.approx((losses.forward + losses.backward) / 6)


def test_the_card_has_a_row_of_scores_and_names_training_on_its_features():
    record = run_record("elmo", {"vocabulary": 500, "window": 16}, {"valid": SCORES})
    assert cells(scores_of(record), "valid")[:2] == ["valid", "2,345"]
    data = TASK.describe(card_of(record))
    assert any("windows of about 16 words; the output vocabulary has 500" in line for line in data)
    assert "`regard train classify --data reviews.csv --init-from runs/one`" in data[-1]


def test_scores_are_printed_with_the_vocabulary_and_the_windows():
    (line,) = TASK.score_lines({"valid": SCORES})
    assert line == "output vocabulary of 500 words; evaluated in windows of about 16 words"


def test_the_plain_command_resolves():
    settings = resolve_run(find_recipe("elmo"), {"data.train.paths": ["a"]}).settings
    assert isinstance(settings, ElmoRunSettings) and settings.model.preset == "elmo-tiny"
    assert settings.train.ends_itself and settings.train.betas == (0.9, 0.99)


def test_each_word_has_one_vector_and_the_characters_it_covers():
    elmo = ElmoEncoder(elmo_bundle())
    words = elmo.tokens("A naïve, 日本 dog!")
    assert words.tokens == ("<s>", "A", "naïve", ",", "日本", "dog", "!", "</s>")
    assert [words.text[begin:end] for begin, end in words.offsets[1:-1]] == list(words.tokens[1:-1])
    assert words.vectors.shape == (8, 16) and not words.is_truncated
    assert elmo.max_length == DEFAULT_LENGTH and elmo.mix is None


def test_the_vector_of_a_word_depends_on_its_context_above_layer_0():
    elmo = ElmoEncoder(elmo_bundle())
    pair = ("The bank of a river.", "bank"), ("The bank, a dog.", "bank")
    assert elmo.similar_words(*pair).without_context == pytest.approx(1, abs=1e-5)
    assert elmo.similar_words(*pair).in_context < 1 - 1e-6


@pytest.mark.parametrize(
    "name, sentence",
    [
        ("fill", "fill: an ELMo predicts neighboring words, not masked ones; use a BERT."),
        ("logit_lens", "logit_lens: the layers of an ELMo have no common residual stream; use a BERT or a GPT."),
    ],
)
def test_operations_of_other_models_are_refused(name, sentence):
    with pytest.raises(ConfigError) as refused:
        getattr(ElmoEncoder(elmo_bundle()), name)("A text.")
    assert str(refused.value) == sentence
