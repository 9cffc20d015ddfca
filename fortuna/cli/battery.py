"""``fortuna-dump battery``: run an installed battery on our stream, known-bad generators first, and give a verdict.

A run goes in this order: find the battery, boot, let it test every control that it is known to detect, then our stream.
It ends at the first control that passes, because nothing that the battery says afterwards would count.
"""

from __future__ import annotations

import tempfile
from itertools import chain

from ..batteries.adapter import Settings
from ..batteries.controls import CONTROLS
from ..batteries.errors import BatterySettingError, MissingBatteryError, UnreadableOutputError
from ..batteries.feed import Feed
from ..batteries.judge import DEFAULT_BUDGET, FAILED, INVALID, PASSED, Judgement, judge
from ..batteries.registry import BATTERIES, make
from .battery_report import Report, as_json, as_table
from .formats import choose
from .main import boot, pieces
from .options import Parser, finish_subcommand, show_help, size
from .presets import find_preset
from .progress import Progress
from .sink import Sink
from .status import Status, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Final

    from ..batteries.adapter import Battery
    from ..typing import Buffer, Clock
    from .environment import Environment

#: No size was named; ``None`` is one without end.
UNSET: Final = -1
NO_CONTROLS: Final = "--no-controls"
#: Verdict -> exit code.
STATUSES: Final = {PASSED: Status.OK, FAILED: Status.REJECTED, INVALID: Status.INVALID_RUN}

DESCRIPTION: Final = """\
Run a battery of statistical tests on the stream of a freshly booted generator, and judge it by a budget of false
alarms. Known-bad generators go first; the run is invalid if the battery passes one of them."""

EPILOG: Final = """\
exit codes:
  0 passed, 65 failed, 69 the battery is not installed, 70 the run is invalid, and those of fortuna-dump"""


def build_parser() -> Parser:
    """Return the parser of the subcommand."""
    parser = Parser(
        prog="fortuna-dump battery", description=DESCRIPTION, epilog=EPILOG, allow_abbrev=False, add_help=False
    )
    parser.add_argument("battery", metavar="NAME", choices=tuple(BATTERIES), help=", ".join(BATTERIES))
    run = parser.add_argument_group("run")
    run.add_argument(
        "-n", dest="size", metavar="SIZE", type=size, default=UNSET, help="bytes to test: ent, rngtest, practrand, sts"
    )
    run.add_argument(
        "-d",
        dest="tests",
        metavar="LIST",
        help="tests: numbers or all for dieharder, the name of a battery for testu01",
    )
    run.add_argument("--program", metavar="FILE", help="the battery's executable, where it is not on the PATH")
    run.add_argument(
        "--budget",
        metavar="P",
        type=float,
        default=DEFAULT_BUDGET,
        help=f"how probable it may be that a perfect generator is failed (default {DEFAULT_BUDGET:g})",
    )
    run.add_argument(
        "--no-controls", action="store_true", help="leave out the known-bad generators; the report says so"
    )
    run.add_argument("--json", action="store_true", help="show one JSON object, with every p-value")
    finish_subcommand(parser)
    return parser


def run_battery(arguments: Sequence[str], environment: Environment, clock: Clock | None = None) -> Status:
    """Do what ``fortuna-dump battery`` is asked for."""
    parser = build_parser()
    stdout = Sink(environment.stdout, "standard output", owns=False)
    if {"-h", "--help"} & set(arguments):  # without a name, the parser would refuse
        stdout.write(show_help(parser).encode())
        return Status.OK
    options = parser.parse_args(arguments)
    if not 0 < options.budget < 1:
        raise UsageError(f"--budget: got {options.budget}; allowed is a probability between 0 and 1")
    if options.size is None:
        raise UsageError("-n: got inf; a run that gives a verdict has an end")
    if clock is None:
        from .._boot import SystemClock

        clock = SystemClock()
    progress = Progress(environment.stderr, clock)
    try:
        battery = make(
            options.battery,
            Settings(
                program=options.program,
                size=None if options.size == UNSET else options.size,
                tests=options.tests,
                variables=environment.variables,
            ),
        )
        with tempfile.TemporaryDirectory(prefix="fortuna-battery-") as folder:
            battery.prepare(folder)
            # Booted and drawn from before the controls, so that a refusal does not come at the end of an hour.
            with boot(options, environment) as fortuna:
                preset = find_preset(battery.name)
                rest = pieces(fortuna, None, choose("raw", preset.word, preset.endian), with_newline=False)
                stream = chain([next(rest)], rest)
                report = run(battery, options.budget, stream, progress, has_controls=not options.no_controls)
                stats = fortuna.stats()
    except BatterySettingError as error:
        raise UsageError(str(error)) from error
    except MissingBatteryError as error:
        environment.complain(str(error))
        return Status.NO_BATTERY
    stdout.write((as_json if options.json else as_table)(report, battery, stats).encode())
    return STATUSES[report.verdict]


def run(battery: Battery, budget: float, stream: Iterator[Buffer], progress: Progress, *, has_controls: bool) -> Report:
    """Run the controls, as far as the battery is known to detect them, and then the stream."""
    if not has_controls:
        progress.say(f"{NO_CONTROLS}: nothing shows that {battery.name} would notice a bad generator here")
    controls: dict[str, Judgement] = {}
    for name in battery.detects if has_controls else ():
        controls[name], _, _ = run_one(
            battery.for_control(name), budget, CONTROLS[name].pieces(), progress, f"control {name}"
        )
        if not controls[name].rejected:
            reason = f"{battery.name} did not reject the control {name}, so it did not test what it was given"
            return Report(INVALID, f"{reason} ({controls[name].reason})", None, controls, 0, 0.0)
    judgement, size, seconds = run_one(battery, budget, stream, progress, "stream")
    reason = judgement.reason if has_controls else f"{judgement.reason}, and no control was tested"
    return Report(judgement.verdict, reason, judgement, controls, size, seconds)


def run_one(
    battery: Battery, budget: float, stream: Iterator[Buffer], progress: Progress, label: str
) -> tuple[Judgement, int, float]:
    """Run the battery on one stream, and return the judgement, the bytes and the seconds."""
    with progress.task(f"{battery.name}, {label}") as task:
        feed = Feed(stream, task.advance)
        try:
            results = battery.run(feed)
        except UnreadableOutputError as error:
            judgement = Judgement(INVALID, str(error), budget, 0, ())
        else:
            judgement = judge(results.values, budget, unlisted=results.unlisted, resolution=battery.resolution)
        rejected = len(judgement.rejected)
        task.end(f"{rejected} of {judgement.count} p-values rejected" if rejected else judgement.reason)
        return judgement, feed.size, task.seconds
