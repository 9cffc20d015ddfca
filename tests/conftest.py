"""What every test is held to."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

#: How long a thread that was told to end may take.
END_SECONDS: Final = 10.0


@pytest.fixture(autouse=True)
def no_thread_is_left() -> Iterator[None]:
    """Fail a test that leaves a thread behind: another test's fork by C code might hang in the child for it."""
    before = set(threading.enumerate())
    yield
    for thread in set(threading.enumerate()) - before:
        thread.join(END_SECONDS)
        assert not thread.is_alive(), f"the test left {thread!r} running"
