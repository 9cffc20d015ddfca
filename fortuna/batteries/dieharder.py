"""dieharder: each of the chosen tests in a process of its own, raw words on standard input.

It ends with status 0 whatever it finds, and calls a p-value WEAK or FAILED by thresholds of its own; neither is looked
at. Its p-values have eight digits, so one that it prints as 0 may be as large as half of the last of them.
"""

from __future__ import annotations

import re
from copy import copy

from .adapter import Battery, Results, refuse_signal
from .errors import BatterySettingError, UnreadableOutputError
from .judge import PValue

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from .adapter import Settings
    from .feed import Feed

#: A line of the table of results: name, tuple size, samples, p-values behind the p-value, p-value, assessment.
ROW: Final = re.compile(r"^ *(\S+)\| *(\d+)\| *\d+\| *\d+\|([01]\.\d{8})\|")
#: A line that is one, whatever stands in it.
LOOKS_LIKE_ROW: Final = re.compile(r"^[^#|]*\|[^|]*\|[^|]*\|[^|]*\|[^|]*\|")

ALL: Final = ("counter", "randu", "biased", "short-counter", "stuck")
#: Test -> the controls that it rejected with its usual settings when each was tried, at a p-value printed as 0 or 1. It
#: is deterministic, since the controls are. Tests 11, 12, 17 and 204 do not end on zeros, at least not within minutes.
#: Tests 200 and 201 give no p-value without a size of their own.
DETECTED: Final[dict[int, tuple[str, ...]]] = {
    0: ("counter", "randu", "short-counter", "stuck"),
    1: ("counter", "randu", "short-counter", "stuck"),
    2: ("counter", "randu", "short-counter", "stuck"),
    3: ALL,
    4: ALL,
    8: ALL,
    9: ALL,
    10: ("counter", "short-counter", "stuck"),
    11: ("counter", "randu", "short-counter"),
    12: ("counter", "randu", "short-counter"),
    13: ("counter", "biased", "short-counter", "stuck"),
    15: ("counter", "short-counter", "stuck"),
    16: ALL,
    17: ("counter", "randu", "biased", "short-counter"),
    100: ALL,
    101: ("counter", "randu", "short-counter", "stuck"),
    102: ALL,
    202: ("counter", "short-counter", "stuck"),
    203: ("counter", "biased", "short-counter", "stuck"),
    204: ("counter", "biased", "short-counter"),
    205: ALL,
    206: ALL,
    207: ("counter", "randu", "short-counter", "stuck"),
    208: ALL,
    209: ALL,
}
#: A few seconds, and among them they detect every control.
USUAL: Final = (0, 3, 8, 10, 100, 206)


class Dieharder(Battery):
    """dieharder 3.31.1 on a pipe."""

    name = "dieharder"
    executable = "dieharder"
    install = "apt-get install dieharder"
    resolution = 5e-9
    takes_tests = True

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.tests = chosen(settings.tests)

    @property
    def detects(self) -> tuple[str, ...]:
        """Return the controls that one of the chosen tests is known to detect."""
        return tuple(control for control in ALL if any(control in DETECTED[test] for test in self.tests))

    @property
    def what(self) -> str:
        """Return the tests that are run."""
        return f"dieharder -g 200, -d {', '.join(map(str, self.tests))}"

    def for_control(self, name: str, /) -> Dieharder:
        """Return the battery with those of its tests that detect the control; on zeros, some others have no end."""
        other = copy(self)
        other.tests = tuple(test for test in self.tests if name in DETECTED[test])
        return other

    def run(self, feed: Feed) -> Results:
        """Run each test on the next part of the stream."""
        values: list[PValue] = []
        for test in self.tests:
            answer = feed.pipe([self.program, "-d", str(test), "-g", "200"])
            refuse_signal(self.name, answer)
            if "Error: EOF" in answer.errors:
                raise UnreadableOutputError(f"dieharder -d {test}: the stream ended before the test did")
            values += parse(answer.output, self.resolution)
        return Results(tuple(values))


def chosen(tests: str | None) -> tuple[int, ...]:
    """Return the numbers in a list such as ``0,100``, or all that are known.

    Those that dieharder itself lists as suspect (5, 6, 7) or as not to be used (14) are not.
    """
    if tests is None:
        return USUAL
    if tests == "all":
        return tuple(DETECTED)
    numbers = tests.split(",")
    for number in numbers:
        if not number.isascii() or not number.isdigit() or int(number) not in DETECTED:
            raise BatterySettingError(
                f"-d: got {number!r}; allowed for dieharder is all, or a list of {', '.join(map(str, DETECTED))}"
            )
    return tuple(map(int, dict.fromkeys(numbers)))


def parse(output: str, resolution: float) -> list[PValue]:
    """Return the p-values of one test.

    Raises
    ------
    UnreadableOutputError
        There is none, or a line of the table has none.
    """
    values = []
    is_table = False
    for line in output.splitlines():
        is_table = is_table or "p-value" in line
        if found := ROW.match(line):
            test, size, p = found.groups()
            values.append(PValue.printed(f"{test} {size}", float(p), resolution))
        elif is_table and "p-value" not in line and LOOKS_LIKE_ROW.match(line):
            raise UnreadableOutputError(f"dieharder printed a line without a p-value: {line.strip()!r}")
    if not values:
        raise UnreadableOutputError("dieharder printed no table of p-values")
    return values
