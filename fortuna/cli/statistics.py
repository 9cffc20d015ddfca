"""What ``--stats`` shows: the statistics of a freshly booted generator, for people or for programs."""

from __future__ import annotations

import json
import math
from dataclasses import asdict

from .tables import columns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .._stats import Stats


def show_stats(stats: Stats, form: str) -> str:
    """Return *stats* as a table of plain ASCII, or as one JSON object with the names of `fortuna.Stats`."""
    values = asdict(stats)
    if math.isnan(stats.last_reseed_age_seconds):
        values["last_reseed_age_seconds"] = None  # JSON has no NaN
    if form == "json":
        return json.dumps(values, indent=2) + "\n"
    sources = values.pop("sources")
    rows = [(name.replace("_", " "), cell(value)) for name, value in values.items()]
    for source in sources:
        label = f"source {source.pop('name')}"
        rows += [(f"{label}, {name.replace('_', ' ')}", cell(value)) for name, value in source.items()]
    return columns(rows)


def cell(value: object) -> str:
    """Return one value as a table shows it."""
    if isinstance(value, tuple):
        return ", ".join(map(cell, value)) or "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "-" if value in ("", None) else ascii(str(value))[1:-1]
