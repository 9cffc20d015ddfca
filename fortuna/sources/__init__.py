"""Entropy sources: one file for each, found under its name in ``entropy.sources``."""
