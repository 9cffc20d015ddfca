"""What ``fortuna-dump battery`` shows: the verdict, what it rests on, and the p-values."""

from __future__ import annotations

import json
from dataclasses import dataclass

from ..batteries.controls import CONTROLS
from .tables import columns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Final

    from .._stats import Stats
    from ..batteries.adapter import Battery
    from ..batteries.judge import Judged, Judgement

#: Rows of the table: the p-values furthest out, and every one that is rejected.
ROWS: Final = 10


@dataclass(frozen=True, slots=True)
class Report:
    """The outcome of a run.

    Attributes
    ----------
    verdict, reason : str
        Of the run as a whole.
    judgement : Judgement or None
        Of our stream, if it was tested.
    controls : mapping
        The judgement of each control that was tested, by name.
    size : int
        Bytes of our stream that the battery took.
    seconds : float
        Time that it took for them.
    """

    verdict: str
    reason: str
    judgement: Judgement | None
    controls: Mapping[str, Judgement]
    size: int
    seconds: float


def as_table(report: Report, battery: Battery, stats: Stats) -> str:
    """Return the report for people."""
    parts = [
        ("battery:", battery.what),
        (
            "stream:",
            f"{stats.generator}/{stats.provider}/{stats.kernel} {stats.construction}, "
            f"{report.size:,} bytes in {report.seconds:.1f} s",
        ),
        ("controls:", controls_line(report)),
    ]
    table = ""
    judgement = report.judgement
    if judgement and judgement.count:
        parts.append(
            (
                "budget:",
                f"a perfect generator fails one run in {1 / judgement.budget:,.0f}; "
                f"{judgement.count} p-values share that",
            )
        )
        furthest = sorted(judgement.judged, key=lambda each: each.value.two_sided)[: max(ROWS, len(judgement.rejected))]
        rows = [("TEST", "P", "TWO-SIDED", "ADJUSTED", ""), *map(row, furthest)]
        table = f"\n{columns(rows)}"
        left_out = judgement.count - len(furthest)
        if left_out:
            table += f"{left_out} more are less far out; --json has those that the battery lists\n"
        table += "\n"
    parts.append(("verdict:", f"{report.verdict}: {report.reason}"))
    head, last = columns(parts[:-1]), columns(parts[-1:])
    return f"{head}{table}{last}"


def controls_line(report: Report) -> str:
    """Return which controls were tested and what came of them."""
    if not report.controls:
        return "NONE was tested, so nothing shows that the battery would notice a bad generator"
    rejected = [name for name, judgement in report.controls.items() if judgement.rejected]
    passed = [name for name in report.controls if name not in rejected]
    return "; ".join(
        f"{', '.join(names)} {word}" for names, word in ((rejected, "rejected"), (passed, "NOT REJECTED")) if names
    )


def row(each: Judged) -> tuple[str, ...]:
    """Return the cells of one p-value."""
    value = each.value
    # A p-value near 1 is shown by its distance, which is what counts.
    shown = f"{value.p:.3g}" if value.p <= value.q else f"1 - {value.q:.3g}"
    return value.name, shown, f"{value.two_sided:.3g}", f"{each.adjusted:.3g}", "REJECTED" if each.is_rejected else ""


def as_json(report: Report, battery: Battery, stats: Stats) -> str:
    """Return the report as one JSON object with every p-value."""
    shown = {
        "battery": battery.name,
        "run": battery.what,
        "stream": {key: getattr(stats, key) for key in ("generator", "provider", "kernel", "construction")},
        "bytes": report.size,
        "seconds": round(report.seconds, 3),
        "verdict": report.verdict,
        "reason": report.reason,
        "controls": {
            name: {
                "fault": CONTROLS[name].fault,
                "is_rejected": bool(judgement.rejected),
                **judgement_values(judgement),
            }
            for name, judgement in report.controls.items()
        },
        **({} if report.judgement is None else judgement_values(report.judgement)),
    }
    return json.dumps(shown, indent=2) + "\n"


def judgement_values(judgement: Judgement) -> dict[str, Any]:
    """Return what a judgement says about the p-values."""
    return {
        "budget": judgement.budget,
        "count": judgement.count,
        "p_values": [
            {
                "name": each.value.name,
                "p": each.value.p,
                "q": each.value.q,
                "two_sided": each.value.two_sided,
                "adjusted": each.adjusted,
                "is_rejected": each.is_rejected,
            }
            for each in judgement.judged
        ],
    }
