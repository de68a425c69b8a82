"""Rewriting whole utterances: what its mechanisms give."""
