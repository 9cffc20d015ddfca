"""rngtest (rng-tools5): the tests of FIPS 140-2 on blocks of 20,000 bits, judged by how many blocks fail.

A block of perfect bits fails with a probability of about 8 in 10,000, so a run of 1000 has a failure more often than
not, and the exit status 1 with it. The number of failures is binomial; both its tails are the p-value.
"""

from __future__ import annotations

import re

from .adapter import Battery, Results, refuse_signal
from .errors import BatterySettingError, UnreadableOutputError
from .judge import PValue
from .tails import binomial
from .units import RNGTEST_BLOCK, RNGTEST_PRIMING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from .adapter import Settings
    from .feed import Feed

USUAL_BLOCKS: Final = 10_000
#: Blocks of perfect bits that fail: the sum over the tests of FIPS 140-2 of 10 October 2001.
FALSE_ALARMS: Final = 8e-4


class RNGTest(Battery):
    """rngtest 5 on a pipe."""

    name = "rngtest"
    executable = "rngtest"
    install = "apt-get install rng-tools5"
    takes_size = True

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        size = RNGTEST_PRIMING + USUAL_BLOCKS * RNGTEST_BLOCK if settings.size is None else settings.size
        self.blocks = (size - RNGTEST_PRIMING) // RNGTEST_BLOCK
        if self.blocks < 1000:
            raise BatterySettingError(f"-n: got {size} bytes; allowed for rngtest is 2500004 or more, 1000 blocks")

    @property
    def detects(self) -> tuple[str, ...]:
        """Return all but the keystream that repeats: blocks are looked at one by one, and each of it is good."""
        return ("counter", "randu", "biased", "stuck")

    @property
    def what(self) -> str:
        """Return the number of blocks."""
        return f"rngtest -c {self.blocks}"

    def run(self, feed: Feed) -> Results:
        """Run the battery over as many blocks as were asked for."""
        answer = feed.pipe([self.program, "-c", str(self.blocks)], size=RNGTEST_PRIMING + self.blocks * RNGTEST_BLOCK)
        refuse_signal(self.name, answer)
        failures = parse(answer.errors, self.blocks)
        p, q = binomial(failures, self.blocks, FALSE_ALARMS)
        return Results((PValue(f"{failures} of {self.blocks} blocks failed", p, q),))


def parse(report: str, blocks: int) -> int:
    """Return how many blocks failed.

    Raises
    ------
    UnreadableOutputError
        The report is not about *blocks* blocks.
    """
    counts = dict(re.findall(r"^rngtest: FIPS 140-2 (successes|failures): (\d+)$", report, re.MULTILINE))
    if set(counts) != {"successes", "failures"}:
        raise UnreadableOutputError("rngtest printed no count of successes and failures")
    tested = sum(map(int, counts.values()))
    if tested != blocks:
        raise UnreadableOutputError(f"rngtest tested {tested} blocks instead of {blocks}")
    return int(counts["failures"])
