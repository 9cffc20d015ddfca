"""``fortuna-dump plan``: how many bytes a battery will read, how long that will take here, and who is the slower one.

Our own rate is measured, in the format that the battery reads. The battery's is taken from
`fortuna.batteries.workloads` and said to be an assumption, for measuring it would take as long as the run that is being
planned.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from ..batteries.workloads import ORIGIN, WORKLOADS, Workload, scaled
from .formats import choose
from .main import PIECE, boot, pieces
from .options import Parser, finish_subcommand, show_help, size
from .presets import PRESETS, find_preset
from .sink import Sink
from .status import Status, UsageError
from .tables import columns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Final

    from .._stats import Stats
    from ..rng import Fortuna
    from ..typing import Clock
    from .environment import Environment
    from .formats import Format
    from .presets import Preset

#: How long our own rate is measured: long enough for a hundred pieces and short enough not to be noticed.
MEASURED_SECONDS: Final = 0.25
#: No size was named; ``None`` is one without end.
UNSET: Final = -1

DESCRIPTION: Final = """\
Say how many bytes a battery reads and how long that will take here, before it is started."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What one run will take.

    Attributes
    ----------
    workload : Workload
        The run.
    our_seconds : float
        To make its bytes.
    wall_seconds : float or None
        From start to end, ``None`` where the battery's time is unknown.
    bottleneck : str
        ``fortuna``, ``battery`` or ``unknown``.
    """

    workload: Workload
    our_seconds: float
    wall_seconds: float | None
    bottleneck: str


def build_parser() -> Parser:
    """Return the parser of the subcommand."""
    parser = Parser(prog="fortuna-dump plan", description=DESCRIPTION, allow_abbrev=False, add_help=False)
    names = tuple(dict.fromkeys(preset.name for preset in PRESETS))
    parser.add_argument("battery", metavar="NAME", choices=names, help=", ".join(names))
    parser.add_argument(
        "-n",
        dest="size",
        metavar="SIZE",
        type=size,
        default=UNSET,
        help="plan for so many bytes, where the battery takes any number",
    )
    parser.add_argument("--json", action="store_true", help="show one JSON object")
    finish_subcommand(parser)
    return parser


def run_plan(arguments: Sequence[str], environment: Environment, clock: Clock | None = None) -> Status:
    """Do what ``fortuna-dump plan`` is asked for."""
    parser = build_parser()
    stdout = Sink(environment.stdout, "standard output", owns=False)
    if {"-h", "--help"} & set(arguments):  # without a name, the parser would refuse
        stdout.write(show_help(parser).encode())
        return Status.OK
    options = parser.parse_args(arguments)
    workloads = choose_workloads(options.battery, options.size)
    preset = find_preset(options.battery)
    if clock is None:
        from .._boot import SystemClock

        clock = SystemClock()
    with boot(options, environment) as fortuna:
        rate = measure(fortuna, choose(preset.form, preset.word, preset.endian), clock)
        stats = fortuna.stats()
    is_alone = processors() == 1
    estimates = [estimate(workload, rate, is_alone=is_alone or preset.needs_file) for workload in workloads]
    show = as_json if options.json else as_table
    stdout.write(show(preset, stats, rate, estimates).encode())
    return Status.OK


def choose_workloads(battery: str, size: int | None) -> list[Workload]:
    """Return the runs of *battery* that were timed, or one of *size* bytes.

    Raises
    ------
    UsageError
        There is no estimate for *size*.
    """
    known = [workload for workload in WORKLOADS if workload.battery == battery]
    if size == UNSET:
        return known
    if not size:
        raise UsageError(f"-n: got {'inf' if size is None else size}; a plan needs a number of bytes, 1 or more")
    for workload in known:
        if workload.is_scalable:
            return [scaled(workload, size)]
    raise UsageError(f"-n: {battery} decides itself what it reads; the plan without -n has its runs")


def measure(fortuna: Fortuna, form: Format, clock: Clock) -> float:
    """Return how many bytes of the stream a second are made ready to be written as *form*."""
    stream = pieces(fortuna, None, form, with_newline=False)
    next(stream)  # what is done once, such as touching the buffer, is no part of the rate
    start = clock.monotonic_ns()
    done = passed = 0
    while passed < MEASURED_SECONDS * 1e9:
        next(stream)
        done += PIECE - PIECE % form.unit
        passed = clock.monotonic_ns() - start
    return done / passed * 1e9


def processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def estimate(workload: Workload, rate: float, *, is_alone: bool) -> Estimate:
    """Return what *workload* takes: the longer of both times, or their sum where the two do not run side by side."""
    ours = workload.size / rate
    if workload.seconds is None:
        return Estimate(workload, ours, None, "unknown")
    wall = ours + workload.seconds if is_alone else max(ours, workload.seconds)
    return Estimate(workload, ours, wall, "fortuna" if ours > workload.seconds else "battery")


def as_table(preset: Preset, stats: Stats, rate: float, estimates: Sequence[Estimate]) -> str:
    """Return the plan for people: what was measured, what is assumed, and a row for each run."""
    rows = [("RUN", "BYTES", "FORTUNA", "BATTERY", "WALL", "BOTTLENECK")]
    rows += [
        (
            each.workload.run,
            f"{each.workload.size:,}",
            duration(each.our_seconds),
            duration(each.workload.seconds),
            duration(each.wall_seconds),
            each.bottleneck,
        )
        for each in estimates
    ]
    how = "first into a file, then the battery" if preset.needs_file else "through a pipe"
    return (
        f"measured: {rate / 1e6:,.0f} MB/s of {booted(stats)} as {preset.form}, for {MEASURED_SECONDS:g} s\n"
        f"assumed:  the batteries' times: {ORIGIN}\n"
        f"run:      {how}; {processors()} processors here\n"
        f"data:     a normal run reads {preset.data}\n\n{columns(rows)}"
    )


def as_json(preset: Preset, stats: Stats, rate: float, estimates: Sequence[Estimate]) -> str:
    """Return the plan for programs: one JSON object; an unknown time is null."""
    import json

    return (
        json.dumps(
            {
                "battery": preset.name,
                "stream": booted(stats),
                "measured_bytes_per_second": round(rate),
                "measured_seconds": MEASURED_SECONDS,
                "assumption": ORIGIN,
                "through": "file" if preset.needs_file else "pipe",
                "processors": processors(),
                "runs": [
                    {
                        "run": each.workload.run,
                        "bytes": each.workload.size,
                        "fortuna_seconds": each.our_seconds,
                        "battery_seconds": each.workload.seconds,
                        "wall_seconds": each.wall_seconds,
                        "bottleneck": each.bottleneck,
                    }
                    for each in estimates
                ],
            },
            indent=2,
        )
        + "\n"
    )


def booted(stats: Stats) -> str:
    """Return what was booted, as one word."""
    return f"{stats.generator}/{stats.provider}/{stats.kernel} {stats.construction}"


def duration(seconds: float | None) -> str:
    """Return a time with two digits that count, in the unit that people would use."""
    if seconds is None:
        return "unknown"
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.1f} {unit}" if seconds < 10 * length else f"{seconds / length:.0f} {unit}"
    return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"
