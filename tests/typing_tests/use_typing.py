"""Uses of `fortuna.typing`: a source and a clock of one's own, and functions that take what fortuna takes."""

from __future__ import annotations

import fortuna
from fortuna.typing import Buffer, Clock, Cost, Overrides, Size, Source, Value, WritableBuffer


class Thermometer:
    """A source, by its attributes alone."""

    name = "thermometer"
    number = 40
    cost: Cost = "slow"
    min_entropy = 0.5
    assumption = "the last digit is noise"

    def harvest(self) -> Buffer:
        """Return a reading."""
        return b"21.5"


class Stopped:
    """A clock."""

    def monotonic_ns(self) -> int:
        """Return always the same."""
        return 0

    def sleep(self, seconds: float, /) -> None:
        """Wait for nothing."""


SOURCE: Source = Thermometer()
CLOCK: Clock = Stopped()
VALUES: list[Value] = [True, 1, 0.5, "text", ("os", "cpu")]
OVERRIDES: Overrides = {"generator.cipher": "chacha20"}


def pass_on(n: Size, buffer: WritableBuffer, data: Buffer) -> bytes:
    """Hand each on to fortuna."""
    fortuna.readinto(buffer)
    fortuna.add_event(SOURCE.number + 100, data)
    fortuna.boot(overrides=OVERRIDES)
    return fortuna.random_bytes(n)


#: Refused: no number, and a cost that there is not.
WRONG_COST: Cost = "free"  # type: ignore[assignment]
WRONG_SOURCE: Source = Stopped()  # type: ignore[assignment]
