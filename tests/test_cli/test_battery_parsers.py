"""What batteries print, read from files: good, bad, cut short, and in forms that nobody knows."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from fortuna.batteries import dieharder, ent, practrand, rngtest, sts, testu01
from fortuna.batteries.errors import UnreadableOutputError
from fortuna.batteries.judge import FAILED, PASSED, judge
from fortuna.batteries.tails import binomial

if TYPE_CHECKING:
    from collections.abc import Callable

RECORDED: Final = Path(__file__).with_name("recorded")
ENT_SIZE: Final = 64 << 20


def recorded(name: str) -> str:
    """Return a file, whose first line says how it came about."""
    text = (RECORDED / f"{name}.txt").read_text(encoding="utf-8")
    assert re.match(r"# (Recorded|Constructed)\b.+\.\n", text)
    return text


def read_dieharder(text: str) -> list[float]:
    """Return the p-values of dieharder."""
    return [value.p for value in dieharder.parse(text, 5e-9)]


#: Each parser, for what goes wrong with all of them alike.
READERS: Final[dict[str, Callable[[str], object]]] = {
    "dieharder-good": read_dieharder,
    "rngtest-good": lambda text: rngtest.parse(text, 10_000),
    "ent-good": lambda text: ent.parse(text, ENT_SIZE),
    "practrand-good": lambda text: practrand.parse(text, 28),
    "testu01-good": testu01.parse,
    "sts-good": lambda text: sts.parse(text, 100),
}


@pytest.mark.parametrize("name", READERS)
def test_empty_output_is_unreadable(name: str) -> None:
    """A battery that printed nothing, or somebody else's words, has said nothing."""
    for text in ("", "\n", "command not found\n", "# " + recorded(name).splitlines()[0]):
        with pytest.raises(UnreadableOutputError):
            READERS[name](text)


@pytest.mark.parametrize(
    ("name", "needed"),
    [
        ("rngtest-good", "failures"),
        ("ent-good", "1,67108864"),
        ("practrand-good", "BCFN(2+0,13-2,T)"),
        ("testu01-good", "end 15"),
        ("sts-good", "LinearComplexity"),
    ],
)
def test_truncated_output_is_unreadable(name: str, needed: str) -> None:
    """Output that breaks off anywhere before the line that it cannot do without is not taken for a whole one."""
    text = recorded(name)
    READERS[name](text)
    lines = text.splitlines(keepends=True)
    (last,) = (index for index, line in enumerate(lines) if needed in line)
    for end in range(last + 1):
        with pytest.raises(UnreadableOutputError):
            READERS[name]("".join(lines[:end]))


def test_dieharder_good() -> None:
    """All thirty p-values of a table are read, in order, each with its tuple size."""
    values = dieharder.parse(recorded("dieharder-good"), 5e-9)
    assert 30 == len(values)
    assert ("sts_serial 1", 0.83109735) == (values[0].name, values[0].p)
    assert ("sts_serial 16", 0.27933523) == (values[-1].name, values[-1].p)
    assert PASSED == judge(values, 1e-4, resolution=5e-9).verdict


def test_dieharder_bad() -> None:
    """A p-value printed as 0.00000000 fails the run; the WEAK beside it is judged by its number alone."""
    values = dieharder.parse(recorded("dieharder-bad"), 5e-9)
    assert [5e-9, 0.99810245] == [value.p for value in values]
    judgement = judge(values, 1e-4, resolution=5e-9)
    assert FAILED == judgement.verdict
    assert [True, False] == [each.is_rejected for each in judgement.judged]


def test_dieharder_near_one() -> None:
    """A p-value printed as 1.00000000 fails as well: zeros have runs too regular to be true."""
    (value,) = dieharder.parse(recorded("dieharder-high"), 5e-9)
    assert (1.0, 5e-9) == (value.p, value.q)
    assert FAILED == judge([value], 1e-4, resolution=5e-9).verdict


def test_dieharder_words_do_not_count() -> None:
    """The assessment that dieharder prints is not looked at."""
    text = recorded("dieharder-bad")
    assert read_dieharder(text) == read_dieharder(text.replace("FAILED", "PASSED").replace(" WEAK ", "PASSED"))


