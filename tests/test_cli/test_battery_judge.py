"""Judgement: tails of distributions, Holm's division of the budget, and what makes a run invalid."""

from __future__ import annotations

from math import comb, isclose

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fortuna.batteries.controls import keystream
from fortuna.batteries.judge import DEFAULT_BUDGET, FAILED, INVALID, PASSED, Judgement, PValue, judge
from fortuna.batteries.tails import binomial, chi_square, normal


def values(*numbers: float) -> list[PValue]:
    """Return p-values with names of their own."""
    return [PValue(f"test {index}", p, 1 - p) for index, p in enumerate(numbers)]


def good(count: int) -> list[PValue]:
    """Return *count* p-values that are as uniform as they can be."""
    return values(*((index + 0.5) / count for index in range(count)))


@pytest.mark.parametrize(
    ("z", "upper"),
    [(0, 0.5), (1.959963984540054, 0.025), (-1.959963984540054, 0.975), (4.753424308822899, 1e-6)],
)
def test_normal(z: float, upper: float) -> None:
    """The quantiles of the normal distribution have the tails that tables give them."""
    assert pytest.approx((upper, 1 - upper), rel=1e-12) == normal(z)


def test_normal_far_out() -> None:
    """Both tails stay exact where the other one is 1 to a float."""
    assert isclose(7.619853024160527e-24, normal(10)[0], rel_tol=1e-10)
    assert isclose(7.619853024160527e-24, normal(-10)[1], rel_tol=1e-10)


@pytest.mark.parametrize(
    ("x", "freedom", "upper"),
    [
        (3.841458820694124, 1, 0.05),
        (16.918977604620448, 9, 0.05),
        (293.2478350807012, 255, 0.05),
        (0.0, 9, 1.0),
    ],
)
def test_chi_square(x: float, freedom: int, upper: float) -> None:
    """The quantiles of chi-square have the tails that tables give them, for few and many degrees of freedom."""
    found = chi_square(x, freedom)
    assert pytest.approx((upper, 1 - upper), rel=1e-9) == found


@pytest.mark.parametrize(
    ("counts", "printed"),
    [
        ((9, 10, 8, 10, 12, 6, 13, 13, 9, 10), 0.883171),
        ((14, 5, 9, 10, 8, 12, 11, 4, 15, 12), 0.236810),
        ((18, 10, 11, 8, 9, 16, 13, 5, 2, 8), 0.013569),
        ((5, 7, 13, 8, 7, 22, 5, 18, 7, 8), 0.000406),
    ],
)
def test_chi_square_as_sts_computes_it(counts: tuple[int, ...], printed: float) -> None:
    """From the ten counts of a row that STS printed follows the P-VALUE that it printed there."""
    assert 100 == sum(counts)
    statistic = sum((count - 10) ** 2 for count in counts) / 10
    assert printed == round(chi_square(statistic, 9)[0], 6)


def test_chi_square_far_out() -> None:
    """Two degrees of freedom are the exponential distribution, whose tails are known however far out."""
    assert isclose(3.720075976020836e-44, chi_square(200, 2)[0], rel_tol=1e-12)
    assert isclose(5e-13, chi_square(1e-12, 2)[1], rel_tol=1e-9)
    assert (0.0, 1.0) == chi_square(1e9, 255)
    assert (0.0, 1.0) == chi_square(float("inf"), 255)


@given(st.integers(1, 60), st.data(), st.floats(0.001, 0.999))
def test_binomial(trials: int, data: st.DataObject, rate: float) -> None:
    """Both tails are the sums that define them."""
    count = data.draw(st.integers(0, trials))
    mass = [comb(trials, k) * rate**k * (1 - rate) ** (trials - k) for k in range(trials + 1)]
    assert pytest.approx((sum(mass[count:]), sum(mass[: count + 1])), rel=1e-9, abs=1e-14) == binomial(
        count, trials, rate
    )


def test_binomial_far_out() -> None:
    """A tail that a float cannot tell from 0 beside 1 is still a number of its own."""
    upper, lower = binomial(100, 100, 0.01)
    assert isclose(1e-200, upper, rel_tol=1e-9)
    assert 1.0 == lower


def test_good_passes() -> None:
    """Uniform p-values pass, and all of them are shown."""
    judgement = judge(good(100), DEFAULT_BUDGET)
    assert (PASSED, 100, ()) == (judgement.verdict, judgement.count, judgement.rejected)
    assert "none of 100 p-values rejected" == judgement.reason


