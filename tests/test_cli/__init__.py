"""Tests of the command fortuna-dump."""
