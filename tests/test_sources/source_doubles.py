"""Doubles for the sources: a clock that ticks as told, a processor with faults, and distributions with sources."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fortuna.sources.os import OperatingSystem

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fortuna.generators.secret import Secret

GROUP: Final = "fortuna.sources"
#: A plug-in that works, as the text of its module; a test replaces a line to break it.
GOOD_SOURCE: Final = """
class Dice:
    name = "dice"
    number = 40
    cost = "cheap"
    min_entropy = 2.5
    assumption = "thrown by hand"

    def harvest(self):
        return b"\\x01\\x02\\x03"
"""


class SteppingClock:
    """A clock that takes the next of *steps* at each look, over and over; sleeping passes the time and may act."""

    def __init__(self, *steps: int) -> None:
        self.now = 1_000_000_000
        self.looks = 0
        self.slept: list[float] = []
        self.while_asleep: Callable[[], object] = lambda: None
        self._steps = steps or (0,)

    def monotonic_ns(self) -> int:
        """Return the time after one more step."""
        self.now += self._steps[self.looks % len(self._steps)]
        self.looks += 1
        return self.now

    def sleep(self, seconds: float) -> None:
        """Pass the time at once."""
        self.slept.append(seconds)
        self.now += round(seconds * 1e9)
        self.while_asleep()


class ScriptedProcessor:
    """The instructions of a processor: each gives the events told, then is not ready."""

    def __init__(self, **events: list[bytes]) -> None:
        self.events = events
        self.asked: list[str] = []
        self.last: Secret | None = None

    def fill(self, instruction: str, out: Secret) -> bool:
        """Answer as ``_native.cpu_random`` does."""
        self.asked.append(instruction)
        self.last = out
        if not self.events[instruction]:
            out[:] = bytes(32)
            return False
        out[:] = self.events[instruction].pop(0)
        return True


def no_system() -> OperatingSystem:
    """Return a source ``os`` that nothing may ask."""
    return OperatingSystem(None, lambda size: b"")


def install_source(
    site: Path, name: str = "dice", text: str = GOOD_SOURCE, *, distribution: str = "dice-plugin", target: str = "Dice"
) -> None:
    """Put a distribution into the folder *site* that offers *target* of a module of that *text* as source *name*."""
    module = f"module_of_{distribution.replace('-', '_')}"
    info = site / f"{distribution.replace('-', '_')}-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.2\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(f"[{GROUP}]\n{name} = {module}:{target}\n", encoding="utf-8")
    (site / f"{module}.py").write_text(text, encoding="utf-8")
