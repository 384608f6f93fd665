"""Search strategies: rollout, beam search, mask-predict."""
