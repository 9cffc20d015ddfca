"""Tests of fortuna.testing."""