@pytest.mark.parametrize("p", [1e-7, 1 - 1e-7], ids=["near-0", "near-1"])
def test_bad_fails(p: float) -> None:
    """One p-value far out fails the run, on either side."""
    judgement = judge([*good(99), PValue("bad", p, 1 - p)], DEFAULT_BUDGET)
    assert FAILED == judgement.verdict
    assert ["bad"] == [each.value.name for each in judgement.rejected]


@pytest.mark.parametrize(("p", "expected"), [(1.0001e-6 / 2, PASSED), (0.9999e-6 / 2, FAILED)])
def test_borderline(p: float, expected: str) -> None:
    """Of a hundred p-values, the smallest is compared with a hundredth of the budget, two-sided."""
    assert expected == judge([*good(99), PValue("edge", p, 1 - p)], 1e-4).verdict
    assert expected == judge([*good(99), PValue("edge", 1 - p, p)], 1e-4).verdict


def test_same_p_value_passes_among_more() -> None:
    """What fails alone may pass among many: the budget is for the run."""
    p = 2e-5
    assert FAILED == judge(values(p), 1e-4).verdict
    assert PASSED == judge([*good(99), *values(p)], 1e-4).verdict
    assert PASSED == judge(values(p, 0.5), 1e-4, unlisted=98).verdict


def test_holm_steps_down() -> None:
    """Once the smallest is rejected, the next shares the budget with one fewer, and is never adjusted below it."""
    judgement = judge(values(0.005, 0.0065, 0.0126, 0.4), 0.05)
    assert pytest.approx([0.04, 0.04, 0.0504, 0.8]) == [each.adjusted for each in judgement.judged]
    assert [True, True, False, False] == [each.is_rejected for each in judgement.judged]


@pytest.mark.parametrize("p", [0.0, 0.5, 1.0, 5e-9])
def test_all_equal_is_invalid(p: float) -> None:
    """Equal p-values are no verdict, whatever they are: the battery has not looked at the stream."""
    judgement = judge(values(p, p, p), DEFAULT_BUDGET)
    assert INVALID == judgement.verdict
    assert "all 3 p-values are equal" in judgement.reason


def test_all_equal_needs_several() -> None:
    """A single p-value is equal to nothing, and a battery that kept others back said that they differ."""
    assert PASSED == judge(values(0.5), DEFAULT_BUDGET).verdict
    assert PASSED == judge(values(0.5, 0.5), DEFAULT_BUDGET, unlisted=5).verdict


def test_nothing_is_invalid() -> None:
    """No p-value at all is no verdict; a count without p-values is one."""
    assert (INVALID, "the battery gave no p-value") == verdict_of(judge([], DEFAULT_BUDGET))
    assert PASSED == judge([], DEFAULT_BUDGET, unlisted=165).verdict


def verdict_of(judgement: Judgement) -> tuple[str, str]:
    """Return the verdict and its reason."""
    return judgement.verdict, judgement.reason


def test_budget_finer_than_the_digits_is_invalid() -> None:
    """A battery whose digits could never fall below the share of the budget gives no verdict that means anything."""
    rough = [PValue.printed(f"test {index}", index / 10, 5e-9) for index in range(10)]
    assert INVALID == judge(rough, 9.9e-8, resolution=5e-9).verdict
    assert "allowed is 1e-07 or more" in judge(rough, 9.9e-8, resolution=5e-9).reason
    assert FAILED == judge(rough, 1.1e-7, resolution=5e-9).verdict


def test_printed_zero_is_as_large_as_it_may_be() -> None:
    """A p-value that was printed as 0 or 1 is taken for the largest and smallest that print so."""
    assert (5e-9, 1.0) == (PValue.printed("", 0.0, 5e-9).p, PValue.printed("", 0.0, 5e-9).q)
    assert 1e-8 == PValue.printed("", 0.0, 5e-9).two_sided == PValue.printed("", 1.0, 5e-9).two_sided


@pytest.mark.parametrize("count", [1, 10, 188])
def test_false_alarms_stay_within_the_budget(count: int) -> None:
    """Of 4000 runs on perfect p-values about one in twenty fails at a budget of 5 %, and not more by chance of 1e-6."""
    runs, budget = 4000, 0.05
    stream = iter(keystream())
    failed = 0
    numbers = memoryview(b"".join(next(stream) for _ in range(runs * count * 8 // (1 << 18) + 1))).cast("Q")
    for run in range(runs):
        chosen = numbers[run * count : (run + 1) * count]
        failed += judge(values(*(number / 2**64 for number in chosen)), budget).verdict == FAILED
    upper, lower = binomial(failed, runs, 1 - (1 - budget / count) ** count)
    assert min(upper, lower) > 1e-6
