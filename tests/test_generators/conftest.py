"""Fixtures of the generator tests: every (generator, provider, kernel) that runs here, by one readable id."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from fortuna.generators import registry

from .keystream_support import CELLS, Cell, keyed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

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


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Give an empty folder at the front of the module path, where distributions can be put; nothing was tried yet."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setattr(registry, "_outcomes", {})
    yield folder
    for name, module in tuple(sys.modules.items()):
        if str(getattr(module, "__file__", None)).startswith(str(folder)):
            del sys.modules[name]
