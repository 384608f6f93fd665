"""Generation: greedy and beam search, sampling, mask-predict, scoring."""
