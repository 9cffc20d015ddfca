"""Recovery after a compromise: within the bound at any rate and phase, and never with a single pool."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fortuna.core.scheduler import POOL_COUNT
from fortuna.testing.recovery import PHASES, SAFE_BITS, Blind, bound, main, optimum, recovery

DRAWING = Path(__file__).resolve().parents[2] / "docs" / "recovery.svg"
PAGE = DRAWING.with_name("recovery.md")


@given(
    bits=st.sampled_from([2.0, 3.0, 4.0, 7.5, 8.0, 16.0, 32.0, 64.0, 128.0]),
    every=st.integers(1, 3),
    phase=st.integers(0, 5000),
    turn=st.integers(0, 31),
    delay=st.integers(0, 2),
)
@settings(max_examples=60, deadline=None)
def test_testing_recovery_is_within_the_bound(bits: float, every: int, phase: int, turn: int, delay: int) -> None:
    """Not before the source has given 128 bits, but for what rounding leaves, and not after the bound.

    That holds wherever the compromise falls: in the schedule, in the round of the pools, between two events.
    """
    after = recovery(bits, every, phase, turn=turn, delay=delay % every, limit=bound(bits, every))
    assert after is not None
    assert optimum(bits, every) - every < after <= bound(bits, every) < 96 * optimum(bits, every)


@pytest.mark.parametrize(("bits", "every"), [(16.0, 2), (8.0, 2), (8.0, 4)])
def test_testing_recovery_may_miss_the_first_use(bits: float, every: int) -> None:
    """Who comes in shortly before P_k is used may know K for more than 2**k reseeds, so the bound has to be larger."""
    spacing = POOL_COUNT * optimum(bits, every)
    assert 2 * spacing - 1 == bound(bits, every)
    after = [recovery(bits, every, spacing - early) for early in (2, 3, 5)]
    assert spacing < max(reseeds or 0 for reseeds in after) <= bound(bits, every)


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


def test_testing_recovery_page_shows_what_the_command_gives(tmp_path: Path) -> None:
    """The drawing and the table of the page are made by the command, to the byte."""
    command = [sys.executable, "-W", "error", "-m", "fortuna.testing.recovery", str(tmp_path / "drawn.svg")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert (0, "") == (done.returncode, done.stderr)
    assert DRAWING.read_bytes() == (tmp_path / "drawn.svg").read_bytes()
    assert done.stdout in PAGE.read_text(encoding="utf-8")


def test_testing_recovery_draws_only_when_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a path the command prints the table and writes nothing."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("fortuna.testing.recovery.RATES", ((128, 1),))
    main([])
    assert ["128", "1", "1..1", "63", "1"] == capsys.readouterr().out.splitlines()[1].split()
    assert [] == list(tmp_path.iterdir())


def test_testing_recovery_stands_in_for_a_whole_generator() -> None:
    """What takes the place of (K, C) has its two methods, and gives nothing."""
    out = bytearray(3)
    assert 3 == Blind().readinto(out)
    assert bytes(3) == out