def test_dieharder_without_number() -> None:
    """A line of the table without a p-value is not passed over."""
    for broken in ("       nan", "0.5", "-0.10000000", "2.00000000"):
        with pytest.raises(UnreadableOutputError, match="a line without a p-value"):
            read_dieharder(recorded("dieharder-bad").replace("0.99810245", broken))


def test_dieharder_end_of_input_is_known() -> None:
    """What dieharder says at the end of its input, with status 0, is what the adapter looks for."""
    assert "Error: EOF" in recorded("dieharder-eof")


def test_rngtest_good() -> None:
    """Seven failures in 10,000 blocks, and the exit status 1 with them, are what a good generator has."""
    assert 7 == rngtest.parse(recorded("rngtest-good"), 10_000)
    assert min(binomial(7, 10_000, rngtest.FALSE_ALARMS)) > 0.3


def test_rngtest_bad() -> None:
    """A bias of one per cent fails 1535 blocks."""
    failures = rngtest.parse(recorded("rngtest-bad"), 10_000)
    assert 1535 == failures
    assert binomial(failures, 10_000, rngtest.FALSE_ALARMS)[0] < 1e-300


def test_rngtest_four_bytes_short() -> None:
    """Four bytes too few are a block too few, which is said and not judged."""
    with pytest.raises(UnreadableOutputError, match="tested 999 blocks instead of 1000"):
        rngtest.parse(recorded("rngtest-short"), 1000)


def test_rngtest_rate() -> None:
    """Of a million blocks of good keystream, 797 failed when the rate was measured: it may be 8 in 10,000."""
    assert min(binomial(797, 1_000_000, rngtest.FALSE_ALARMS)) > 0.05


@pytest.mark.parametrize(("failures", "expected"), [(0, PASSED), (8, PASSED), (20, PASSED), (23, FAILED)])
def test_rngtest_borderline(failures: int, expected: str) -> None:
    """Of 10,000 blocks about 8 fail; 20 are within a budget of 1e-4, 23 are not, and none at all is no miracle."""
    from fortuna.batteries.judge import PValue

    value = PValue("blocks", *binomial(failures, 10_000, rngtest.FALSE_ALARMS))
    assert expected == judge([value], 1e-4).verdict


def test_ent_good() -> None:
    """The four figures of a good stream pass, and chi-square has the tail that ent prints without ``-t``."""
    values = ent.p_values(*ent.parse(recorded("ent-good"), ENT_SIZE), ENT_SIZE)
    assert ["chi-square of byte values", "mean of byte values", "points in a circle", "serial correlation"] == [
        value.name for value in values
    ]
    assert PASSED == judge(values, 1e-4).verdict
    # ent on other bytes: "Chi square distribution for 67108864 samples is 256.74, ... 45.76 percent of the times".
    assert pytest.approx(0.4576, abs=5e-5) == ent.p_values(256.74, 127.5, 3.14159, 0.0, ENT_SIZE)[0].p


@pytest.mark.parametrize("name", ["ent-bad", "ent-stuck"])
def test_ent_bad(name: str) -> None:
    """Biased bits and zeros fail in bytes, mean and circle."""
    values = ent.p_values(*ent.parse(recorded(name), ENT_SIZE), ENT_SIZE)
    rejected = {each.value.name for each in judge(values, 1e-4).rejected}
    assert {"chi-square of byte values", "mean of byte values", "points in a circle"} <= rejected


def test_ent_of_another_size() -> None:
    """Figures of fewer bytes than were sent are not judged."""
    with pytest.raises(UnreadableOutputError, match="read 67108864 bytes instead of 67108865"):
        ent.parse(recorded("ent-good"), ENT_SIZE + 1)


def test_practrand_good() -> None:
    """The last report counts alone, in every form that its p-values have."""
    results = practrand.parse(recorded("practrand-good"), 28)
    assert (9, 0) == (len(results.values), results.unlisted)
    by_name = {value.name: value for value in results.values}
    assert (1 - 3.4e-3, 3.4e-3) == (by_name["DC6-9x1Bytes-1"].p, by_name["DC6-9x1Bytes-1"].q)
    assert 2.9e-3 == by_name["Gap-16:A"].p
    assert 0.44 == by_name["BRank(12):128(4)"].p
    assert PASSED == judge(results.values, 1e-4).verdict


