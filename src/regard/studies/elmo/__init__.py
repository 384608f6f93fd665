"""Runs of ELMo: words read as characters, said by a language model in either direction."""
