"""Plans over a wide range of data, shapes and devices: sane everywhere, and monotone where they should be."""

import itertools

import pytest

from regard.models.families import family
from regard.models.presets import presets
from regard.runs.planning import autopilot
from regard.runs.planning.recipes import find_recipe, resolve_run
from regard.tasks.planning import rules
from regard.tasks.planning.inputs import Survey

PAIRS = (50, 500, 5_000, 50_000, 5_000_000)
CHARACTERS = (10, 70, 400)
"""Of a row: short lines of a script without spaces, sentences, and paragraphs."""


def kind_of(preset):
    return family(presets()[preset].settings["family"]).kind


@pytest.fixture
def surveyed(monkeypatch):
    """A function that resolves a run on data of some size, on some device."""

    def resolve(task, rows, characters, device="cpu", **changes):
        sides = 2 if task == "translate" else 1
        monkeypatch.setattr(autopilot, "survey", lambda source, lines: Survey(rows, rows * characters * sides, sides))
        monkeypatch.setattr(autopilot, "_device", lambda name: device)
        source = {"data.train.paths": ["a"]} if "language" in task or task == "elmo" else {"data.train.path": "a"}
        given = {name.replace("__", "."): value for name, value in changes.items()}
        return resolve_run(find_recipe(task), source | given)

    return resolve


