"""PractRand's RNG_test: 32-bit words on standard input, judged by the p-values of its last report.

``-a`` makes it print every result. It reports at each power of two and looks at all that came before each time, so the
last report is about everything that was read. It stops at the first report with a failure of its own, and ends with
status 0 in any case.
"""

from __future__ import annotations

import re

from .adapter import Battery, Results, refuse_signal
from .errors import BatterySettingError, UnreadableOutputError
from .judge import PValue

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from .adapter import Settings
    from .feed import Feed

USUAL_SIZE: Final = 1 << 28
#: RNG_test's first report comes at 2^10 bytes at the earliest; below this, few of its tests have begun.
SIZES: Final = range(24, 46)

LENGTH: Final = re.compile(r"^length= .*\(2\^(\d+) bytes\), time= ", re.MULTILINE)
#: Name, raw result, and p, which is "p = 3.0e-3", "p =1-4.8e-9", "p = 0", or "p~= ..." where it is approximate.
ROW: Final = re.compile(
    r"^ +(?P<name>\S+) +R= *\S+ +p ?(?:=|~=) *(?P<minus>1 ?- ?)?(?P<p>\d[\d.]*(?:e[+-]?\d+)?) +(?P<word>\S.*?) *$"
)
UNLISTED: Final = re.compile(r"^ +(?:\.\.\.and|no anomalies in) (\d+) test result\(s\)(?: without anomalies)? *$")


class PractRand(Battery):
    """RNG_test of PractRand 0.94 and 0.95 on a pipe."""

    name = "practrand"
    executable = "RNG_test"
    install = (
        "Debian has no package; build it from the source at https://pracrand.sourceforge.net and put RNG_test on the "
        "PATH, or name it with --program"
    )
    takes_size = True

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        size = USUAL_SIZE if settings.size is None else settings.size
        self.log2 = size.bit_length() - 1
        if self.log2 not in SIZES or size != 1 << self.log2:
            raise BatterySettingError(
                f"-n: got {size} bytes; allowed for practrand is a power of two from 16MiB to 32TiB, where it reports"
            )

    @property
    def detects(self) -> tuple[str, ...]:
        """Return all controls: from 16 MiB on, none of them is a close case."""
        return ("counter", "randu", "biased", "short-counter", "stuck")

    @property
    def what(self) -> str:
        """Return how much it reads."""
        return f"RNG_test stdin32 -a -tlmax {self.log2}, 2^{self.log2} bytes"

    def run(self, feed: Feed) -> Results:
        """Run it until it stops."""
        # A bare number is a power of two. The stream has no end: RNG_test asks for more than it tests.
        answer = feed.pipe([self.program, "stdin32", "-a", "-tlmax", str(self.log2)])
        refuse_signal(self.name, answer)
        return parse(answer.output, self.log2)


def parse(output: str, log2: int) -> Results:
    """Return the results of the last report, which must be about 2**log2 bytes or about a failure.

    Raises
    ------
    UnreadableOutputError
        There is no such report.
    """
    reports = list(LENGTH.finditer(output))
    if not reports:
        raise UnreadableOutputError("RNG_test printed no report")
    values, unlisted, has_failure = [], 0, False
    for line in output[reports[-1].end() :].splitlines()[1:]:
        if found := ROW.match(line):
            p = float(found["p"])
            values.append(PValue(found["name"], *((1 - p, p) if found["minus"] else (p, 1 - p))))
            has_failure = has_failure or found["word"].startswith("FAIL")
        elif found := UNLISTED.match(line):
            unlisted += int(found[1])
        elif " R=" in line:
            raise UnreadableOutputError(f"RNG_test printed a result without a p-value: {line.strip()!r}")
    if int(reports[-1][1]) != log2 and not has_failure:
        raise UnreadableOutputError(f"RNG_test stopped at 2^{reports[-1][1]} bytes instead of 2^{log2}")
    if not values and not unlisted:
        raise UnreadableOutputError("RNG_test's last report is empty")
    return Results(tuple(values), unlisted)