def test_practrand_keeps_results_back() -> None:
    """Results that are counted and not listed share the budget."""
    results = practrand.parse(recorded("practrand-unlisted"), 28)
    assert ([2.9e-3], 123) == ([value.p for value in results.values], results.unlisted)
    assert 124 == judge(results.values, 1e-4, unlisted=results.unlisted).count


def test_practrand_bad() -> None:
    """A failure ends the run early, and p-values too small for a float or near 1 keep their distance."""
    results = practrand.parse(recorded("practrand-bad"), 28)
    judgement = judge(results.values, 1e-4)
    assert (FAILED, 8) == (judgement.verdict, judgement.count)
    near_one = next(value for value in results.values if value.name == "FPF-14+6/16:(0,14-0)")
    assert (1.0, 6.1e-110) == (near_one.p, near_one.q)
    passed = [each.value.name for each in judgement.judged if not each.is_rejected]
    assert ["[Low1/32]DC6-9x1Bytes-1"] == passed


def test_practrand_stopped_early() -> None:
    """A run that ends before the size that was asked for, without a failure, is none."""
    with pytest.raises(UnreadableOutputError, match=r"stopped at 2\^28 bytes instead of 2\^30"):
        practrand.parse(recorded("practrand-good"), 30)


def test_practrand_without_number() -> None:
    """A result without a p-value is not passed over."""
    with pytest.raises(UnreadableOutputError, match="a result without a p-value"):
        practrand.parse(recorded("practrand-good").replace("p = 0.251", "p = nan"), 28)


def test_testu01_good() -> None:
    """Every p-value is read with its name, spaces included, around the library's own words."""
    results = testu01.parse(recorded("testu01-good"))
    assert 15 == len(results.values)
    assert "RandomWalk1 C" == results.values[-1].name
    assert PASSED == judge(results.values, 1e-4).verdict


def test_testu01_bad() -> None:
    """A p-value of 0, 1, or of a float next to 1 is rejected; one in the middle is not."""
    judgement = judge(testu01.parse(recorded("testu01-bad")).values, 1e-4)
    assert [True, True, True, True, False] == [each.is_rejected for each in judgement.judged]


@pytest.mark.parametrize("number", ["nan", "-1", "1.5", "eps"])
def test_testu01_without_number(number: str) -> None:
    """What is no probability is not passed over."""
    with pytest.raises(UnreadableOutputError, match=f"printed {number} as the p-value of MultinomialBitsOver"):
        testu01.parse(recorded("testu01-bad").replace("p 0 M", f"p {number} M"))


def test_sts_good() -> None:
    """Each row gives its uniformity and its proportion, random excursions with the streams that they could use."""
    results = sts.parse(recorded("sts-good"), 100)
    assert 2 * 21 == len(results.values)
    assert "NonOverlappingTemplate 3, proportion" in {value.name for value in results.values}
    assert PASSED == judge(results.values, 1e-4).verdict


def test_sts_few_excursions() -> None:
    """With eight streams the classes are not filled, so random excursions have a proportion alone."""
    names = {value.name for value in sts.parse(recorded("sts-few"), 100).values}
    assert 2 * 17 + 4 == len(names)
    assert "RandomExcursions 1, proportion" in names
    assert "RandomExcursions 1, uniformity" not in names


@pytest.mark.parametrize("name", ["sts-bad", "sts-zeros"])
def test_sts_bad(name: str) -> None:
    """Streams that fail are rejected by both figures, also where no stream has excursions to look at."""
    judgement = judge(sts.parse(recorded(name), 100).values, 1e-4)
    assert FAILED == judgement.verdict
    assert {"Frequency 1, uniformity", "Frequency 1, proportion"} <= {each.value.name for each in judgement.rejected}


def test_sts_stars_do_not_count() -> None:
    """What STS marks by a star is not rejected for that: of 376 figures of a good stream, some have one."""
    text = recorded("sts-good")
    starred = re.sub(r"(\d/100 )  ( +Frequency)", r"\1 *\2", text)
    assert starred != text
    assert sts.parse(text, 100) == sts.parse(starred, 100)


def test_sts_of_other_streams() -> None:
    """A report about another number of streams is not judged."""
    with pytest.raises(UnreadableOutputError, match="100 streams for Frequency 1 instead of 55"):
        sts.parse(recorded("sts-good"), 55)
