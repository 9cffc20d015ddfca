"""Tests of the package fortuna.core."""
