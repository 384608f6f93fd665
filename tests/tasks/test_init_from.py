"""Runs that start from a pretrained model: its weights, tokenizers, sizes and learning rate."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from torch.testing import assert_close

import regard
from encoder_folders import bert_tokenizer, small_encoder_bundle
from generators import tokenizer_of
from language_folders import their_folder
from regard.checkpoint.bundle import read_bundle, write_bundle
from regard.errors import CheckpointError, ConfigError
from regard.runs.planning.recipes import find_recipe, resolve_run
from regard.runs.resume import resume
from regard.runs.verify import verify_resume
from regard.tasks.declarations import Context, InitFrom
from regard.tasks.init_from import (
    body_weights,
    check_tokenizers,
    init_layer,
    is_tuned,
    is_word_file,
    prefer_tokens,
    pretrained_settings,
    run_context,
)
from regard.training.device.machine import prepare_machine
from regard.training.settings import MachineSettings

SMALL = {"model.width": 16, "model.heads": 2, "model.feed_forward_width": 32}
LAYERS = {"language-miniature": {"model.layers": 1}, "translate-miniature": {"model.encoder_layers": 1}}
BRIEF = {"train.steps": 4, "train.warmup": 1, "train.validate_every": 2, "train.tokens_per_update": 300}
COUNTS = {"data.train.max_rows": 40, "data.valid.max_rows": 5, "data.test.test.max_rows": 5}
UNSEEN = {f"data.test.unseen-{part}.max_rows": 2 for part in ("pairs", "cases", "depth")}
RECIPES = ("language-miniature", "translate-miniature")
STAYS = {"train.learning_rate": 1e-9}


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def brief(recipe):
    """What makes a run of a recipe a matter of seconds."""
    return BRIEF | COUNTS | (UNSEEN if recipe == "translate-miniature" else {})


def first(recipe, **changes):
    return regard.train(recipe, SMALL | LAYERS[recipe] | brief(recipe) | changes, out="first")


@pytest.mark.parametrize("recipe", RECIPES)
def test_weights_tokenizers_and_sizes_come_along(recipe):
    start = first(recipe)
    changes = brief(recipe) | STAYS | {"init_from": "first", "data.train.max_rows": 30}
    second = regard.train(recipe, changes, out="second")
    before, after = read_bundle(start.best), read_bundle(second.best)
    assert after.settings == before.settings
    for role, tokenizer in before.tokenizers.items():
        assert after.tokenizers[role].to_json() == tokenizer.to_json()
    for name, weight in before.model.state_dict().items():
        assert_close(after.model.state_dict()[name], weight, atol=1e-6, rtol=0)
    assert after.facts["init_from"]["path"] == "first" and len(after.facts["init_from"]["sha256"]) == 64
    assert second.record.report.model_dump()["init_from"] == after.facts["init_from"]
    assert "Initialized from `first`" in (second.path / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("recipe, base", [(RECIPES[0], 5e-5), (RECIPES[1], 1e-4)])
def test_the_rate_is_low_unless_another_is_said(recipe, base):
    first(recipe)
    resolved = lambda **changes: resolve_run(find_recipe(recipe), {"init_from": "first", **changes}).settings
    assert resolved().train.learning_rate == pytest.approx(base * 768 / 16)
    assert resolved(**{"train.learning_rate": 0.5}).train.learning_rate == 0.5


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_run_that_went_on_is_resumed_to_the_bit(recipe):
    first(recipe)
    assert verify_resume(find_recipe(recipe), brief(recipe) | {"init_from": "first"}, steps=4).is_exact
    run = regard.train(recipe, brief(recipe) | {"init_from": "first"}, out="second")
    longer = resume(run.path, {"train.steps": 6})
    assert longer.record.steps == 6 and longer.record.report.model_dump()["init_from"]["path"] == "first"


def test_what_was_learned_helps_from_the_first_update_on():
    start = first(
        "language-miniature", **{"train.steps": 60, "train.learning_rate": 1e-2, "data.train.max_rows": 400}
    )
    more = BRIEF | COUNTS | STAYS | {"train.steps": 1, "train.warmup": 0}
    second = regard.train("language-miniature", more | {"init_from": "first"}, out="second")
    nothing = regard.train("language-miniature", more | SMALL | LAYERS["language-miniature"], out="nothing")
    assert second.scores["test"]["loss"] == pytest.approx(start.scores["test"]["loss"], abs=1e-3)
    assert second.scores["test"]["loss"] < nothing.scores["test"]["loss"] - 0.5


def test_a_gpt_of_hugging_face_goes_on(tmp_path):
    theirs = their_folder(tmp_path / "theirs")
    (tmp_path / "a.txt").write_text("The dog sleeps in the garden, and the cat plays with the old ball.\n" * 40)
    changes = (
        BRIEF
        | STAYS
        | {"data.train.paths": ["a.txt"], "data.train.documents": "lines", "init_from": "hf:theirs", "window": 16}
    )
    run = regard.train("language-model", changes, out="run")
    table = read_bundle(run.best).model.embedding.table.weight
    assert_close(table, theirs.get_input_embeddings().weight, atol=1e-6, rtol=0)


@pytest.mark.parametrize(
    "recipe, changes, kind, sentence",
    [
        (RECIPES[0], {"model.layers": 3}, ConfigError, "model.layers: 3 contradicts first, where it is 1"),
        (
            RECIPES[0],
            {"text.size": 300},
            ConfigError,
            'text.size: the tokenizer comes from the pretrained model "first"',
        ),
        (RECIPES[0], {"init_from": "nowhere"}, CheckpointError, "nowhere: there is no run or checkpoint here"),
        (RECIPES[0], {"vectors.path": "first.txt"}, ConfigError, "vectors.path: the embedding matrix comes from"),
        (RECIPES[1], {}, ConfigError, "init_from: first is a language model, but the task translate starts from a"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path, recipe, changes, kind, sentence):
    first(RECIPES[0])
    (tmp_path / "first.txt").write_text("".join(f"{word} {' 0.1' * 16}\n" for word in ("the", "dog")))
    with pytest.raises(kind) as refused:
        regard.train(recipe, {"init_from": "first", **changes}, out="second")
    assert sentence in str(refused.value) and "\n" not in str(refused.value)


def test_words_may_still_be_split_anew():
    first("translate-miniature")
    settings = resolve_run(find_recipe("translate-miniature"), {"init_from": "first", "text.dropout": 0.2}).settings
    assert settings.text.dropout == 0.2


RULES = InitFrom({"encoder": 3e-5, "causal-lm": 6e-5}, has_new_head=True, may_change=("max_positions",))


@pytest.fixture
def encoder():
    """A checkpoint of an encoder of width 16 in the folder `pretrained`."""
    write_bundle(Path("pretrained"), small_encoder_bundle(bert_tokenizer(size=300), {"length": 32}))


def test_a_pretrained_model_implies_its_sizes_and_a_rate_for_its_width(encoder):
    values = {"init_from": "pretrained", "text": {"size": 5, "dropout": 0.1}, "model": {"dropout": 0.3}}
    layer = init_layer("classify", RULES, values, {})
    assert layer.name == "pretrained model pretrained"
    assert layer.values["model"] == pretrained_settings("pretrained")
    width = layer.values["model"]["width"]
    assert layer.values["train"]["learning_rate"] == pytest.approx(3e-5 * 768 / width, rel=1e-2)
    frozen = init_layer("classify", RULES, values | {"freeze_body": True}, {})
    assert frozen.values["train"]["learning_rate"] == 1e-3
    assert init_layer("classify", RULES, {}, {}) is None


def test_a_model_named_on_the_command_line_replaces_that_of_the_recipe(encoder):
    values = {"text": {"size": 5, "dropout": 0.1}, "model": {"width": 9, "dropout": 0.3}}
    init_layer("classify", RULES, values, {"init_from": "pretrained"})
    assert values["text"] == {"dropout": 0.1} and values["model"] == {"dropout": 0.3}
    with pytest.raises(ConfigError) as error:
        init_layer("classify", RULES, {"init_from": "pretrained", "model": {"preset": "bert-tiny"}}, {})
    assert str(error.value) == (
        'model.preset: "bert-tiny" cannot be chosen, the model comes from pretrained; leave it out.'
    )


def test_tokens_per_update_replace_the_recipe_s_examples():
    values = {"train": {"examples_per_update": 16}}
    prefer_tokens(values, {"train": {"tokens_per_update": 500, "examples_per_update": 4}})
    assert values["train"] == {"examples_per_update": 16}
    prefer_tokens(values, {"train": {"tokens_per_update": 500}})
    assert values["train"] == {}


@pytest.mark.parametrize(
    ("kind", "init_from", "freeze_body", "expected"),
    [
        ("bert", "runs/a", None, True),
        ("gpt", "runs/a", False, True),
        ("bert", "runs/a", True, False),
        ("bert", None, None, False),
        ("elmo", "runs/a", None, False),
        ("words", "vectors.txt", None, False),
    ],
)
def test_weights_of_language_models_are_tuned_and_features_are_not(kind, init_from, freeze_body, expected):
    model = SimpleNamespace(family=kind)
    assert is_tuned(SimpleNamespace(model=model, init_from=init_from, freeze_body=freeze_body)) == expected


def test_the_body_of_a_model_with_a_head_has_the_names_of_the_body():
    from labeled import small_headed

    model = small_headed()
    bundle = SimpleNamespace(model=model, head=object())
    weights = body_weights(bundle)
    assert weights.keys() <= model.body.state_dict().keys() and weights
    assert body_weights(SimpleNamespace(model=model.body, head=None)).keys() == weights.keys()


def test_a_table_of_examples_is_no_model(tmp_path):
    (tmp_path / "a.csv").write_text("text,label\n")
    with pytest.raises(ConfigError, match="a.csv is a table of examples, not a model; name a run"):
        is_word_file(str(tmp_path / "a.csv"))
    assert not is_word_file("nowhere")


def test_only_a_new_run_reads_the_pretrained_model(tmp_path):
    write_bundle(tmp_path / "bert", bert := small_encoder_bundle(bert_tokenizer()))
    machine = prepare_machine(MachineSettings(device="cpu"))
    settings = SimpleNamespace(task="classify", init_from=str(tmp_path / "bert"))
    context = run_context(settings, machine)
    assert context.known is context.pretrained and context.pretrained.settings == bert.settings
    assert run_context(settings, machine, resumed=bert).known is bert
    words = tmp_path / "words.vec"
    words.write_text("a 1 2\nb 3 4\n")
    for task, origin in (("classify", words), ("vectors", words), ("classify", None)):
        settings = SimpleNamespace(task=task, init_from=origin and str(origin))
        assert run_context(settings, machine).known is None


def test_a_pretrained_model_with_other_tokenizers_cannot_share_data():
    own = tokenizer_of(size=300)
    context = Context(None, pretrained=SimpleNamespace(tokenizers={"tokenizer": own}))
    check_tokenizers({"tokenizer": own}, context, "runs/a")
    check_tokenizers({"tokenizer": None}, Context(None), None)
    sentence = "^init_from: runs/a has another tokenizer than the data was tokenized with, so it cannot share"
    for others in ({"tokenizer": tokenizer_of(size=290)}, {"source": own, "target": own}):
        with pytest.raises(ConfigError, match=sentence):
            check_tokenizers(others, context, "runs/a")
