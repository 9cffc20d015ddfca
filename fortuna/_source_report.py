"""What a monitor tells about its source: counts and words, nothing secret."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SourceReport:
    """A snapshot of one source, as this process has seen it.

    Attributes
    ----------
    name : str
        Name of the source.
    number : int
        The source byte of its events.
    cost : str
        ``"cheap"``, ``"costly"`` or ``"slow"``.
    min_entropy : float
        Bits of min-entropy assumed in each byte.
    assumption : str
        Why it is that number.
    state : str
        ``"new"``: nothing was used yet. ``"healthy"``: it gives. Else what its last failure was: ``"failing"``: it
        raised, gave nothing usable or was slower than its budget; ``"withheld"``: it failed a health test;
        ``"absent"``: this machine does not have it (ENODEV).
    harvests : int
        Harvests that came back with bytes.
    bytes_given : int
        Bytes that went to the pools.
    failures_in_a_row : int
        Failures since bytes were last used and in time.
    failures : int
        Failures in all.
    last_error : str
        What the last failure was; stays when the source recovers.
    """

    name: str
    number: int
    cost: str
    min_entropy: float
    assumption: str
    state: str
    harvests: int
    bytes_given: int
    failures_in_a_row: int
    failures: int
    last_error: str
