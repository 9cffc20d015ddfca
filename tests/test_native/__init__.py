"""Tests of the C extension: kernels, the generator in C, the live generator on it, and its builds."""
