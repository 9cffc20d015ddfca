"""Tails of distributions: both of each, so that neither is lost by subtracting it from one.

A p-value near 1 is as suspicious as one near 0, and 1 - p of a float that was rounded to 1 is nothing. Each function
returns the upper tail, Pr[X >= x], and the lower one, Pr[X <= x], each computed from its own end.
"""

from __future__ import annotations

from math import erfc, exp, inf, lgamma, log, log1p, sqrt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

#: Terms below this part of their sum do not change it.
NEGLIGIBLE: Final = 1e-17
#: Keeps a denominator of the continued fraction from 0.
TINY: Final = 1e-300


def normal(z: float) -> tuple[float, float]:
    """Return the tails of the standard normal distribution at *z*."""
    return erfc(z / sqrt(2)) / 2, erfc(-z / sqrt(2)) / 2


def chi_square(x: float, freedom: int) -> tuple[float, float]:
    """Return the tails of the chi-square distribution with *freedom* degrees of freedom at *x* >= 0.

    These are the incomplete gamma functions Q and P of freedom / 2 and x / 2.
    """
    a, half = freedom / 2, x / 2
    if half <= 0:
        return 1.0, 0.0
    if half == inf:
        return 0.0, 1.0
    scale = exp(a * log(half) - half - lgamma(a))
    # The series converges fast below the mean, the continued fraction above it (Abramowitz and Stegun 6.5.29, 6.5.31).
    if half < a + 1:
        lower = scale * gamma_series(a, half)
        return 1 - lower, lower
    upper = scale * gamma_fraction(a, half)
    return upper, 1 - upper


def gamma_series(a: float, x: float) -> float:
    """Return the sum of x**n / (a (a + 1) ... (a + n)) over n >= 0."""
    term = total = 1 / a
    n = a
    while term > total * NEGLIGIBLE:
        n += 1
        term *= x / n
        total += term
    return total


def gamma_fraction(a: float, x: float) -> float:
    """Return the continued fraction 1 / (x + 1 - a - 1 (1 - a) / (x + 3 - a - ...)), by Lentz's method."""
    b = x + 1 - a
    c = 1 / TINY
    d = 1 / b
    value = d
    n = 0
    while True:
        n += 1
        factor = -n * (n - a)
        b += 2
        d = 1 / (factor * d + b or TINY)
        c = b + factor / c or TINY
        step = c * d
        value *= step
        if abs(step - 1) < 1e-15:
            return value


def binomial(count: int, trials: int, rate: float) -> tuple[float, float]:
    """Return the tails at *count* of the number of hits among *trials*, each with probability *rate*, 0 < rate < 1."""
    at = exp(
        lgamma(trials + 1)
        - lgamma(count + 1)
        - lgamma(trials - count + 1)
        + count * log(rate)
        + (trials - count) * log1p(-rate)
    )
    odds = rate / (1 - rate)
    term = total = at
    # Away from the mean, each term is smaller than the one before.
    if count > trials * rate:
        for k in range(count, trials):
            term *= (trials - k) / (k + 1) * odds
            total += term
            if term <= total * NEGLIGIBLE:
                break
        return min(total, 1.0), min(1 - total + at, 1.0)
    for k in range(count, 0, -1):
        term *= k / (trials - k + 1) / odds
        total += term
        if term <= total * NEGLIGIBLE:
            break
    return min(1 - total + at, 1.0), min(total, 1.0)
