"""Tests of the edges: the live generator, its forks and threads, tunables, boot and the layers."""
