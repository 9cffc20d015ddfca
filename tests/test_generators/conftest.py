"""Fixtures of the generator tests: every (generator, provider, kernel) that runs here, by one readable id."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .keystream_support import CELLS, Cell, keyed

if TYPE_CHECKING:
    from fortuna.generators import KeystreamGenerator


@pytest.fixture(params=CELLS, ids="-".join)
def cell(request: pytest.FixtureRequest) -> Cell:
    """Give each generator, provider and kernel that runs here."""
    found: Cell = request.param
    return found


@pytest.fixture
def generator(cell: Cell) -> KeystreamGenerator:
    """Give an instance of each cell, keyed with 00 01 .. 1f."""
    return keyed(*cell)
