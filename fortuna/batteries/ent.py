"""ent: four of its five figures have a known distribution for perfect bytes, and become p-values.

Chi-square of the byte values, with 255 degrees of freedom; their mean; the share of points inside a circle, which ent
shows as a value of pi; and the serial correlation. The fifth, the entropy, follows from the first.
"""

from __future__ import annotations

from math import pi, sqrt

from .adapter import Battery, Results, refuse_signal
from .errors import BatterySettingError, UnreadableOutputError
from .judge import PValue
from .tails import chi_square, normal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from .adapter import Settings
    from .feed import Feed

USUAL_SIZE: Final = 64 << 20
#: Below it, the normal distribution is no good description of the figures.
SMALLEST_SIZE: Final = 1 << 20
#: Bytes of a point in the square: two coordinates of 24 bits.
POINT: Final = 6
FREEDOM: Final = 255
HEAD: Final = "0,File-bytes,Entropy,Chi-square,Mean,Monte-Carlo-Pi,Serial-Correlation"


class Ent(Battery):
    """ent on a pipe."""

    name = "ent"
    executable = "ent"
    install = "apt-get install ent"
    takes_size = True

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.size = USUAL_SIZE if settings.size is None else settings.size
        if self.size < SMALLEST_SIZE:
            raise BatterySettingError(f"-n: got {self.size} bytes; allowed for ent is {SMALLEST_SIZE} or more")

    @property
    def detects(self) -> tuple[str, ...]:
        """Return all controls: each has byte values that are too uneven, or too even."""
        return ("counter", "randu", "biased", "short-counter", "stuck")

    @property
    def what(self) -> str:
        """Return the size."""
        return f"ent -t, {self.size:,} bytes"

    def run(self, feed: Feed) -> Results:
        """Run the battery over as many bytes as were asked for."""
        answer = feed.pipe([self.program, "-t"], size=self.size)
        refuse_signal(self.name, answer)
        return Results(p_values(*parse(answer.output, self.size), self.size))


def parse(output: str, size: int) -> tuple[float, float, float, float]:
    """Return chi-square, mean, the value of pi and the serial correlation.

    Raises
    ------
    UnreadableOutputError
        There is no such line, or it is about another number of bytes.
    """
    lines = output.splitlines()
    try:
        (line,) = lines[lines.index(HEAD) + 1 :]
        number, read, _, chi, mean, circle, correlation = line.split(",")
        figures = float(chi), float(mean), float(circle), float(correlation)
    except ValueError as error:
        raise UnreadableOutputError("ent printed no line of figures under the head of ent -t") from error
    if (number, read) != ("1", str(size)):
        raise UnreadableOutputError(f"ent read {read} bytes instead of {size}")
    return figures


def p_values(chi: float, mean: float, circle: float, correlation: float, size: int) -> tuple[PValue, ...]:
    """Return the tails of the figures for *size* perfect bytes."""
    mean_error = sqrt((256**2 - 1) / 12 / size)
    circle_error = 4 * sqrt(pi / 4 * (1 - pi / 4) / (size // POINT))
    return (
        PValue("chi-square of byte values", *chi_square(chi, FREEDOM)),
        PValue("mean of byte values", *normal((mean - 127.5) / mean_error)),
        PValue("points in a circle", *normal((circle - pi) / circle_error)),
        # Around the ring that ent makes of the bytes, perfect ones are very slightly anticorrelated.
        PValue("serial correlation", *normal((correlation + 1 / (size - 1)) * sqrt(size))),
    )
