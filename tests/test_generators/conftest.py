"""Fixtures of the generator tests: every (generator, provider) cell of the registry, by one readable id."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .keystream_support import CELLS, keyed

if TYPE_CHECKING:
    from fortuna.generators import KeystreamGenerator


@pytest.fixture(params=CELLS, ids="-".join)
def cell(request: pytest.FixtureRequest) -> tuple[str, str]:
    """Give each registered pair of generator and provider."""
    found: tuple[str, str] = request.param
    return found


@pytest.fixture
def generator(cell: tuple[str, str]) -> KeystreamGenerator:
    """Give an instance of each registered cell, keyed with 00 01 .. 1f."""
    return keyed(*cell)
