"""Translation: seq2seq models and mask-predict."""
