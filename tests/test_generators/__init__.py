"""Tests of the package fortuna.generators."""
