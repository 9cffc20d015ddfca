"""The verdict: whether a battery's p-values, taken together, are worse than chance lets them be.

The budget is the probability that a perfect generator is failed by one run, whatever the number of p-values. It is
divided among them by Holm's method (Holm 1979): the smallest of n is compared with budget / n, as Bonferroni's method
does, the next with budget / (n - 1), and so on until one is not rejected. That needs no independence, which batteries
that read one stream several times do not have. Every p-value is two-sided: a result too good to be true is as
improbable as one too bad.

The battery's own words, PASSED or WEAK or FAIL, and its exit status are not looked at.
"""

from __future__ import annotations

from dataclasses import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Final

PASSED: Final = "passed"
FAILED: Final = "failed"
INVALID: Final = "invalid"

#: One run in ten thousand fails a perfect generator.
DEFAULT_BUDGET: Final = 1e-4


@dataclass(frozen=True, slots=True)
class PValue:
    """One p-value of a battery.

    Attributes
    ----------
    name : str
        The test, and which of its results.
    p, q : float
        The two tails, 0..1. Where the battery prints p alone, q is 1 - p, but not less than what its digits can tell
        from 0; so is p.
    """

    name: str
    p: float
    q: float

    @classmethod
    def printed(cls, name: str, p: float, resolution: float) -> PValue:
        """Return a p-value that was rounded to a multiple of twice *resolution*, both tails as large as they may be."""
        return cls(name, max(p, resolution), max(1 - p, resolution))

    @property
    def two_sided(self) -> float:
        """Return the probability of a result as far out as this, on either side."""
        return min(1.0, 2 * min(self.p, self.q))


@dataclass(frozen=True, slots=True)
class Judged:
    """A p-value and what Holm's method makes of it.

    Attributes
    ----------
    value : PValue
        The p-value.
    adjusted : float
        The smallest budget at which it is rejected.
    is_rejected : bool
        Whether *adjusted* is within the budget.
    """

    value: PValue
    adjusted: float
    is_rejected: bool


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict on one stream.

    Attributes
    ----------
    verdict : str
        ``passed``, ``failed`` or ``invalid``.
    reason : str
        Why, in a sentence.
    budget : float
        The probability that a perfect generator is failed.
    count : int
        The p-values that share it, those among them that the battery counted without printing them.
    judged : tuple of Judged
        Those that were printed, in the battery's order.
    """

    verdict: str
    reason: str
    budget: float
    count: int
    judged: tuple[Judged, ...]

    @property
    def rejected(self) -> tuple[Judged, ...]:
        """Return the p-values that are rejected, also where the verdict is ``invalid``."""
        return tuple(each for each in self.judged if each.is_rejected)


def judge(values: Sequence[PValue], budget: float, *, unlisted: int = 0, resolution: float = 0.0) -> Judgement:
    """Return the verdict on the p-values of one run.

    Parameters
    ----------
    values : sequence of PValue
        What was printed.
    budget : float
        The probability that a perfect generator is failed, 0 < budget < 1.
    unlisted : int
        Results that the battery counted and found unremarkable, without a p-value.
    resolution : float
        The smallest tail that a printed p-value can show.
    """
    count = len(values) + unlisted
    judged = holm(values, budget, count)
    verdict, reason = decide(judged, budget, count, unlisted, resolution)
    return Judgement(verdict, reason, budget, count, judged)


def decide(judged: Sequence[Judged], budget: float, count: int, unlisted: int, resolution: float) -> tuple[str, str]:
    """Return the verdict and its reason; what makes it invalid comes first."""
    if not count:
        return INVALID, "the battery gave no p-value"
    if count > 1 and not unlisted and len({(each.value.p, each.value.q) for each in judged}) == 1:
        return INVALID, (
            f"all {count} p-values are equal, {judged[0].value.p:g}: either the battery does not read the stream in "
            "this format, or the stream is constant"
        )
    if 2 * resolution > budget / count:
        return INVALID, (
            f"a budget of {budget:g} over {count} p-values is finer than the battery prints; allowed is "
            f"{2 * resolution * count:.2g} or more"
        )
    rejected = sum(each.is_rejected for each in judged)
    if rejected:
        return FAILED, f"{rejected} of {count} p-values rejected"
    return PASSED, f"none of {count} p-values rejected"


def holm(values: Sequence[PValue], budget: float, count: int) -> tuple[Judged, ...]:
    """Return *values* with Holm's adjusted p-values, *count* of them being in the family."""
    order = sorted(range(len(values)), key=lambda index: values[index].two_sided)
    adjusted = [0.0] * len(values)
    largest = 0.0
    for rank, index in enumerate(order):
        largest = max(largest, min(1.0, (count - rank) * values[index].two_sided))
        adjusted[index] = largest
    return tuple(Judged(value, each, each <= budget) for value, each in zip(values, adjusted, strict=True))
