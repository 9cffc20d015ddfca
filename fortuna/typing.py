"""Type aliases and protocols of the public interface: a leaf module, free of run-time behaviour.

Annotations all over fortuna are strings (``from __future__ import annotations``), so this module and the standard
``typing`` are loaded by type checkers and by those who ask for them, not by a program that only wants random bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Protocol, SupportsIndex, TypeAlias

#: Bytes-like objects. The union is spelled out because ``collections.abc.Buffer`` exists from Python 3.12 only.
#: Arrays and NumPy arrays are accepted at run time too, as anything is that offers a contiguous buffer.
Buffer: TypeAlias = bytes | bytearray | memoryview

#: Bytes-like objects that can be written to.
WritableBuffer: TypeAlias = bytearray | memoryview

#: What counts as a number of bytes: anything with ``__index__``, so no float.
Size: TypeAlias = SupportsIndex

#: The value of one tunable.
Value: TypeAlias = bool | int | float | str | tuple[str, ...]

#: Tunables by dotted name, as `fortuna.boot` takes them: ``{"generator.cipher": "chacha20"}``.
Overrides: TypeAlias = Mapping[str, object]


#: What a harvest costs, one of ``cheap`` (microseconds; a pull takes two rounds of the pools), ``costly`` (microseconds
#: an event; a pull takes one) or ``slow`` (it may take its time, so it runs on the harvester's thread only).
Cost: TypeAlias = Literal["cheap", "costly", "slow"]


class Clock(Protocol):
    """A monotonic clock. Its zero is arbitrary; setting the wall clock does not move it."""

    def monotonic_ns(self) -> int:
        """Return the time in nanoseconds."""
        ...

    def sleep(self, seconds: float, /) -> None:
        """Wait; used only while a boot waits, for its first seed or for the lock of its seed file."""


class Source(Protocol):
    """Something unpredictable that is harvested for events.

    Attributes
    ----------
    name : str
        The name in ``entropy.sources``.
    number : int
        The source byte of its events: 0..31 for built-in sources, 32..127 for plug-ins.
    cost : str
        ``"cheap"``, ``"costly"`` or ``"slow"``: where a harvest runs.
    min_entropy : float
        Bits of min-entropy assumed in each byte, above 0.0 and at most 8.0: the credit that the first seed needs, and
        what the cut-offs of the health tests are derived from.
    assumption : str
        Why *min_entropy* is what it is; one sentence for people.
    """

    @property
    def name(self) -> str:
        """Name of the source."""
        ...

    @property
    def number(self) -> int:
        """Source number."""
        ...

    @property
    def cost(self) -> Cost:
        """Cost class."""
        ...

    @property
    def min_entropy(self) -> float:
        """Bits assumed in each byte."""
        ...

    @property
    def assumption(self) -> str:
        """Reason for that number."""
        ...

    def harvest(self) -> Buffer:
        """Return fresh bytes for one pull, at least one, or raise `fortuna.SourceError`.

        A source that is not ``slow`` never blocks.
        """
        ...
