"""The distributions of `fortuna.Random`, on both paths, by SciPy's tests.

*False alarms.* A run of this file fails a sound generator with a probability below one in a million, FAMILY. Each test
gives one p-value and fails below LEVEL, which is FAMILY over the number of tests on all paths: by Bonferroni's
inequality all of them together are then wrong with FAMILY at most, whether they depend on each other or not. The
p-values of the Kolmogorov-Smirnov tests are exact. Those of the chi-square tests are limits for many draws: with two
classes, of which one is expected EXPECTED times, the exact binomial law rejects up to 1.5 times as often as LEVEL says,
and less with more draws or with equal classes. So these tests fail below LEVEL / 2.

*Controls.* Beside every test stands a control that the same test must reject at the same level: a law that is slightly
another, or draws with a known fault, such as numbers below a limit by a remainder. The control of a continuous law lies
CONTROL_DISTANCE away at least and is then missed with a probability below 10**-12 (Massart 1990), which FAMILY hardly
notices; those of counts and of bits are further off.
"""

from __future__ import annotations

import random
from bisect import bisect
from collections import Counter
from dataclasses import dataclass
from itertools import permutations
from math import ceil, exp, pi
from typing import TYPE_CHECKING, Any, Final

import pytest

from .edge_paths import PATHS

stats: Any = pytest.importorskip("scipy.stats", reason="SciPy, whose tests these are, is not installed")

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping

#: The probability that a run of this file fails without a fault.
FAMILY: Final = 1e-6
#: Draws of a continuous law, and of the bits of a number.
DRAWS: Final = 10_000
#: How often each class of a count is expected, at least.
EXPECTED: Final = 1000
#: The distance that the distribution function of a control keeps from that of the law.
CONTROL_DISTANCE: Final = 0.07


@dataclass(frozen=True)
class Continuous:
    """Draws, the law that they follow, and one that they do not."""

    draw: Callable[[Any], float]
    law: Any
    control: Any


@dataclass(frozen=True)
class Counts:
    """Calls that give classes, the probability of each class, and calls that give other ones."""

    draw: Callable[[Any], Iterable[Hashable]]
    law: Mapping[Any, float]
    control: Callable[[Any], Iterable[Hashable]]


@dataclass(frozen=True)
class Bits:
    """Draws of so many bits, each of which is set half the time, and draws of which one is not."""

    draw: Callable[[Any], int]
    size: int
    control: Callable[[Any], int]


CONTINUOUS: Final = {
    "random": Continuous(lambda r: r.random(), stats.uniform(), stats.powerlaw(1.25)),
    "uniform": Continuous(lambda r: r.uniform(-2, 5), stats.uniform(-2, 7), stats.uniform(-2, 7.8)),
    "gauss": Continuous(lambda r: r.gauss(1, 2), stats.norm(1, 2), stats.norm(1.4, 2)),
    "normalvariate": Continuous(lambda r: r.normalvariate(1, 2), stats.norm(1, 2), stats.norm(1, 2.8)),
    "expovariate": Continuous(lambda r: r.expovariate(1.5), stats.expon(scale=1 / 1.5), stats.expon(scale=1 / 1.2)),
    "betavariate": Continuous(lambda r: r.betavariate(2, 3), stats.beta(2, 3), stats.beta(2.4, 3)),
    "gammavariate": Continuous(lambda r: r.gammavariate(2, 3), stats.gamma(2, scale=3), stats.gamma(2.3, scale=3)),
    "gammavariate_below_1": Continuous(
        lambda r: r.gammavariate(0.5, 3), stats.gamma(0.5, scale=3), stats.gamma(0.6, scale=3)
    ),
    "triangular": Continuous(lambda r: r.triangular(0, 4, 1), stats.triang(0.25, scale=4), stats.triang(0.4, scale=4)),
    # Angles from 0 to 2 pi, turned to those around the mean.
    "vonmisesvariate": Continuous(
        lambda r: (r.vonmisesvariate(1, 2) - 1 + pi) % (2 * pi) - pi, stats.vonmises(2), stats.vonmises(1.2)
    ),
    "paretovariate": Continuous(lambda r: r.paretovariate(3), stats.pareto(3), stats.pareto(2.4)),
    "weibullvariate": Continuous(
        lambda r: r.weibullvariate(2, 1.5), stats.weibull_min(1.5, scale=2), stats.weibull_min(1.5, scale=2.4)
    ),
    "lognormvariate": Continuous(
        lambda r: r.lognormvariate(0.5, 0.7), stats.lognorm(0.7, scale=exp(0.5)), stats.lognorm(0.7, scale=exp(0.65))
    ),
}


