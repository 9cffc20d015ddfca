"""What is exported, whoever exports it: names, units, meanings, and how to read each from the statistics."""

from __future__ import annotations

from dataclasses import dataclass

from .._boot import process

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Final, Literal

    from .._source_report import SourceReport
    from .._stats import Stats

    #: Values with the labels that tell them apart.
    Values = list[tuple[dict[str, str], float]]


@dataclass(frozen=True, slots=True)
class Measure:
    """One thing that is exported.

    Attributes
    ----------
    name : str
        Without the prefix ``fortuna``; ends in the unit where there is one.
    kind : str
        ``"counter"``: it only grows, from 0 in each process. ``"lowest"``, ``"highest"``: a gauge, and which of several
        processes' values stands for all.
    unit : str
        As OpenTelemetry writes it (UCUM).
    description : str
        What it says, in one sentence.
    labels : tuple of str
        Names of its labels.
    read : callable
        Returns the values in some statistics, with their labels.
    """

    name: str
    kind: Literal["counter", "lowest", "highest"]
    unit: str
    description: str
    labels: tuple[str, ...]
    read: Callable[[Stats], Values]


def plain(read: Callable[[Stats], float]) -> Callable[[Stats], Values]:
    """Return what reads one value without labels."""
    return lambda stats: [({}, read(stats))]


def by_source(read: Callable[[SourceReport], float]) -> Callable[[Stats], Values]:
    """Return what reads one value for each source."""
    return lambda stats: [({"source": report.name}, read(report)) for report in stats.sources]


def boot_labels(stats: Stats) -> dict[str, str]:
    """Return what was booted."""
    return {
        "generator": stats.generator,
        "provider": stats.provider,
        "kernel": stats.kernel,
        "construction": stats.construction,
    }


#: Everything that is exported, in the order of docs/metrics.md.
MEASURES: Final = (
    Measure(
        "requests",
        "counter",
        "{request}",
        "Requests to the generator; a long read is several.",
        (),
        plain(lambda stats: stats.requests),
    ),
    Measure("given_bytes", "counter", "By", "Random bytes given out.", (), plain(lambda stats: stats.bytes_given)),
    Measure("reseeds", "counter", "{reseed}", "Reseeds of the key.", (), plain(lambda stats: stats.reseeds)),
    Measure(
        "source_harvests",
        "counter",
        "{harvest}",
        "Harvests that came back with bytes.",
        ("source",),
        by_source(lambda report: report.harvests),
    ),
    Measure(
        "source_given_bytes",
        "counter",
        "By",
        "Bytes that a source gave to the pools.",
        ("source",),
        by_source(lambda report: report.bytes_given),
    ),
    Measure(
        "source_failures",
        "counter",
        "{failure}",
        "Harvests that failed.",
        ("source",),
        by_source(lambda report: report.failures),
    ),
    Measure(
        "is_seeded", "lowest", "1", "1 while requests are answered, else 0.", (), plain(lambda stats: stats.is_seeded)
    ),
    Measure(
        "last_reseed_age_seconds",
        "highest",
        "s",
        "Time since the last reseed; grows while nobody draws.",
        (),
        lambda stats: [({}, stats.last_reseed_age_seconds)] if stats.reseeds else [],
    ),
    Measure(
        "source_is_healthy",
        "lowest",
        "1",
        "1 while a source gives bytes in time, else 0.",
        ("source",),
        by_source(lambda report: report.state == "healthy"),
    ),
    Measure(
        "sticky_flag",
        "highest",
        "1",
        "1 for each thing that went wrong at least once since the process began.",
        ("flag",),
        lambda stats: [({"flag": flag}, 1) for flag in stats.sticky_flags],
    ),
    Measure(
        "info",
        "highest",
        "1",
        "1, with the names of what was booted.",
        ("generator", "provider", "kernel", "construction"),
        lambda stats: [(boot_labels(stats), 1)],
    ),
)


def own_stats() -> tuple[int, Stats] | None:
    """Return a number of this process and its statistics, or ``None`` where it has nothing to tell.

    That is before it boots, and in a forked child that has drawn nothing yet: what it has inherited are its parent's
    counts. The number is another one in each child.
    """
    live = process.running
    if live is None:
        return None
    epoch = live._life.epoch
    return (epoch, live.stats()) if epoch == process.forks.epoch() else None
