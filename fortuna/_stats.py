"""What a live generator tells about itself: counts and names, nothing secret."""

from __future__ import annotations

from dataclasses import dataclass

# With this module, so that a first call of `Fortuna.stats` imports all it needs at one undisturbed time.
from ._source_report import SourceReport  # noqa: TC001


@dataclass(frozen=True, slots=True)
class Stats:
    """A snapshot of a live generator, taken without stopping it.

    Attributes
    ----------
    generator, provider, kernel, construction : str
        What was booted.
    distribution : str
        Name and version of the distribution whose plug-in the generator is; empty for one of ours.
    is_seeded : bool
        Whether requests are answered.
    requests : int
        Requests to the (K, C) generator in this process; a long read is several.
    bytes_given : int
        Bytes they gave.
    reseeds : int
        ReseedCnt; a forked child starts again at 1.
    last_reseed_age_seconds : float
        Time since the last reseed; NaN before the first.
    pool_lengths : tuple of int
        Bytes in P_0 .. P_31.
    sources : tuple of SourceReport
        Counts and health of each source, in the order of ``entropy.sources``; empty for a generator without sources.
    fork_detectors, clone_detectors : tuple of str
        What tells a forked child, and a restored copy, that it is one.
    sticky_flags : tuple of str
        What went wrong at least once in this process and is worth knowing until it ends, sorted; empty where all is
        well. ``docs/operations.md`` lists them with what to do.
    is_memory_locked : bool
        Whether K is kept out of swap; only the native generator can see to that.
    is_memory_undumpable : bool
        Whether K is left out of core dumps; likewise.
    """

    generator: str
    provider: str
    kernel: str
    construction: str
    distribution: str
    is_seeded: bool
    requests: int
    bytes_given: int
    reseeds: int
    last_reseed_age_seconds: float
    pool_lengths: tuple[int, ...]
    sources: tuple[SourceReport, ...]
    fork_detectors: tuple[str, ...]
    clone_detectors: tuple[str, ...]
    sticky_flags: tuple[str, ...]
    is_memory_locked: bool
    is_memory_undumpable: bool
