"""How long a compromised Fortuna takes to recover: a simulation of the argument of Cryptography Engineering 9.5.2.

At time 0 the attacker knows K and all pools. Of three sources he knows two; the third gives events of which each holds
some bits that he does not know. He sees outputs all the time, and whenever a reseed brings in fewer than 128 unknown
bits he finds them by trying, so that they are lost. The first reseed that brings in 128 at once shuts him out.

The accumulator is the real one. The unknown bits of a pool are what the good source's events credit to it, and the
attacker's own sources credit nothing.

    python -m fortuna.testing.recovery [FILE.svg]

prints a table, and draws it.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from math import log2
from pathlib import Path
from typing import NamedTuple

from ..core.accumulator import Accumulator
from ..core.constructions import construction_named
from ..core.scheduler import POOL_COUNT, pools_used

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Final

    from ..typing import Buffer, WritableBuffer

#: Unknown bits that nobody can try out.
SAFE_BITS: Final = 128
#: Numbers of the good source and of the two that the attacker knows.
GOOD, KNOWN = 1, (2, 3)
#: Unknown bits of one event, and reseeds from one event of the good source to the next, of each row of the table.
RATES: Final = ((128, 1), (32, 1), (8, 1), (4, 1), (2, 1), (1, 1), (1, 2), (1, 4), (1, 8))
#: Reseeds made before time 0: where in the schedule the compromise falls.
PHASES: Final = (0, 1, 31, 500, 1023, 2047, 4095, 5000, 8191)


class Blind:
    """What stands in for (K, C): only the seeds matter here."""

    def reseed(self, seed: Buffer) -> None:
        """Ignore it."""

    def readinto(self, out: WritableBuffer) -> int:
        """Give nothing."""
        return len(out)


def recovery(
    bits: float,
    every: int,
    phase: int = 0,
    *,
    turn: int = 0,
    delay: int = 0,
    pools: int = POOL_COUNT,
    limit: int = 1 << 20,
) -> int | None:
    """Return after how many reseeds the attacker is shut out, or ``None`` if he is not within *limit* reseeds.

    Parameters
    ----------
    bits : float
        Unknown bits of one event of the good source, above 0.0 and at most 256.0.
    every : int
        Reseeds from one of its events to the next, at least 1.
    phase : int
        Reseeds made before the compromise.
    turn : int
        The pool that the first event of the good source goes to, 0..31.
    delay : int
        The good source's events come before the reseeds whose number is *delay* modulo *every*; 0 <= delay < every.
    pools : int
        32; 1 gives a generator that puts all into one pool and takes it at each reseed.
    limit : int
        When to give up.
    """
    accumulator = Accumulator(Blind(), construction_named("fsk2010"), min_pool_size=0, reseed_count=phase)
    for _ in range(turn):
        accumulator.add(GOOD, b"before time 0")
    for reseed in range(1, limit + 1):
        for source in KNOWN:
            accumulator.add(source, b"known to the attacker", pool=0)
        if reseed % every == delay:
            event = bytes(32)
            accumulator.add(GOOD, event, pool=None if pools > 1 else 0, min_entropy=bits / len(event))
        used = accumulator._pools[: pools_used(phase + reseed)]
        if sum(pool.credited_bits for pool in used) >= SAFE_BITS - 1e-6:
            return reseed
        accumulator.reseed(0)
    return None


def bound(bits: float, every: int) -> int:
    """Return after how many reseeds the attacker is shut out at the latest, wherever in the schedule he came in.

    A pool needs ``n = ceil(128 / bits)`` events of the good source, and any ``w = 32 * n * every`` reseeds in a row
    bring each pool that many. Let 2**k be the smallest power of two that is not below w: P_k is used every 2**k
    reseeds, with 128 bits in it. Only its first use after time 0 may come too early, after w - 1 reseeds at most.
    """
    window = POOL_COUNT * optimum(bits, every)
    return (1 << (window - 1).bit_length()) + window - 1


def optimum(bits: float, every: int) -> int:
    """Return how many reseeds it takes the good source to give 128 bits: no generator can recover earlier."""
    return int(-(-SAFE_BITS // bits)) * every


class Row(NamedTuple):
    """What the table has of one rate, in reseeds but for the rate itself, which is in bits a reseed."""

    rate: float
    best: int
    fastest: int
    slowest: int
    latest: int
    #: A generator with one pool, ``None`` where it has not recovered when Fortuna must have.
    one_pool: int | None


def rows() -> list[Row]:
    """Run the simulation at each rate."""
    found = []
    for bits, every in RATES:
        latest = bound(bits, every)
        times = [reseeds for phase in PHASES if (reseeds := recovery(bits, every, phase, limit=latest)) is not None]
        one_pool = recovery(bits, every, pools=1, limit=latest)
        found.append(Row(bits / every, optimum(bits, every), min(times), max(times), latest, one_pool))
    return found


def table(found: Sequence[Row]) -> str:
    """Return the rows as text."""
    lines = ["bits a reseed   optimum   recovery          bound   one pool"]
    for row in found:
        spread, one_pool = f"{row.fastest}..{row.slowest}", row.one_pool or "never"
        lines.append(f"{row.rate:13g} {row.best:9} {spread:>13} {row.latest:11} {one_pool:>10}")
    return "\n".join(lines) + "\n"


def drawing(found: Sequence[Row]) -> str:
    """Return the rows as an SVG: both axes logarithmic, each reseed count a power of two."""
    width, height, left, bottom = 640, 400, 70, 50

    # Rates from 2**-3.5 to 2**7.5, reseeds from 2**0 to 2**18.
    def x(rate: float) -> float:
        return left + (log2(rate) + 3.5) * (width - left - 20) / 11

    def y(reseeds: float) -> float:
        return height - bottom - log2(reseeds) * (height - bottom - 20) / 18

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif"',
        ' font-size="12">',
        "<title>Reseeds from the compromise to the recovery</title>",
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
    ]
    for power in range(0, 17, 2):
        at = y(1 << power)
        parts.append(f'<path d="M{left} {at:.1f}H{width - 20}" stroke="#dddddd"/>')
        parts.append(f'<text x="{left - 8}" y="{at + 4:.1f}" text-anchor="end">{1 << power}</text>')
    never = y(1 << 17)
    parts.append(f'<text x="{left - 8}" y="{never + 4:.1f}" text-anchor="end">never</text>')
    for rate, best, fastest, slowest, latest, one_pool in found:
        at = x(rate)
        parts.append(f'<text x="{at:.1f}" y="{height - bottom + 18}" text-anchor="middle">{rate:g}</text>')
        parts.append(f'<path d="M{at:.1f} {y(fastest):.1f}V{y(slowest):.1f}" stroke="#1f5fa8" stroke-width="8"/>')
        parts.append(f'<path d="M{at - 9:.1f} {y(latest):.1f}h18" stroke="#b03030" stroke-width="2"/>')
        parts.append(f'<circle cx="{at:.1f}" cy="{y(best):.1f}" r="4" fill="#2e7d32"/>')
        single = never if one_pool is None else y(one_pool)
        parts.append(f'<path d="M{at - 5:.1f} {single - 5:.1f}l10 10m0 -10l-10 10" stroke="#555555" stroke-width="2"/>')
    legend = (
        ("#b03030", "bound"),
        ("#1f5fa8", "simulated, over phases"),
        ("#2e7d32", "optimum: 128 bits given"),
        ("#555555", "one pool"),
    )
    for place, (colour, text) in enumerate(legend):
        at = 64 + 18 * place
        parts.append(f'<rect x="{width - 210}" y="{at - 9}" width="10" height="10" fill="{colour}"/>')
        parts.append(f'<text x="{width - 194}" y="{at}">{text}</text>')
    parts.append(f'<text x="{(left + width) // 2}" y="{height - 8}" text-anchor="middle">unknown bits a reseed</text>')
    parts.append(f'<text x="14" y="{height // 2}" transform="rotate(-90 14 {height // 2})">reseeds</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table, and write the drawing to the path that is given."""
    parser = ArgumentParser(
        prog="python -m fortuna.testing.recovery", description="How long a compromised Fortuna takes to recover."
    )
    parser.add_argument("path", nargs="?", type=Path, metavar="FILE.svg", help="where to draw the table")
    path = parser.parse_args(arguments).path
    found = rows()
    sys.stdout.write(table(found))
    if path is not None:
        path.write_text(drawing(found), encoding="ascii", newline="\n")


if __name__ == "__main__":
    main()
