"""NIST's STS (SP 800-22): ``assess`` on a file, judged by the two figures of its final report.

For each test, the report has how the p-values of the streams fall into ten classes, and how many streams pass at 1 %.
Both are tested here again, from the counts: the report's own P-VALUE has six digits, too few for a share of the budget,
and its line for the proportion is crossed by one good generator in a few.
"""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path

from .adapter import Battery, Results, refuse_signal
from .errors import BatterySettingError, MissingBatteryError, UnreadableOutputError
from .feed import ask
from .judge import PValue
from .tails import binomial, chi_square
from .units import STS_STREAM_BITS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from .adapter import Settings
    from .feed import Feed

STREAM: Final = STS_STREAM_BITS // 8
USUAL_STREAMS: Final = 100
#: SP 800-22 4.2.2 wants 55 streams at least, for the classes to be filled.
FEWEST_STREAMS: Final = 55
#: The level at which a stream passes a test.
LEVEL: Final = 0.01
CLASSES: Final = 10
#: The folders that assess writes into and does not make.
TESTS: Final = (
    "Frequency",
    "BlockFrequency",
    "CumulativeSums",
    "Runs",
    "LongestRun",
    "Rank",
    "FFT",
    "NonOverlappingTemplate",
    "OverlappingTemplate",
    "Universal",
    "ApproximateEntropy",
    "RandomExcursions",
    "RandomExcursionsVariant",
    "Serial",
    "LinearComplexity",
)
REPORT: Final = Path("experiments") / "AlgorithmTesting" / "finalAnalysisReport.txt"
#: Ten counts, P-VALUE or dashes, proportion or dashes, each with a star where STS finds it wanting, and the test.
ROW: Final = re.compile(
    r"^ *(?P<counts>\d+(?: +\d+){9}) +(?:\d\.\d+|-+)(?: +\*)? +(?:(?P<passed>\d+)/(?P<streams>\d+)|-+)(?: +\*)? +"
    r"(?P<test>[A-Za-z]+) *$"
)


class STS(Battery):
    """STS 2.1 by way of a file."""

    name = "sts"
    executable = "assess"
    install = (
        "Debian has no package; build it from the source at https://csrc.nist.gov/projects/random-bit-generation and "
        "name it with --program, where its folder templates lies beside it"
    )
    takes_size = True

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        size = USUAL_STREAMS * STREAM if settings.size is None else settings.size
        self.streams, rest = divmod(size, STREAM)
        if rest or self.streams < FEWEST_STREAMS:
            raise BatterySettingError(
                f"-n: got {size} bytes; allowed for sts is a multiple of {STREAM}, one stream, from "
                f"{FEWEST_STREAMS * STREAM} on"
            )

    @property
    def detects(self) -> tuple[str, ...]:
        """Return all controls."""
        return ("counter", "randu", "biased", "short-counter", "stuck")

    @property
    def what(self) -> str:
        """Return the number of streams."""
        return f"assess {STS_STREAM_BITS}, all tests, {self.streams} streams"

    def prepare(self, folder: str, /) -> None:
        """Find the program and the templates beside it."""
        super().prepare(folder)
        self.program = os.path.realpath(self.program)
        if not self._templates().is_dir():
            raise MissingBatteryError(f"sts: found no folder {self._templates()}; {self.install}")

    def _templates(self) -> Path:
        return Path(self.program).parent / "templates"

    def run(self, feed: Feed) -> Results:
        """Write the sample, answer the questions, read the report; the sample is secret and does not stay."""
        with tempfile.TemporaryDirectory(prefix="fortuna-sts-") as folder:
            place = Path(folder)
            (place / "templates").symlink_to(self._templates())
            for test in TESTS:
                (place / REPORT.parent / test).mkdir(parents=True)
            feed.save(str(place / "sample"), self.streams * STREAM)
            # A file, its name, all tests, the usual parameters, so many streams, raw bytes.
            answers = f"0\nsample\n1\n0\n{self.streams}\n1\n"
            answer = ask([self.program, str(STS_STREAM_BITS)], answers=answers, folder=folder)
            refuse_signal(self.name, answer)
            try:
                report = (place / REPORT).read_text(encoding="ascii", errors="replace")
            except OSError as error:
                raise UnreadableOutputError("assess wrote no final report") from error
        return parse(report, self.streams)


def parse(report: str, streams: int) -> Results:
    """Return two p-values for each row of the report, where its figures are there.

    Raises
    ------
    UnreadableOutputError
        A test is missing, or a row is about other streams.
    """
    values: list[PValue] = []
    seen: dict[str, int] = {}
    for line in report.splitlines():
        found = ROW.match(line)
        if not found:
            continue
        test = found["test"]
        seen[test] = seen.get(test, 0) + 1
        name = f"{test} {seen[test]}"
        counts = [int(count) for count in found["counts"].split()]
        # Random excursions leave out the streams that return to zero too rarely; no other test leaves out any.
        tested = sum(counts)
        if tested != streams and not test.startswith("RandomExcursions"):
            raise UnreadableOutputError(f"STS reports {tested} streams for {name} instead of {streams}")
        if tested >= FEWEST_STREAMS:
            expected = tested / CLASSES
            statistic = sum((count - expected) ** 2 for count in counts) / expected
            values.append(PValue(f"{name}, uniformity", *chi_square(statistic, CLASSES - 1)))
        if found["passed"]:
            of = int(found["streams"])
            values.append(PValue(f"{name}, proportion", *binomial(of - int(found["passed"]), of, LEVEL)))
    missing = [test for test in TESTS if test not in seen]
    if missing:
        raise UnreadableOutputError(f"the report of STS has no row for {', '.join(missing)}")
    return Results(tuple(values))
