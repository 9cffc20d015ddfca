"""What a transcript consists of: where a deterministic generator starts, and each thing that is then done to it.

Each kind is a frozen dataclass whose fields are the fields of its line in a file, bytes as hexadecimal digits.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, ClassVar, Final

from .errors import ReplayError

if TYPE_CHECKING:
    from typing import TypeAlias

    from .deterministic import DeterministicFortuna

    Step: TypeAlias = "Advance | Event | Reseed | Read | LongRead"

#: Bytes of a read up to which a transcript holds them all; of a longer one it holds the SHA-256.
BYTES_MAX: Final = 256


@dataclass(frozen=True, slots=True)
class Start:
    """What a `DeterministicFortuna` is made of, without what makes no difference to its bytes."""

    seed: bytes
    cipher: str
    construction: str
    min_pool_size: int
    interval_ns: int
    now_ns: int

    def __repr__(self) -> str:
        return f"<start of {self.cipher} {self.construction}>"


@dataclass(frozen=True, slots=True)
class Advance:
    """Time that passed."""

    kind: ClassVar[str] = "advance"
    ns: int

    def run(self, fortuna: DeterministicFortuna) -> None:
        """Let it pass; in nanoseconds, since seconds as a float would be rounded."""
        fortuna.clock.advance_ns(self.ns)


@dataclass(frozen=True, slots=True)
class Event:
    """An event that was added."""

    kind: ClassVar[str] = "event"
    source: int
    data: bytes
    pool: int | None

    def run(self, fortuna: DeterministicFortuna) -> None:
        """Add it."""
        fortuna.add_event(self.source, self.data, pool=self.pool)


@dataclass(frozen=True, slots=True)
class Reseed:
    """A reseed that was asked for; the others follow from events, times and reads."""

    kind: ClassVar[str] = "reseed"
    fresh: bytes

    def run(self, fortuna: DeterministicFortuna) -> None:
        """Ask for it."""
        fortuna.reseed(self.fresh)


@dataclass(frozen=True, slots=True)
class Read:
    """A read of at most `BYTES_MAX` bytes, and what it gave."""

    kind: ClassVar[str] = "read"
    bytes: bytes

    def run(self, fortuna: DeterministicFortuna) -> None:
        """Read as many, and compare."""
        expected, got = self.bytes, fortuna.random_bytes(len(self.bytes))
        if expected != got:
            at = next(i for i in range(len(got)) if expected[i] != got[i])
            raise ReplayError(
                f"read of {len(expected)} bytes: byte {at} is the first that differs; recorded is "
                f"{expected[at:].hex()}, the replay gave {got[at:].hex()}"
            )


@dataclass(frozen=True, slots=True)
class LongRead:
    """A read of more than `BYTES_MAX` bytes, and the SHA-256 of what it gave."""

    kind: ClassVar[str] = "long-read"
    n: int
    sha256: bytes

    def run(self, fortuna: DeterministicFortuna) -> None:
        """Read as many, and compare the hash."""
        got = sha256(fortuna.random_bytes(self.n)).digest()
        if self.sha256 != got:
            raise ReplayError(
                f"read of {self.n} bytes: their SHA-256 differs; recorded is {self.sha256.hex()}, the replay gave "
                f"{got.hex()}"
            )


def read_step(given: bytes) -> Read | LongRead:
    """Return the step for a read that gave *given*."""
    return Read(given) if len(given) <= BYTES_MAX else LongRead(len(given), sha256(given).digest())
