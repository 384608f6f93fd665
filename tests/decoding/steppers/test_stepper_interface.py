"""Steps of a model and of an ensemble, against forward passes over the whole target."""

import torch
from torch.testing import assert_close

from regard.decoding.steppers.interface import EnsembleStepper, ModelStepper, mean_log_probability
from small import ENDS, random_tokens, small_transformer, sources

SOURCE, MASK = sources([5, 3])


def whole(model, target):
    with torch.no_grad():
        return model(SOURCE, MASK, target)


@torch.no_grad()
def test_steps_equal_one_forward_pass():
    model, target = small_transformer(), random_tokens(2, 4, seed=1)
    stepper = ModelStepper(model, SOURCE, MASK)
    logits = torch.stack([stepper.step(target[:, step]) for step in range(4)], 1)
    assert_close(logits, whole(model, target), atol=1e-4, rtol=0)


@torch.no_grad()
def test_reordered_rows_continue_their_own_hypotheses_and_sentences_leave():
    model = small_transformer()
    stepper = ModelStepper(model, SOURCE, MASK)
    stepper.step(torch.tensor([ENDS.bos_id, ENDS.bos_id]))
    stepper.reorder(torch.tensor([0, 0, 1, 1]))
    stepper.step(torch.tensor([5, 6, 7, 8]))
    stepper.reorder(torch.tensor([3, 2]), torch.tensor([1]))
    logits = stepper.step(torch.tensor([9, 10]))
    for row, past in enumerate(([8, 9], [7, 10])):
        expected = model(SOURCE[1:, :3], MASK[1:, :3], torch.tensor([[ENDS.bos_id, *past]]))[0, -1]
        assert_close(logits[row], expected, atol=1e-4, rtol=0)


@torch.no_grad()
def test_an_ensemble_averages_probabilities():
    models, target = [small_transformer(seed) for seed in (0, 1)], random_tokens(2, 3, seed=1)
    ensemble = EnsembleStepper([ModelStepper(model, SOURCE, MASK) for model in models])
    ensemble.step(target[:, 0])
    ensemble.reorder(torch.tensor([1, 0]), torch.tensor([1, 0]))
    log_p = ensemble.step(target[[1, 0], 1])
    expected = torch.stack([whole(model, target)[:, 1].softmax(-1) for model in models]).mean(0)
    assert_close(log_p.exp(), expected[[1, 0]], atol=1e-5, rtol=1e-4)


def test_the_mean_of_one_model_is_its_own_log_probability():
    logits = torch.randn(3, 7)
    assert_close(mean_log_probability([logits]), logits.log_softmax(-1))
