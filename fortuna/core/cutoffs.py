"""The arithmetic behind the cut-offs of the health tests (SP 800-90B 4.4): alpha, ceilings and a binomial quantile.

It runs in every boot, so it costs microseconds and loads no library, and it is exact where it matters: the float that
stands for 2**-H is taken as the probability, and no sum that decides is near the limit of what floats can tell apart.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

#: -log2 of alpha, the probability at which a test of a good source raises a false alarm. The standard suggests 2**-20
#: to 2**-40 a sample for devices. A busy process takes 2**39 samples a year of the source ``os``: 2**-40 would be an
#: alarm in every second process a year, 2**-64 is one in three centuries among 10**5 such processes. A stuck source
#: is still noticed after 9 bytes at 8 bits a byte, and within a harvest of 2048 bytes down to 0.04 bits a byte.
ALPHA_BITS: Final = 64
#: Samples of an adaptive proportion window: W of SP 800-90B 4.4.2 for samples that are not binary.
WINDOW: Final = 512
#: Claims below are reckoned with as this one: its cut-offs lie beyond the bytes that a source gives in its life.
MIN_ENTROPY_LEAST: Final = 2.0**-64


def ceil_div(bits: int, min_entropy: float) -> int:
    """Return how many samples claim at least *bits*: ceil(bits / H)."""
    # Floor division of floats is exact where dividing and rounding is not, and the module math is not loaded at boot.
    return -int(-bits // max(min_entropy, MIN_ENTROPY_LEAST))


def critbinom(n: int, min_entropy: float, alpha_bits: int) -> int:
    """Return the smallest k with P(X <= k) >= 1 - alpha, X binomial with *n* trials of p = 2**-H.

    The same is the largest k with P(X >= k) > alpha, and that is how it is found: 1 - alpha is no number of 53 bits,
    while the upper tail, added up from its far end, is exact to 2**-40 and more. Cost: microseconds.
    """
    p = 2.0**-min_entropy
    alpha = 2.0**-alpha_bits
    # Above this k the whole tail is below 2**n * p**k, which is alpha * 2**-64 at most: too little to count.
    k = min(n, ceil_div(n + alpha_bits + 64, min_entropy))
    ways = 1  # to choose k of n
    for i in range(k):
        ways = ways * (n - i) // (i + 1)
    tail = ways * p**k * (1.0 - p) ** (n - k)
    while tail <= alpha:
        ways = ways * k // (n - k + 1)
        k -= 1
        tail += ways * p**k * (1.0 - p) ** (n - k)
    return k
