"""Fixtures of the edge tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fortuna._boot import Process
from fortuna.forks import ForkDetector
from fortuna.multiprocess import ENTRY, carried
from fortuna.tunables_file import ENVIRONMENT_VARIABLE

from .edge_doubles import Bench

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def bench() -> Bench:
    """Give a seeded live generator on doubles."""
    return Bench().boot()


@pytest.fixture
def unbooted(monkeypatch: pytest.MonkeyPatch) -> Iterator[Process]:
    """Give a process in which nothing is booted, and take back what a boot tells multiprocessing."""
    monkeypatch.delenv(ENVIRONMENT_VARIABLE, raising=False)
    carried().pop(ENTRY, None)
    yield Process(ForkDetector(use_hook=False))
    carried().pop(ENTRY, None)
