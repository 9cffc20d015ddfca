"""How much data the batteries read and how long they take: runs that were timed, to estimate others from.

The times are upper bounds from one machine with two processors that others used too, give or take a factor of two. None
of them is a promise about another machine; what is promised is that each says what it was measured on.
"""

from __future__ import annotations

from dataclasses import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

#: Where the times come from, as a report says it.
ORIGIN: Final = "timed on one machine with 2 processors; upper bounds, give or take a factor of two"


@dataclass(frozen=True, slots=True)
class Workload:
    """One run of a battery.

    Attributes
    ----------
    battery : str
        Its name among the presets.
    run : str
        What was run.
    size : int
        Bytes that it read.
    seconds : float or None
        What the battery itself needs for them, ``None`` where nobody has timed it.
    is_scalable : bool
        Whether it can be given more or less, and takes that much longer; else the battery decides what it reads.
    """

    battery: str
    run: str
    size: int
    seconds: float | None
    is_scalable: bool = False


WORKLOADS: Final = (
    Workload("dieharder", "dieharder -d 100", 80_068_608, 0.5),
    Workload("dieharder", "dieharder -d 0", 55_427_072, 1.6),
    Workload("dieharder", "dieharder -d 2", 552_067_072, 19.6),
    # Processor time: of the 2,385 seconds of the run, the system spent the rest on making its input.
    Workload("dieharder", "dieharder -a", 246_448_242_688, 1331.0),
    Workload("practrand", "RNG_test -tlmax 256MB", 268_500_992, 6.8, is_scalable=True),
    Workload("testu01", "alphabit, 2^25 bits", 37_748_712, 0.7),
    Workload("testu01", "rabbit, 2^25 bits", 95_754_764, 13.6),
    Workload("testu01", "smallcrush", 906_555_320, 10.9),
    # About 2^38 words; published runs took six to twelve hours.
    Workload("testu01", "bigcrush", 1 << 40, 43_200.0),
    # 100 streams of 10^6 bits; assess as its makefile builds it, without optimisation.
    Workload("sts", "assess, 100 streams", 12_500_000, 795.0, is_scalable=True),
    Workload("ent", "ent", 1_048_576, 0.01, is_scalable=True),
    Workload("rngtest", "rngtest -c 1000", 2_500_004, 0.13, is_scalable=True),
    Workload("sp800-90b", "ea_non_iid, 10^6 symbols", 125_000, None),
)


def scaled(workload: Workload, size: int) -> Workload:
    """Return *workload* with *size* bytes instead, its time in proportion."""
    seconds = None if workload.seconds is None else workload.seconds * size / workload.size
    return Workload(workload.battery, f"{workload.run.partition(' ')[0].rstrip(',')}, {size:,} bytes", size, seconds)
