"""Recovery after a compromise: within the bound at any rate and phase, and never with a single pool."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fortuna.testing.recovery import PHASES, SAFE_BITS, bound, main, optimum, recovery

if TYPE_CHECKING:
    from collections.abc import Callable

DRAWING = Path(__file__).resolve().parents[2] / "docs" / "recovery.svg"
PAGE = DRAWING.with_name("recovery.md")


@given(
    bits=st.sampled_from([2.0, 3.0, 4.0, 7.5, 8.0, 16.0, 32.0, 64.0, 128.0]),
    every=st.integers(1, 3),
    phase=st.integers(0, 5000),
)
@settings(max_examples=60, deadline=None)
def test_testing_recovery_is_within_the_bound(bits: float, every: int, phase: int) -> None:
    """Not before the source has given 128 bits, but for what rounding leaves, and not after the bound."""
    after = recovery(bits, every, phase, limit=bound(bits, every))
    assert after is not None
    assert optimum(bits, every) - every < after <= bound(bits, every) <= 128 * optimum(bits, every) + 128 * every


@pytest.mark.parametrize("bits", [8.0, 64.0, 127.0])
def test_testing_recovery_needs_many_pools(bits: float) -> None:
    """One pool whose every reseed can be tried out never recovers; at 128 bits a reseed it does at once."""
    assert recovery(bits, 1, pools=1, limit=2000) is None
    assert 1 == recovery(float(SAFE_BITS), 1, pools=1)


def test_testing_recovery_gives_up_at_its_limit() -> None:
    """A limit below the recovery is an answer too."""
    after = recovery(8.0, 1)
    assert after is not None
    assert recovery(8.0, 1, limit=after - 1) is None
    assert after == recovery(8.0, 1, limit=after)


def test_testing_recovery_depends_on_the_phase() -> None:
    """The phases that the page shows do not all recover at the same reseed."""
    assert len({recovery(8.0, 1, phase) for phase in PHASES}) > 1


def test_testing_recovery_page_shows_what_the_command_gives(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The drawing and the table of the page are made by the command, to the byte."""
    run: Callable[[list[str]], None] = main
    run([str(tmp_path / "drawn.svg")])
    assert DRAWING.read_bytes() == (tmp_path / "drawn.svg").read_bytes()
    assert capsys.readouterr().out in PAGE.read_text(encoding="utf-8")
