import torch

from regard.models.base.joining import joined


def test_the_shorter_is_padded_on_the_side_that_is_asked_for():
    first, second = torch.ones(1, 2, 3), torch.full((2, 1, 3), 2.0)
    together = joined(first, second, 1, value=-1)
    assert together.shape == (3, 2, 3) and together[1:, 1].eq(-1).all() and together[1:, 0].eq(2).all()
    left = joined(second, first, 1, is_left=True)
    assert left.shape == (3, 2, 3) and left[:2, 0].eq(0).all() and left[:2, 1].eq(2).all()
    assert torch.equal(joined(first, first), torch.ones(2, 2, 3))
