"""Fixtures of the native tests: our kernels that run here, by one readable id."""

from __future__ import annotations

import pytest

from .native_support import BEST, NATIVE, Cell


@pytest.fixture(params=NATIVE, ids="-".join)
def cell(request: pytest.FixtureRequest) -> Cell:
    """Give each kernel of each generator."""
    found: Cell = request.param
    return found


@pytest.fixture(params=BEST, ids="-".join)
def best(request: pytest.FixtureRequest) -> Cell:
    """Give the best kernel of each generator."""
    found: Cell = request.param
    return found
