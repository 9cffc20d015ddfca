"""Tests of the entropy sources and their registry; the source ``os`` has its tests among those of the edges."""
