import pytest
import torch
from torch.nn import functional as F

from language import small_language_model
from regard.data.encoding.batches import NO_LABEL
from regard.data.feeds.windows import WindowBatch
from regard.models.gpt.model import GptSettings
from regard.objectives.language_model import LanguageObjective
from regard.objectives.loss import scaled_total
from small import VOCABULARY, random_tokens


def model_and_batch():
    model = small_language_model(GptSettings(width=16, heads=4, feed_forward_width=32, layers=2))
    tokens, labels = random_tokens(3, 5), random_tokens(3, 5, seed=1)
    labels[1, 2:] = NO_LABEL
    return model, WindowBatch(tokens, labels, label_count=12)


@pytest.mark.parametrize("smoothing", [0.0, 0.2])
def test_the_loss_is_that_of_next_tokens_and_the_likelihood_is_reported_beside_it(smoothing):
    model, batch = model_and_batch()
    objective = LanguageObjective(smoothing)
    loss, counts = objective(model, batch), objective.counts(batch)
    assert counts == {"ce": 12, "nll": 12}
    log_p = model(batch.tokens)[batch.labels >= 0].log_softmax(-1)  # (12, V)
    labels = batch.labels[batch.labels >= 0]
    nll = F.nll_loss(log_p, labels, reduction="sum")
    others = -log_p.sum() - nll
    expected = (1 - smoothing) * nll + smoothing / (VOCABULARY - 1) * others
    assert loss["ce"].sum.item() == pytest.approx(expected.item(), rel=1e-9)
    assert loss["nll"].sum.item() == pytest.approx(nll.item(), rel=1e-9) and loss["nll"].weight == 0
    assert scaled_total(loss, counts).item() == pytest.approx(expected.item() / 12, rel=1e-9)


def test_a_window_without_labels_has_gradients_of_0():
    model, batch = model_and_batch()
    empty = WindowBatch(batch.tokens, torch.full_like(batch.labels, NO_LABEL), label_count=0)
    objective = LanguageObjective()
    scaled_total(objective(model, empty), objective.counts(empty)).backward()
    gradients = [each.grad for each in model.parameters() if each.grad is not None]
    assert gradients and all((gradient == 0).all() for gradient in gradients)
