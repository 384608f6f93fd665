"""The trainer of word2vec: sparse updates without autograd."""
