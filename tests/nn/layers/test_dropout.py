import torch

from regard.nn.layers.dropout import Dropout, keep_mask


def test_dropout_keeps_the_mean_and_drops_with_its_probability():
    torch.manual_seed(0)
    mask = keep_mask(torch.empty(400, 500), 0.3)
    assert abs((mask == 0).float().mean().item() - 0.3) < 0.005
    assert abs(mask.mean().item() - 1) < 0.01
    assert len(mask.unique()) == 2
    neighbors = (mask[:, ::2] == 0) & (mask[:, 1::2] == 0)  # elements that share a random word stay independent
    assert abs(neighbors.float().mean().item() - 0.09) < 0.005


def test_dropout_is_off_outside_training_and_repeats_with_a_seed():
    dropout = Dropout(0.5)
    x = torch.randn(10, 10)
    assert dropout.eval()(x) is x
    dropout.train()
    torch.manual_seed(3)
    first = dropout(x)
    torch.manual_seed(3)
    assert torch.equal(dropout(x), first) and not torch.equal(dropout(x), first)


def test_any_number_of_elements_has_a_mask_of_its_shape_and_type():
    for shape in ((), (1,), (3,), (2, 5), (7, 1, 3)):
        mask = keep_mask(torch.empty(shape, dtype=torch.float64), 0.25)
        assert mask.shape == shape and mask.dtype == torch.float64
