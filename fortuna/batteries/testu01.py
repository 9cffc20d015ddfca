"""TestU01: a program of ours around the library, compiled where the library is installed, which prints every p-value.

The library's own report leaves out what lies between 0.001 and 0.999, and a verdict by a budget needs all of it.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from .adapter import Battery, Results, refuse_signal
from .errors import BatterySettingError, MissingBatteryError, UnreadableOutputError
from .feed import compile_program
from .judge import PValue
from .units import TESTU01_SOURCE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from .adapter import Settings
    from .feed import Feed

LIBRARIES: Final = ("-ltestu01", "-lprobdist", "-lmylib", "-lm")
#: Where distributions that package the library put its headers.
INCLUDE: Final = "-I/usr/include/testu01"
SUITES: Final = ("smallcrush", "crush", "bigcrush", "rabbit", "alphabit")
#: The end of a run of the program: how many p-values it printed.
END: Final = re.compile(r"^end (\d+) \d+$", re.MULTILINE)
ROW: Final = re.compile(r"^p (\S+) (\S.*)$", re.MULTILINE)


class TestU01(Battery):
    """One of TestU01's batteries, through a program of ours."""

    name = "testu01"
    executable = ""
    install = (
        "install the library (libtestu01-0-dev where the distribution has it, else the source at "
        "https://simul.iro.umontreal.ca/testu01/tu01.html); CFLAGS and LDFLAGS say where it is, --program names a "
        "testu01.c that is compiled already"
    )
    takes_tests = True

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.suite = settings.tests or SUITES[0]
        if self.suite not in SUITES:
            raise BatterySettingError(f"-d: got {self.suite!r}; allowed for testu01 is {', '.join(SUITES)}")

    @property
    def detects(self) -> tuple[str, ...]:
        """Return all but the stuck stream, with which tests that wait for a value may wait without end."""
        return ("counter", "randu", "biased", "short-counter")

    @property
    def what(self) -> str:
        """Return the library's battery."""
        return f"TestU01 {self.suite}"

    def prepare(self, folder: str, /) -> None:
        """Compile the program, unless one is named."""
        if self.settings.program:
            super().prepare(folder)
            return
        variables = self.settings.variables
        self.program = str(Path(folder) / "testu01")
        flags = [*shlex.split(variables.get("CFLAGS", "")), INCLUDE, *shlex.split(variables.get("LDFLAGS", ""))]
        compiler = shlex.split(variables.get("CC", "cc"))
        try:
            made = compile_program([*compiler, "-O2", "-o", self.program, *flags, str(TESTU01_SOURCE), *LIBRARIES])
        except FileNotFoundError as error:
            raise MissingBatteryError(f"testu01: found no compiler {compiler[0]}; {self.install}") from error
        if made.status:
            complaint = next((line for line in made.errors.splitlines() if "error" in line or "cannot" in line), "")
            raise MissingBatteryError(f"testu01: the program does not compile ({complaint.strip()}); {self.install}")

    def run(self, feed: Feed) -> Results:
        """Run the program until the library's battery has ended."""
        answer = feed.pipe([self.program, self.suite])
        refuse_signal(self.name, answer)
        if answer.status:
            raise UnreadableOutputError(f"testu01 ended with status {answer.status}: {answer.errors.strip()}")
        return parse(answer.output)


def parse(output: str) -> Results:
    """Return the p-values, as many as the last line says.

    Raises
    ------
    UnreadableOutputError
        There are fewer or more, or there is no last line.
    """
    end = END.search(output)
    if end is None:
        raise UnreadableOutputError("testu01 printed no line that says how many p-values there are")
    values = []
    for number, name in ROW.findall(output):
        try:
            p = float(number)
        except ValueError:
            p = float("nan")
        if not 0 <= p <= 1:
            raise UnreadableOutputError(f"testu01 printed {number} as the p-value of {name}")
        values.append(PValue(name.strip(), p, 1 - p))
    if len(values) != int(end[1]):
        raise UnreadableOutputError(f"testu01 printed {len(values)} p-values instead of {end[1]}")
    return Results(tuple(values))