def evenly(classes: Iterable[Hashable]) -> dict[Any, float]:
    """Return the law of equally likely classes."""
    found = list(classes)
    return dict.fromkeys(found, 1 / len(found))


def parts(n: int, count: int) -> dict[Any, float]:
    """Return the law of ``x * count // n`` for an integer x, 0 <= x < n, each as likely as the others."""
    edges = [-(-part * n // count) for part in range(count + 1)]
    return {part: (edges[part + 1] - edges[part]) / n for part in range(count)}


def by_remainder(k: int, n: int) -> Counts:
    """Return a count of the numbers below 2**k + 1; the control takes the remainder of k + 1 bits."""
    return Counts(lambda r: (r._randbelow(n),), evenly(range(n)), lambda r: (r.getrandbits(k + 1) % n,))


def by_parts(k: int, n: int) -> Counts:
    """Return a count of 16 parts of the numbers below 2**k + 1; the control halves what it had to draw again."""

    def halved(r: Any) -> tuple[int]:
        x = r.getrandbits(k + 1)
        return ((x if x < n else x // 2) * 16 // n,)

    return Counts(lambda r: (r.randrange(n) * 16 // n,), parts(n, 16), halved)


def swapped_with_any(r: Any) -> tuple[int, ...]:
    """Return a shuffle of 4 with a well-known fault: each item is swapped with any, not with one that is left."""
    items = list(range(4))
    for i in range(4):
        j = r._randbelow(4)
        items[i], items[j] = items[j], items[i]
    return tuple(items)


def shuffled(r: Any) -> tuple[int, ...]:
    """Return a shuffle of 4."""
    items = list(range(4))
    r.shuffle(items)
    return tuple(items)


def neighbours(r: Any) -> tuple[int, int]:
    """Return two of 6 items, of which some neighbours come up too often."""
    first = r._randbelow(6)
    return first, (first + 1 + r.getrandbits(3) % 5) % 6


#: Limits that make four numbers of k + 2 bits fall on three results, if none is drawn again: by a product every third
#: result is twice as likely as the others, by a remainder the lowest third of them.
THIRDS: Final = 3 * 2**30
LARGE_THIRDS: Final = 3 * 2**51

COUNTS: Final = {
    **{f"below_2**{k}_and_1": by_remainder(k, 2**k + 1) for k in range(1, 6)},
    **{f"range_2**{k}_and_1": by_parts(k, 2**k + 1) for k in (10, 16, 31, 32, 33, 63, 64, 100)},
    "below_by_product": Counts(
        lambda r: (r._randbelow(THIRDS) % 3,), evenly(range(3)), lambda r: ((r.getrandbits(32) * THIRDS >> 32) % 3,)
    ),
    "below_by_remainder": Counts(
        lambda r: (r._randbelow(THIRDS) * 3 // THIRDS,),
        evenly(range(3)),
        lambda r: (r.getrandbits(32) % THIRDS * 3 // THIRDS,),
    ),
    "range_by_product": Counts(
        lambda r: (r.randrange(LARGE_THIRDS) % 3,),
        evenly(range(3)),
        lambda r: ((r.getrandbits(53) * LARGE_THIRDS >> 53) % 3,),
    ),
    "randint": Counts(lambda r: (r.randint(-3, 3),), evenly(range(-3, 4)), lambda r: (r.getrandbits(3) % 7 - 3,)),
    "randbytes": Counts(
        lambda r: r.randbytes(EXPECTED), evenly(range(256)), lambda r: (x % 255 for x in r.randbytes(EXPECTED))
    ),
    "choice": Counts(lambda r: (r.choice("abcdefg"),), evenly("abcdefg"), lambda r: ("abcdefg"[r.getrandbits(3) % 7],)),
    "choices": Counts(
        lambda r: r.choices("abc", [5, 3, 2], k=10),
        {"a": 0.5, "b": 0.3, "c": 0.2},
        lambda r: r.choices("abc", [5, 3, 3], k=10),
    ),
    "shuffle": Counts(lambda r: (shuffled(r),), evenly(permutations(range(4))), lambda r: (swapped_with_any(r),)),
    "sample": Counts(
        lambda r: (tuple(r.sample(range(6), 2)),), evenly(permutations(range(6), 2)), lambda r: (neighbours(r),)
    ),
}
if hasattr(random.Random, "binomialvariate"):  # from Python 3.12 on; below a mean of 10 it has another algorithm
    EDGES: Final = (19, 21, 23, 25, 27, 29, 31)
    ABOVE = [1.0, *(float(stats.binom.sf(edge - 1, 100, 0.25)) for edge in EDGES), 0.0]
    COUNTS["binomialvariate"] = Counts(
        lambda r: (r.binomialvariate(4, 0.5),),
        {x: float(stats.binom.pmf(x, 4, 0.5)) for x in range(5)},
        lambda r: (r.binomialvariate(4, 0.55),),
    )
    COUNTS["binomialvariate_of_100"] = Counts(
        lambda r: (bisect(EDGES, r.binomialvariate(100, 0.25)),),
        {part: ABOVE[part] - ABOVE[part + 1] for part in range(len(EDGES) + 1)},
        lambda r: (bisect(EDGES, r.binomialvariate(100, 0.27)),),
    )

BITS: Final = {
    "random": Bits(lambda r: int(r.random() * 2**53), 53, lambda r: int(r.random() * 2**53) | r.getrandbits(53) & 1),
    "getrandbits_64": Bits(lambda r: r.getrandbits(64), 64, lambda r: r.getrandbits(64) & (r.getrandbits(1) - 2)),
    "getrandbits_65": Bits(lambda r: r.getrandbits(65), 65, lambda r: r.getrandbits(65) & (r.getrandbits(1) - 2)),
}
#: Below this a p-value is an alarm.
LEVEL: Final = FAMILY / (len(PATHS) * (len(CONTINUOUS) + len(COUNTS) + len(BITS)))


@pytest.mark.parametrize("case", CONTINUOUS.values(), ids=CONTINUOUS.keys())
def test_edge_random_continuous_distributions(case: Continuous, kind: type[random.Random]) -> None:
    """Numbers follow the law (Kolmogorov and Smirnov), and not the control."""
    places = case.law.ppf([part / 100 for part in range(1, 100)])
    assert CONTROL_DISTANCE < max(abs(case.law.cdf(places) - case.control.cdf(places)))
    instance = kind()
    found = [case.draw(instance) for _ in range(DRAWS)]
    assert LEVEL < stats.ks_1samp(found, case.law.cdf, method="exact").pvalue
    assert LEVEL > stats.ks_1samp(found, case.control.cdf, method="exact").pvalue


def chi_square(draw: Callable[[Any], Iterable[Hashable]], law: Mapping[Any, float], instance: Any) -> float:
    """Return the p-value of as many draws as make the rarest class come up EXPECTED times in the mean."""
    seen: Counter[Any] = Counter()
    calls, size = ceil(EXPECTED / min(law.values())), 0
    while size < calls:
        seen.update(draw(instance))
        size = seen.total()
    assert seen.keys() <= law.keys()
    value: float = stats.chisquare([seen[one] for one in law], [size * law[one] for one in law]).pvalue
    return value


@pytest.mark.parametrize("case", COUNTS.values(), ids=COUNTS.keys())
def test_edge_random_counts(case: Counts, kind: type[random.Random]) -> None:
    """Each class comes up as often as the law says (chi-square), and those of the control do not."""
    assert abs(1 - sum(case.law.values())) < 1e-12
    instance = kind()
    assert LEVEL / 2 < chi_square(case.draw, case.law, instance)
    assert LEVEL / 2 > chi_square(case.control, case.law, instance)


def chi_square_of_bits(draw: Callable[[Any], int], size: int, instance: Any) -> float:
    """Return the p-value of how often each bit was set: their squared deviations add up, as bits are independent."""
    ones = [0] * size
    for _ in range(DRAWS):
        number = draw(instance)
        assert 0 <= number < 1 << size
        for bit in range(size):
            ones[bit] += number >> bit & 1
    value: float = stats.chi2.sf(sum((2 * count - DRAWS) ** 2 / DRAWS for count in ones), size)
    return value


@pytest.mark.parametrize("case", BITS.values(), ids=BITS.keys())
def test_edge_random_bits(case: Bits, kind: type[random.Random]) -> None:
    """Each bit is set half the time; a last one that is set more rarely or more often is seen."""
    instance = kind()
    assert LEVEL / 2 < chi_square_of_bits(case.draw, case.size, instance)
    assert LEVEL / 2 > chi_square_of_bits(case.control, case.size, instance)
