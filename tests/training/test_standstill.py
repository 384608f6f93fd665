"""Models that learn nothing: what shows it, and from when on."""

from regard.training.settings import TrainSettings
from regard.training.standstill import beginning, is_standing_still, learns_nothing, standstill, way_out
from regard.training.state import LoopState

STATE = LoopState(step=1000)


def test_a_collapse_is_named_in_words():
    ill = {"duplicate_outputs": 0.9, "attention_focus": 0.002}
    assert list(standstill(ill, {}, STATE).values()) == [
        "90% of the outputs on validation sentences are identical",
        "cross-attention is nearly uniform (focus 0.0020 of 1), so the model does not use its source",
    ]
    assert standstill({"duplicate_outputs": 0.1, "attention_focus": 0.2}, {}, STATE) == {}
    assert standstill({"loss": 2.0}, {}, STATE) == {}


def test_the_level_of_a_constant_prediction_is_a_standstill():
    baseline = {"mlm_loss": 7.0}
    assert standstill({"mlm_loss": 6.99}, baseline, STATE, train_loss=7.0) == {
        "baseline": "the validation's mlm loss of 6.99 is that of a constant prediction (7)"
    }
    assert standstill({"mlm_loss": 6.8}, baseline, STATE, train_loss=7.0) == {}
    assert standstill({"mlm_loss": 9.0}, baseline, STATE, train_loss=2.0) == {}  # overfitted: it has learned


def test_all_metrics_have_to_be_at_that_level():
    baseline = {"accuracy": 0.7, "loss": 0.61}
    assert "baseline" in standstill({"accuracy": 0.7, "loss": 0.612}, baseline, STATE)
    assert standstill({"accuracy": 0.75, "loss": 0.9}, baseline, STATE) == {}  # overconfident, but better
    assert standstill({"accuracy": 0.7, "loss": 0.5}, baseline, STATE) == {}
    assert "baseline" in standstill({"f1": 0.0}, {"f1": 0.0}, STATE)


def test_without_a_baseline_the_training_loss_has_to_fall():
    state = LoopState(step=1000, first_loss=5.0, recent=[5.1, 5.0, 4.99])
    assert standstill({"loss": 1.0}, {}, state) == {
        "train_loss": "the training loss is 4.99, and was 5 in the first updates"
    }
    state.recent.append(4.5)
    assert standstill({"loss": 1.0}, {}, state) == {}


def test_a_slow_beginning_is_no_standstill():
    settings = TrainSettings(warmup=100)
    assert not is_standing_still(LoopState(step=399, stuck=5), settings)
    assert is_standing_still(LoopState(step=400, stuck=1), settings)
    assert not learns_nothing(LoopState(step=400, stuck=2), settings)
    assert learns_nothing(LoopState(step=400, stuck=3), settings)
    assert not learns_nothing(LoopState(step=400, stuck=3, decay_from=390), settings)


def test_in_a_short_run_half_of_it_is_the_beginning():
    assert beginning(TrainSettings(warmup=100, steps=20_000)) == 400
    assert beginning(TrainSettings(warmup=20, steps=420)) == 220
    assert beginning(TrainSettings(warmup=4, steps=60)) == 154  # too few updates to say
    assert beginning(TrainSettings(warmup=100, steps=200, schedule="wsd", patience=3)) == 400


def test_the_way_out_names_the_settings():
    assert way_out(TrainSettings(warmup=100)) == (
        "lower train.learning_rate (now 0.001), raise train.warmup (now 100), or check that inputs and targets "
        "belong together"
    )
    assert way_out(TrainSettings(warmup=4, steps=10), step=10) == (
        "10 updates are few, so train longer, or check that inputs and targets belong together"
    )
