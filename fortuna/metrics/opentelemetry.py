"""Export to OpenTelemetry, by its API package alone: observable instruments, read when the SDK collects.

Without an SDK, which the application installs and configures, the API's instruments do nothing.
"""

from __future__ import annotations

from opentelemetry.metrics import Observation, get_meter

from .._version import __version__
from .measures import MEASURES, own_stats

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from opentelemetry.metrics import CallbackOptions, Meter

    from .measures import Measure

__all__ = ["instrument"]


def instrument(meter: Meter | None = None) -> None:
    """Register the statistics of the process's generator as observable instruments, all named ``fortuna.…``.

    Parameters
    ----------
    meter : Meter, optional
        What they are made by; one named ``fortuna`` of the global provider without it.

    Notes
    -----
    Call it once. It boots nothing; before the boot, and in a forked child that has drawn nothing yet, the instruments
    give no values. A child's counters begin at 0, since the counts are those of one process: give each process a
    resource of its own (``service.instance.id``).
    """
    found = get_meter("fortuna", __version__) if meter is None else meter
    for measure in MEASURES:
        create = found.create_observable_counter if measure.kind == "counter" else found.create_observable_gauge
        create(f"fortuna.{measure.name}", [reader(measure)], measure.unit, measure.description)


def reader(measure: Measure) -> Callable[[CallbackOptions], Iterable[Observation]]:
    """Return what the SDK calls to read *measure*."""

    def read(_: CallbackOptions) -> Iterable[Observation]:
        stats = own_stats()
        return [] if stats is None else [Observation(value, labels) for labels, value in measure.read(stats[1])]

    return read
