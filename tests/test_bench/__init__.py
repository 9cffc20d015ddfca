"""Tests of the benchmark; no time is asserted anywhere."""
