import torch

from regard.models.base.joining import joined, moves_into_gaps


def test_the_shorter_is_padded_on_the_side_that_is_asked_for():
    first, second = torch.ones(1, 2, 3), torch.full((2, 1, 3), 2.0)
    together = joined(first, second, 1, value=-1)
    assert together.shape == (3, 2, 3) and together[1:, 1].eq(-1).all() and together[1:, 0].eq(2).all()
    left = joined(second, first, 1, is_left=True)
    assert left.shape == (3, 2, 3) and left[:2, 0].eq(0).all() and left[:2, 1].eq(2).all()
    assert torch.equal(joined(first, first), torch.ones(2, 2, 3))


def test_the_last_rows_move_into_gaps_and_another_order_is_none():
    places, moving = moves_into_gaps(torch.tensor([0, 4, 2, 3]), 5)
    assert places.tolist() == [1] and moving.tolist() == [4]
    places, _ = moves_into_gaps(torch.tensor([0, 1]), 5)
    assert not places.numel()
    for rows in ([1, 0], [1, 2], [0, 0, 1, 1]):
        assert moves_into_gaps(torch.tensor(rows), 3) is None
