"""The task language-model: settings, shared windows, card and declarations, without a training."""

import pytest
from pydantic import ValidationError

from generators import language_bundle, settings_of, tokenizer_of
from regard.decoding.settings import TextDecoding
from regard.errors import ConfigError
from regard.models.base.settings import ModelSettings
from regard.models.families import position_limit
from regard.runs.planning.recipes import find_recipe, resolve_run
from regard.tasks.declarations import Context, EvaluateOptions
from regard.tasks.language_model.evaluate import DEFAULT_WINDOW
from regard.tasks.language_model.prepare import common_window, new_language_bundle, window_of
from regard.tasks.language_model.settings import LanguageSettings
from regard.tasks.language_model.task import TASK, LanguageEvaluation
from regard.tasks.text.corpora import scoring_machine
from run_records import card_of, cells, evaluated, run_record, scores_of

SCORES = evaluated(
    "perplexity",
    tokens=12345,
    loss=1.25,
    perplexity=3.49034,
    bits_per_byte=0.9,
    word_perplexity=9.125,
    decode={"window": 32, "stride": 16},
)
DATA = {"train": {"paths": ["text.txt"]}}


def run_settings(model="gpt", **more):
    return LanguageSettings[ModelSettings](model=settings_of(model), data=DATA, **more)


@pytest.mark.parametrize(
    "more, sentence",
    [
        ({"text": {"size": 99}}, 'text.size: the tokenizer comes from the pretrained model "gpt"'),
        (
            {"vectors": {"path": "glove.txt"}},
            'vectors.path: the embedding matrix comes from the pretrained model "gpt"',
        ),
        ({"window": 1}, "greater than or equal to 2"),
    ],
)
def test_settings_that_contradict_each_other_are_refused(more, sentence):
    assert run_settings(init_from="gpt").init_from == "gpt"
    with pytest.raises(ValidationError, match=sentence):
        run_settings(init_from="gpt", **more)


def test_the_plain_command_resolves():
    settings = resolve_run(find_recipe("language-model"), {"data.train.paths": ["a"]}).settings
    assert settings.train.optimizer == "adamw" and settings.model.preset == "gpt-tiny"
    assert settings.train.ends_itself


def test_the_window_is_the_setting_or_the_maximum_of_the_model():
    context = Context(scoring_machine("cpu"))
    gpt = new_language_bundle(run_settings(window=12), tokenizer_of(size=300), context)
    assert gpt.facts == {"generate": TextDecoding().model_dump(mode="json"), "seed": 1, "window": 12}
    assert gpt.model.max_positions == position_limit(gpt.settings, gpt.vocabularies) == 24
    assert window_of(run_settings(), 24) == 24 and window_of(run_settings("lstm"), None) == DEFAULT_WINDOW
    with pytest.raises(ConfigError, match="window: 25 tokens are more than the 24 positions of the model; lower it"):
        window_of(run_settings(window=25), 24)


def test_members_of_a_race_share_the_shortest_window():
    gpt, rotary, lstm = (run_settings(name) for name in ("gpt", "rotary", "lstm"))
    assert common_window([gpt]) == {"window": 24}  # its positions
    assert common_window([rotary, lstm]) == {"window": DEFAULT_WINDOW}  # neither has a maximum
    assert common_window([lstm, gpt, rotary]) == TASK.shared_limit([lstm, gpt]) == {"window": 24}
    assert common_window([run_settings("lstm", window=16), gpt]) == {"window": 16}
    assert common_window([run_settings("gpt", window=90)]) == {"window": 24}


def test_the_card_has_a_row_of_scores_and_the_sizes_of_the_data():
    record = run_record("language-model", scores={"valid": SCORES})
    assert cells(scores_of(record), "valid") == [
        "valid",
        "12,345",
        "9.12",
        "0.9000",
        "3.49",
        "1.2500",
        "`0123456789ab`",
    ]
    data = TASK.describe(card_of(record))
    assert cells(data, "train")[2:] == ["1,200", "34,567", "98,765", "23,456"]
    assert data[-1] == "Training windows of 32 tokens. Hash of the tokenized text: `c0ffee`."
    assert "regard evaluate runs/one" in scores_of(run_record("language-model"))[2]


def test_the_card_names_the_pretrained_model():
    record = run_record("language-model", {"init_from": {"path": "runs/big", "sha256": "beef"}})
    assert TASK.describe(card_of(record))[-1] == "Initialized from `runs/big`, SHA-256 `beef`."


def test_scores_are_printed_with_their_windows():
    assert TASK.score_lines({"valid": SCORES}) == ["evaluated in windows of 32 tokens, stride 16"]
    assert LanguageEvaluation(stride=3).stride == 3 and issubclass(LanguageEvaluation, EvaluateOptions)
    with pytest.raises(ValidationError):
        LanguageEvaluation(stride=0)


def test_a_model_with_invalid_generation_defaults_is_refused():
    tokenizer = tokenizer_of(size=300)
    TASK.check_bundle(language_bundle(tokenizer, generate={"temperature": 0.5}))
    with pytest.raises(ConfigError, match="temperature"):
        TASK.check_bundle(language_bundle(tokenizer, generate={"temperature": -1}))
