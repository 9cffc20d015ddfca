"""Uses of `fortuna.testing`."""

from __future__ import annotations

from pathlib import Path

from typing_extensions import assert_type

import fortuna
from fortuna import Fortuna, SourceError
from fortuna.testing import (
    DeterministicFortuna,
    FailingSource,
    ManualClock,
    ReplayError,
    ScriptedSource,
    Transcript,
    TranscriptError,
    live,
)
from fortuna.typing import Buffer, Clock, Source

ERRORS: list[type[fortuna.FortunaError]] = [ReplayError, TranscriptError]
assert_type(fortuna.testing.ManualClock(), ManualClock)


def use_parts() -> None:
    """Make each double, and pass it for what it stands in for."""
    clock = ManualClock(now_ns=5)
    clock.advance(0.5)
    clock.advance_ns(1)
    clock.sleep(1)
    assert_type(clock.monotonic_ns(), int)
    assert_type(clock.slept, list[float])
    passed: Clock = clock
    scripted = ScriptedSource("ours", 40, [bytes(32), SourceError(5, "broken")], then="repeat", cost="costly")
    failing = FailingSource(scripted, "slow", after=1, count=2, clock=clock)
    assert_type(scripted.harvest(), Buffer)
    assert_type(failing.harvest(), Buffer)
    sources: list[Source] = [scripted, failing]
    assert_type(live(sources, clock=passed, cipher="chacha20", provider="auto", timeout=1.0), Fortuna)


def use_a_deterministic_generator(path: Path) -> None:
    """Draw from one, record it and replay."""
    made = DeterministicFortuna(b"seed", cipher="chacha20", interval_ns=0, clock=ManualClock())
    transcript = Transcript.record(made)
    assert_type(transcript, Transcript)
    assert_type(made.random_bytes(16), bytes)
    assert_type(made.readinto(bytearray(16)), int)
    made.add_event(200, b"data", pool=0)
    made.reseed(b"fresh")
    made.advance(0.2)
    assert_type(made.child(), DeterministicFortuna)
    assert_type(made.reseeds, int)
    assert_type(made.clock, ManualClock)
    transcript.save(path)
    assert_type(Transcript.load(str(path)).replay(provider="reference"), DeterministicFortuna)


def misuse() -> None:
    """Do what the types forbid: a generator for tests passes for no live one."""
    served: Fortuna = DeterministicFortuna(b"seed")  # type: ignore[assignment]
    served.close()
    ScriptedSource("ours", 40, ["text"])  # type: ignore[list-item]