def check(settings):
    """Hold every planned value to bounds that are sane for any data."""
    survey = autopilot.survey(settings.data.train, ())
    train, model, text = settings.train, settings.model, settings.text
    assert 1e-5 <= train.learning_rate <= rules.HIGHEST_RATE
    assert 256 <= train.tokens_per_update <= 65_536
    assert 0 <= train.warmup < train.steps and train.warmup <= max(1, train.steps // 3)
    assert 1 <= train.validate_every <= max(1, train.steps // 2)
    assert 0.0 <= train.ema_decay <= 0.9999 and 0 <= train.weight_decay <= 0.1
    assert train.ends_itself or train.schedule == "cosine"
    assert all(0.0 <= getattr(model, name, 0.0) <= 0.3 for name in ("dropout", "embedding_dropout"))
    if hasattr(text, "size"):
        assert 100 <= text.size <= 50_000
        assert text.size <= max(300, survey.characters / 20), "each token needs some text"


def test_a_short_time_on_a_cpu_has_small_validations(surveyed):
    def sentences(**changes):
        return surveyed("translate", 50_000, 70, **changes).settings.validation.bleu_sentences

    assert [sentences(train__minutes=minutes) for minutes in (0.5, 2, 20)] == [20, 50, 200]
    assert sentences() == 200 and sentences(train__minutes=1, device="cuda") == 1000
    assert sentences(train__minutes=1, validation__bleu_sentences=70) == 70


@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize("task", ["translate", "language-model", "masked-language-model"])
def test_plans_are_sane_for_any_amount_of_text(surveyed, task, device):
    for rows, characters in itertools.product(PAIRS, CHARACTERS):
        resolved = surveyed(task, rows, characters, device)
        check(resolved.settings)
        assert all(source.split(": ", 1)[1] for source in resolved.sources.values() if source.startswith("planned"))


TASKS = {
    "seq2seq": "translate",
    "conditional-masked-lm": "translate",
    "causal-lm": "language-model",
    "encoder": "masked-language-model",
    "bidirectional-lm": "elmo",
}
"""A task for each kind of model that is trained from scratch."""


@pytest.mark.parametrize("preset", [name for name in presets() if kind_of(name) in TASKS])
def test_plans_are_sane_for_every_preset(surveyed, preset):
    for rows, device in ((50, "cpu"), (5_000, "cuda"), (5_000_000, "cuda")):
        check(surveyed(TASKS[kind_of(preset)], rows, 70, device, model__preset=preset).settings)


@pytest.mark.parametrize("task", sorted(set(TASKS.values())))
def test_a_run_of_any_length_has_a_plan_that_fits_it(surveyed, task):
    for minutes, device in itertools.product((0.2, 3, 300), ("cpu", "cuda")):
        check(surveyed(task, 50_000, 70, device, train__minutes=minutes).settings)
    for steps in (1, 10, 1000, 100_000):
        train = surveyed(task, 50_000, 70, train__steps=steps).settings.train
        assert train.warmup <= max(1, steps // 3) and train.validate_every <= max(1, steps // 2)


@pytest.mark.parametrize("task", ["classify", "regress", "tag", "choose", "answer"])
def test_fine_tuning_has_a_sane_plan_for_any_number_of_rows(surveyed, task):
    trained = []
    for rows in (10, *PAIRS):
        resolved = surveyed(task, rows, 70)
        train = resolved.settings.train
        assert 3 <= train.epochs <= 40 and 8 <= train.examples_per_update <= 32
        assert train.schedule == "linear" and 1e-5 <= train.learning_rate <= 1e-3
        assert 0 < train.warmup <= 0.1 and 0 < train.validate_every <= 0.5
        assert all(source.split(": ", 1)[1] for source in resolved.sources.values() if source.startswith("planned"))
        trained.append(train.epochs * rows)
    assert trained == sorted(trained)  # more rows are never trained on for fewer examples


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_more_pairs_have_larger_vocabularies_and_updates_and_less_regularization(surveyed, device):
    plans = [surveyed("translate", rows, 40, device).settings for rows in PAIRS[1:]]
    sizes = [each.text.size for each in plans]
    updates = [each.train.tokens_per_update for each in plans]
    dropped = [each.model.dropout for each in plans]
    split = [each.text.dropout for each in plans]
    epochs = [each.train.steps * each.train.tokens_per_update / (rows * 40) for each, rows in zip(plans, PAIRS[1:])]
    for growing in (sizes, updates):
        assert growing == sorted(growing)
    for falling in (dropped, split, [round(each) for each in epochs]):
        assert falling == sorted(falling, reverse=True)


def test_rates_fall_with_width_and_depth(surveyed):
    rate = lambda **shape: surveyed("language-model", 50_000, 400, "cuda", **shape).settings.train.learning_rate
    widths = [rate(model__width=width, model__heads=width // 64) for width in (128, 256, 512, 1024)]
    depths = [rate(model__layers=layers, model__width=256, model__heads=4) for layers in (4, 12, 24, 48)]
    assert widths == sorted(widths, reverse=True) and widths[0] > widths[-1]
    assert depths == sorted(depths, reverse=True) and depths[0] > depths[-1]


def test_five_thousand_pairs_have_no_plan_that_the_doctor_would_change(surveyed):
    settings = surveyed("translate", 5_000, 35).settings
    assert 1_000 <= settings.text.size <= 2_000
    epoch = 5_000 * 35 / 3
    assert settings.train.steps * settings.train.tokens_per_update / epoch <= 450 and settings.train.patience


def test_next_to_no_pairs_have_the_smallest_model(surveyed):
    assert surveyed("translate", 300, 40).settings.model.width == 96
    assert surveyed("translate", 5_000, 40).settings.model.width == 256
    assert surveyed("translate", 300, 40, model__width=128).settings.model.width == 128


def test_a_gpu_trains_wider_translators_on_more_pairs(surveyed):
    shape = lambda rows, **more: surveyed("translate", rows, 70, "cuda", **more).settings.model
    models = [shape(rows) for rows in (30_000, 200_000, 5_000_000)]
    assert [(each.width, each.feed_forward_width, each.decoder_layers) for each in models] == [
        (256, 1024, 5),
        (512, 1024, 6),
        (512, 2048, 6),
    ]
    assert shape(5_000_000, train__minutes=2).width == 256 and shape(5_000_000, train__minutes=9).width == 512
    assert surveyed("translate", 5_000_000, 70, "cpu").settings.model.width == 256


def test_values_that_are_constant_have_a_reason_too(surveyed):
    translating, tuned = surveyed("translate", 5_000, 40).sources, surveyed("classify", 5_000, 40).sources
    assert translating["objective.label_smoothing"] == "planned: constant: as Vaswani et al. (2017)"
    for name in ("train.clip_norm", "machine.precision", "train.weight_decay"):
        assert translating[name].startswith("planned: constant: ")
    for name in ("train.adapter", "objective.class_weights", "train.unfreeze_over"):
        assert tuned[name].startswith("planned: constant: ")
