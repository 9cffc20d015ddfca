"""Export to Prometheus, by the library ``prometheus-client``: plain counters and gauges.

A custom collector would read the statistics by itself, but the library does not ask one in its multi-process mode,
where each worker writes plain metrics to files of its own and any of them answers for all. So the metrics are plain and
somebody has to bring them up to date: whoever answers a scrape, or in multi-process mode each worker.
"""

from __future__ import annotations

from prometheus_client import REGISTRY, Counter, Gauge

from ..unpatched import allocate_lock
from .measures import MEASURES, own_stats

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final, Literal

    from prometheus_client import CollectorRegistry

__all__ = ["PrometheusMetrics"]

#: What stands for several processes; those that have ended count no more.
MODES: Final[dict[str, Literal["livemin", "livemax"]]] = {"lowest": "livemin", "highest": "livemax"}


class Progress:
    """What one process has exported.

    Attributes
    ----------
    lock : lock
        Held during an update.
    counted : dict
        The value of each counter that has been added so far, by name and labels.
    """

    __slots__ = ("counted", "lock")

    def __init__(self) -> None:
        self.lock = allocate_lock()
        self.counted: dict[tuple[str, ...], float] = {}


class PrometheusMetrics:
    """The statistics of the process's generator as Prometheus metrics, all of which begin with ``fortuna_``.

    Parameters
    ----------
    registry : CollectorRegistry, optional
        Where they are registered; the library's own without it.

    Raises
    ------
    ValueError
        The registry has them already.

    Notes
    -----
    Make one for a process, before or after it forks. Making it boots nothing.
    """

    def __init__(self, registry: CollectorRegistry = REGISTRY) -> None:
        self._counters: dict[str, Counter] = {}
        self._gauges: dict[str, Gauge] = {}
        for measure in MEASURES:
            name = f"fortuna_{measure.name}"
            if measure.kind == "counter":
                self._counters[measure.name] = Counter(name, measure.description, measure.labels, registry=registry)
            else:
                self._gauges[measure.name] = Gauge(
                    name,
                    measure.description,
                    measure.labels,
                    registry=registry,
                    multiprocess_mode=MODES[measure.kind],
                )
        # By process: a child starts from its own counts, with a lock that nobody holds.
        self._progress: dict[int, Progress] = {}

    def update(self) -> None:
        """Bring the metrics up to date with `fortuna.stats`; call it before each scrape is answered.

        In multi-process mode a scrape reaches one worker only, so have each call it at times: after a request of its
        own, or by a timer.

        Notes
        -----
        Takes less than 100 microseconds, boots nothing, and does nothing before the boot or a forked child's first
        request. Safe for threads and signal handlers: a call during another one leaves the work to that.
        """
        found = own_stats()
        if found is None:
            return
        number, stats = found
        progress = self._progress.setdefault(number, Progress())
        if not progress.lock.acquire(blocking=False):
            return
        try:
            for measure in MEASURES:
                for labels, value in measure.read(stats):
                    if measure.kind == "counter":
                        counter = self._counters[measure.name]
                        place = (measure.name, *labels.values())
                        # Counts only grow, but a thread that reads them while they do may have been overtaken.
                        before = progress.counted.get(place, 0)
                        progress.counted[place] = max(value, before)
                        (counter.labels(**labels) if labels else counter).inc(progress.counted[place] - before)
                    else:
                        gauge = self._gauges[measure.name]
                        (gauge.labels(**labels) if labels else gauge).set(value)
        finally:
            progress.lock.release()
