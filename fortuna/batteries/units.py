"""The units that batteries read in, for those who feed them as well as for the adapters."""

from __future__ import annotations

from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

#: Bits of each of the streams that STS cuts its input into.
STS_STREAM_BITS: Final = 1_000_000
#: rngtest takes its first bytes to start the continuous test, and blocks of 20,000 bits after them.
RNGTEST_PRIMING: Final = 4
RNGTEST_BLOCK: Final = 2_500
#: Our program for TestU01, to be compiled where the library is.
TESTU01_SOURCE: Final = Path(__file__).with_name("testu01.c")
