"""The health tests against a plain model, exact arithmetic, published cut-offs and faults of every kind."""

from __future__ import annotations

import copy
import pickle
from fractions import Fraction
from hashlib import sha256
from itertools import accumulate
from math import ceil, comb
from random import Random
from typing import Final

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fortuna.core.cutoffs import ALPHA_BITS, WINDOW, ceil_div, critbinom
from fortuna.core.health import (
    STARTUP_SAMPLES,
    AdaptiveProportion,
    HarvestRepetition,
    HealthTests,
    RepetitionCount,
    differences,
)
from fortuna.errors import FortunaError, HealthTestError, ParameterError
from fortuna.generators.secret import Secret

#: Claims of sources: those of ours, the ends of the range, and some between.
CLAIMS: Final = (8.0, 7.9, 6.0, 4.0, 2.0, 1.0, 0.5, 0.3, 0.1, 0.04, 0.01)


def stream(label: str, size: int) -> bytes:
    """Return *size* bytes that depend on *label* alone."""
    return b"".join(sha256(f"{label}:{i}".encode()).digest() for i in range(-(-size // 32)))[:size]


def simulation(seed: int) -> Random:
    """Return a generator that gives the same source in every run."""
    return Random(seed)  # noqa: S311  # it imitates sources and keeps nothing secret


def model_repetition(samples: bytes, cutoff: int) -> int | None:
    """Do the repetition count test as SP 800-90B 4.4.1 writes it, sample by sample."""
    a, b = samples[0] if samples else None, 1
    for index, sample in enumerate(samples[1:], 1):
        if sample == a:
            b += 1
            if b == cutoff:
                return index
        else:
            a, b = sample, 1
    return None


def model_proportion(samples: bytes, cutoff: int) -> int | None:
    """Do the adaptive proportion test as SP 800-90B 4.4.2 writes it, sample by sample."""
    for start in range(0, len(samples), WINDOW):
        a, b = samples[start], 1
        for index in range(start + 1, min(start + WINDOW, len(samples))):
            if samples[index] == a:
                b += 1
            if b >= cutoff:
                return index
    return None


def feed(test: RepetitionCount | AdaptiveProportion, samples: bytes, sizes: list[int]) -> int | None:
    """Feed *samples* in chunks of *sizes*, then the rest, and return the alarm's index in the whole."""
    start = 0
    for stop in (*accumulate(sizes), len(samples)):
        found = test.feed(Secret(samples[start : min(stop, len(samples))]))
        if found is not None:
            return start + found
        start = min(max(start, stop), len(samples))
    return None


def exact_critbinom(n: int, p: float, alpha_bits: int) -> int:
    """Return the smallest k with P(X <= k) >= 1 - alpha, from below and in integers: all is over whole**n."""
    part, whole = p.as_integer_ratio()
    below = 0
    for k in range(n + 1):
        below += comb(n, k) * part**k * (whole - part) ** (n - k)
        if below << alpha_bits >= whole**n * (2**alpha_bits - 1):
            return k
    raise AssertionError


# Streams in which runs and frequent values are common: few values, repeated pieces, single changes.
PIECES = st.tuples(st.binary(min_size=1, max_size=6), st.integers(1, 90)).map(lambda piece: piece[0] * piece[1])
STREAMS = st.lists(PIECES, max_size=30).map(b"".join)
SIZES = st.lists(st.integers(0, 700), max_size=12)


@given(STREAMS, SIZES, st.sampled_from([(8.0, 20), (4.0, 20), (1.0, 20), (8.0, 64), (1.0, 64), (0.1, 64)]))
@example(b"", [0, 0], (8.0, 64))
@settings(deadline=None, max_examples=400)
def test_health_equals_the_model_in_any_chunks(samples: bytes, sizes: list[int], claim: tuple[float, int]) -> None:
    """Both tests give the verdict and the place of the sample by sample procedure, however the stream is cut."""
    repetition, proportion = RepetitionCount(*claim), AdaptiveProportion(*claim)
    assert model_repetition(samples, repetition.cutoff) == feed(repetition, samples, sizes)
    assert model_proportion(samples, proportion.cutoff) == feed(proportion, samples, sizes)


@pytest.mark.parametrize("size", [1, 8, 31, 32, 511, 512, 513, 2048])
def test_health_finds_runs_and_windows_across_chunks(size: int) -> None:
    """Alarms that the model sees, in long streams cut evenly: the property above does compare alarms."""
    seen = set()
    for label in range(40):
        rng = simulation(label)
        samples = bytearray(rng.choices(range(20), k=3000))
        run = rng.randrange(3000)
        samples[run : run + 9] = samples[run : run + 1] * rng.choice([8, 9])
        for kind, model in ((RepetitionCount, model_repetition), (AdaptiveProportion, model_proportion)):
            test = kind(8.0 if kind is RepetitionCount else 3.6)
            expected = model(bytes(samples), test.cutoff)
            assert expected == feed(test, bytes(samples), [size] * (3000 // size))
            seen.add((kind, expected is None))
    assert {(RepetitionCount, True), (RepetitionCount, False), (AdaptiveProportion, True)} <= seen


# Cut-offs.


@pytest.mark.parametrize(
    ("min_entropy", "expected"),
    [(8.0, 9), (7.9, 10), (6.0, 12), (4.0, 17), (2.0, 33), (1.0, 65), (0.5, 129), (0.1, 641), (0.04, 1601)],
)
def test_health_cutoff_of_the_repetition_count(min_entropy: float, expected: int) -> None:
    """C = 1 + ceil(64 / H)."""
    assert expected == RepetitionCount(min_entropy).cutoff
    assert expected == 1 + ceil(Fraction(ALPHA_BITS) / Fraction(min_entropy))


def test_health_cutoff_of_the_standards_example() -> None:
    """The example of SP 800-90B 4.4.1: alpha = 2**-20 and H = 2.0 make 11."""
    assert 11 == RepetitionCount(2.0, 20).cutoff


@pytest.mark.parametrize(("min_entropy", "expected"), [(0.5, 410), (1.0, 311), (2.0, 177), (4.0, 62), (8.0, 13)])
def test_health_cutoff_published_for_the_adaptive_proportion(min_entropy: float, expected: int) -> None:
    """The cut-offs that SP 800-90B 4.4.2 prints for W = 512 and alpha = 2**-20 come out."""
    assert expected == AdaptiveProportion(min_entropy, 20).cutoff


@pytest.mark.parametrize(
    ("oversampling", "expected"),
    [(1, 325), (2, 422), (3, 459), (4, 477), (5, 488), (6, 494), (7, 499), (8, 502), (9, 505), (15, 512)],
)
def test_health_critbinom_of_jitterentropy(oversampling: int, expected: int) -> None:
    """The table of jitterentropy 3.4 comes out: 2 + qbinom(1 - 2**-30, 511, 2**(-1 / osr))."""
    assert expected == 2 + critbinom(511, 1 / oversampling, 30)


@pytest.mark.parametrize("alpha_bits", [20, 40, 64])
@pytest.mark.parametrize("min_entropy", CLAIMS)
def test_health_critbinom_is_exact(min_entropy: float, alpha_bits: int) -> None:
    """Summing the other tail without rounding gives the same."""
    assert exact_critbinom(WINDOW, 2.0**-min_entropy, alpha_bits) == critbinom(WINDOW, min_entropy, alpha_bits)


def test_health_critbinom_has_no_jumps() -> None:
    """Over all claims in steps of 1/64 bit, the cut-off falls as the claim rises."""
    cutoffs = [AdaptiveProportion(step / 64).cutoff for step in range(1, 513)]
    assert sorted(cutoffs, reverse=True) == cutoffs
    assert (WINDOW + 1, 26) == (cutoffs[0], cutoffs[-1])


def test_health_window_of_one_value_below_an_eighth_of_a_bit() -> None:
    """The least claim whose cut-off a window can reach is 64 / 512 bits, and below it the repetition count works."""
    # All of 512 trials: P = 2**(-512 * H), which is alpha at H = 1/8.
    assert WINDOW + 1 == AdaptiveProportion(0.1249).cutoff
    assert WINDOW == AdaptiveProportion(0.1251).cutoff
    assert AdaptiveProportion(0.1).feed(bytes(4 * WINDOW)) is None
    assert 640 == RepetitionCount(0.1).feed(bytes(4 * WINDOW))


@pytest.mark.parametrize("min_entropy", [5e-324, 1e-300, 2.0**-64, 1e-9])
def test_health_tiny_claims_are_harmless(min_entropy: float) -> None:
    """A claim next to nothing makes cut-offs that nothing reaches, and no huge buffer."""
    tests = HealthTests("tiny", min_entropy)
    tests.check(bytes(4096))
    tests.check(bytes(4096))
    assert 8192 == tests.samples


def test_health_ceil_div_is_exact() -> None:
    """A claim a hair above or below one that divides moves the result as it must."""
    assert [8, 9, 9] == [ceil_div(64, claim) for claim in (8.0, 7.999999999999999, 7.2)]
    assert 640 == ceil_div(64, 0.1)  # 0.1 as a float is above a tenth


# At the cut-off.


@pytest.mark.parametrize("min_entropy", [8.0, 4.0, 1.0])
@pytest.mark.parametrize("before", [0, 1, 100])
@pytest.mark.parametrize("more", [-1, 0, 1])
def test_health_repetition_at_the_cutoff(more: int, before: int, min_entropy: float) -> None:
    """A run of C - 1 passes, of C fails at its C-th sample, of C + 1 there as well."""
    test = RepetitionCount(min_entropy)
    samples = bytes([1, 2] * before) + bytes(test.cutoff + more) + b"\1\2"
    expected = None if more < 0 else 2 * before + test.cutoff - 1
    assert expected == test.feed(samples)


@pytest.mark.parametrize("min_entropy", [8.0, 4.0, 1.0])
@pytest.mark.parametrize("more", [-1, 0, 1])
def test_health_proportion_at_the_cutoff(more: int, min_entropy: float) -> None:
    """A first sample that comes C - 1 times in its window passes, C and C + 1 times fail at the C-th."""
    test = AdaptiveProportion(min_entropy)
    others = WINDOW - test.cutoff - more
    samples = b"\0" + bytes(1 + i % 255 for i in range(others)) + bytes(test.cutoff + more - 1)
    assert WINDOW == len(samples)
    expected = None if more < 0 else others + test.cutoff - 1
    assert expected == test.feed(samples)


def test_health_proportion_counts_within_a_window_only() -> None:
    """Samples before and after a window's end do not add up."""
    test = AdaptiveProportion(8.0)
    window = bytes(25) + bytes(1 + i % 255 for i in range(WINDOW - 25))
    assert test.feed(window * 4) is None


@pytest.mark.parametrize(
    ("size", "min_entropy", "allowed"), [(2048, 8.0, 1), (8, 8.0, 1), (7, 8.0, 2), (32, 1.0, 2), (32, 0.1, 20)]
)
def test_health_harvest_repetition_at_the_cutoff(size: int, min_entropy: float, allowed: int) -> None:
    """A harvest of n bytes may come ceil(64 / (n * H)) times in a row and not once more."""
    test = HarvestRepetition(min_entropy)
    harvest = bytes(range(size % 256)) or stream("harvest", size)
    for _ in range(3):
        assert [""] * allowed == [test.feed(harvest) for _ in range(allowed)]
        assert "" == test.feed(harvest[::-1])
    assert [""] * allowed == [test.feed(harvest) for _ in range(allowed)]
    assert f"a harvest of {size} bytes came {allowed + 1} times in a row" == test.feed(harvest)


@pytest.mark.parametrize("more", [-1, 0, 1])
def test_health_harvest_that_repeats_its_beginning(more: int) -> None:
    """At 8 bits a byte, ten bytes of the beginning of 2048 must not come again, nine may."""
    opening = 10 + more
    harvest = bytearray(stream("opening", 2048))
    harvest[1000 : 1000 + opening] = harvest[:opening]
    harvest[1000 + opening] = harvest[opening] ^ 1
    expected = "" if more < 0 else "the first 10 bytes of a harvest came again in it"
    assert expected == HarvestRepetition(8.0).feed(harvest)


# Faults, through all tests.


def verdict(tests: HealthTests, harvests: list[bytes]) -> tuple[int, str]:
    """Return the number of the harvest that fails, from 1, and which test failed; (0, "") if none does."""
    for number, harvest in enumerate(harvests, 1):
        try:
            tests.check(harvest)
        except HealthTestError as error:
            return number, str(error).split(": ")[1]
    return 0, ""


def period(size: int) -> bytes:
    """Return 8192 bytes in which *size* bytes come again and again."""
    return (stream("period", size) * (8192 // size + 1))[:8192]


REPETITION, PROPORTION, HARVEST = "repetition count test", "adaptive proportion test", "harvest repetition test"


@pytest.mark.parametrize(
    ("harvests", "min_entropy", "expected"),
    [
        pytest.param([bytes(2048)], 8.0, (1, REPETITION), id="zeros"),
        pytest.param([b"\xff" * 2048], 8.0, (1, REPETITION), id="ones"),
        pytest.param([b"\x5a" * 2048], 0.04, (1, REPETITION), id="constant-at-little"),
        pytest.param([b"\x5a" * 32] * 99, 8.0, (1, REPETITION), id="constant-short"),
        pytest.param([b"\x5a" * 32] * 99, 0.1, (21, REPETITION), id="constant-short-at-little"),
        pytest.param([b"\x5a"] * 99, 8.0, (9, REPETITION), id="constant-single-bytes"),
        pytest.param([period(2)[:2048]], 8.0, (1, PROPORTION), id="period-2"),
        pytest.param([period(2)[:2048]] * 2, 1.0, (1, HARVEST), id="period-2-at-1"),
        pytest.param([period(32)[:2048]], 8.0, (1, HARVEST), id="period-32"),
        pytest.param([period(33)[:2048]], 8.0, (1, HARVEST), id="period-33"),
        pytest.param([period(2038)[:2048]], 8.0, (1, HARVEST), id="period-2038"),
        pytest.param([period(2039)[:2048]], 8.0, (0, ""), id="period-2039-first"),
        pytest.param([stream("same", 2048)] * 2, 8.0, (2, HARVEST), id="same-harvest"),
        pytest.param([stream("same", 32)] * 2, 8.0, (2, HARVEST), id="same-short-harvest"),
        pytest.param([stream("a", 2048), stream("b", 2048)] * 9, 8.0, (0, ""), id="two-in-turn-unseen"),
        pytest.param([stream(f"good/{i}", 2048) for i in range(100)], 8.0, (0, ""), id="good"),
        pytest.param([stream(f"good/{i}", 32) for i in range(999)], 8.0, (0, ""), id="good-short"),
    ],
)
def test_health_faults(harvests: list[bytes], min_entropy: float, expected: tuple[int, str]) -> None:
    """Each fault is found in the harvest and by the test that the documentation says, or is not."""
    assert expected == verdict(HealthTests("x", min_entropy), harvests)


@pytest.mark.parametrize(("zeros", "is_found"), [(2, False), (20, True)])
def test_health_biased_source(zeros: int, is_found: bool) -> None:
    """A source that gives zero 20 times as often as it claims is found in 64 KiB; twice as often it is not."""
    rng = simulation(2)
    values, weights = range(256), [zeros] + [1] * 255
    harvests = [bytes(rng.choices(values, weights, k=2048)) for _ in range(32)]
    assert is_found == bool(verdict(HealthTests("x", 8.0), harvests)[0])


@pytest.mark.parametrize(("alpha_bits", "min_entropy"), [(8, 8.0), (8, 1.0), (6, 4.0)])
def test_health_false_alarm_rate(alpha_bits: int, min_entropy: float) -> None:
    """A source with exactly the claimed entropy alarms as often as the exact probabilities say, within 5 sigma."""
    rng = simulation(90)
    bits = round(min_entropy)
    windows = 4000
    repetition, proportion = RepetitionCount(min_entropy, alpha_bits), AdaptiveProportion(min_entropy, alpha_bits)
    runs = excesses = 0
    for _ in range(windows):
        samples = bytes(value & (1 << bits) - 1 for value in rng.randbytes(WINDOW))
        proportion.restart()
        excesses += proportion.feed(samples) is not None
        repetition.restart()
        runs += repetition.feed(samples[: repetition.cutoff]) is not None
    p, c = 2.0**-min_entropy, proportion.cutoff
    excess = sum(comb(WINDOW - 1, k) * p**k * (1 - p) ** (WINDOW - 1 - k) for k in range(c - 1, WINDOW))
    for count, probability in ((runs, p ** (repetition.cutoff - 1)), (excesses, excess)):
        assert abs(count - windows * probability) <= 5 * (windows * probability) ** 0.5
    assert excesses
    # The formula counts the first sample as one of W trials, so the rate may exceed alpha, by less than 1/p.
    assert excess < 2.0**-alpha_bits / p


# The whole.


@pytest.mark.parametrize("size", [1, 31, 32, 1023, 1024, 1025, 2048])
def test_health_startup(size: int) -> None:
    """The start-up test is passed with the harvest that brings the 1024th sample."""
    tests = HealthTests("x", 8.0)
    assert not tests.is_started
    for number in range(-(-2048 // size)):
        tests.check(stream(f"startup/{number}", size))
        assert (number + 1) * size == tests.samples
        assert (tests.samples >= STARTUP_SAMPLES) == tests.is_started


def test_health_alarm_begins_anew() -> None:
    """After an alarm nothing of the past counts: neither the samples, nor the run, nor the window, nor the harvest."""
    tests = HealthTests("x", 8.0)
    good = stream("anew", 2048)
    tests.check(good)
    with pytest.raises(HealthTestError):
        tests.check(bytes(9))
    assert (0, False) == (tests.samples, tests.is_started)
    tests.check(bytes(8))
    tests.check(good)
    with pytest.raises(HealthTestError):
        tests.check(good)
    tests.check(good)
    assert tests.is_started


def test_health_empty_harvest_changes_nothing() -> None:
    """No samples are no alarm and end no run."""
    for empty in (b"", Secret()):
        tests = HealthTests("x", 8.0)
        tests.check(bytes(4))
        tests.check(empty)
        with pytest.raises(HealthTestError, match="9 equal bytes in a row, up to byte 9;"):
            tests.check(bytes(5))


def test_health_earlier_alarm_is_told() -> None:
    """Of two alarms in a harvest the message has the earlier one."""
    window = b"".join(b"\0" + bytes([1 + i % 255]) for i in range(50))
    run = b"\7" * 9
    for harvest, test in ((window + run, "adaptive proportion"), (run + window, "repetition count")):
        with pytest.raises(HealthTestError, match=f"^source x: {test} test: "):
            HealthTests("x", 8.0).check(harvest)


def test_health_messages() -> None:
    """A message has source, test, count, place, cut-off, claim and what happens next, and no sample."""
    tests = HealthTests("dice", 8.0)
    tail = "it claims 8 bits a byte; it is not used until 1024 bytes in a row pass"
    with pytest.raises(HealthTestError) as run:
        tests.check(b"\x01" + b"\xab" * 100)
    assert (
        f"source dice: repetition count test: 9 equal bytes in a row, up to byte 10; the cut-off is 9; {tail}"
        == str(run.value)
    )
    with pytest.raises(HealthTestError) as excess:
        tests.check(b"\xab\x01" * 26)
    assert (
        "source dice: adaptive proportion test: the first byte of a window of 512 came 26 times in it, up to byte 51; "
        f"the cut-off is 26; {tail}"
    ) == str(excess.value)
    tests.check(b"\xab" + bytes(range(31)))
    with pytest.raises(HealthTestError) as repetition:
        tests.check(b"\xab" + bytes(range(31)))
    assert f"source dice: harvest repetition test: a harvest of 32 bytes came 2 times in a row; {tail}" == str(
        repetition.value
    )
    assert isinstance(run.value, FortunaError)
    assert isinstance(run.value, RuntimeError)


@pytest.mark.parametrize("min_entropy", [0.0, -1.0, 8.000001, float("nan"), float("inf")])
def test_health_claim_out_of_range(min_entropy: float) -> None:
    """A claim that cannot be tested is refused with what is allowed."""
    with pytest.raises(ParameterError, match=r"source x: min_entropy: got .* allowed is above 0\.0 and at most 8\.0"):
        HealthTests("x", min_entropy)


def test_health_keeps_no_secret_in_sight() -> None:
    """Neither repr nor pickle nor copy shows a sample, and no local variable of an alarm's frames does."""
    tests = HealthTests("x", 8.0)
    marker = b"SECRETSECRETMARK"
    harvest = Secret(stream("sight", 500) + marker + bytes(20))
    with pytest.raises(HealthTestError) as caught:
        tests.check(harvest)
    shown = repr(tests)
    trace = caught.value.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_name == "check":
            shown += repr(trace.tb_frame.f_locals)
        trace = trace.tb_next
    assert "secret bytes" in shown
    assert marker.decode() not in shown
    for act in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="cannot copy or pickle"):
            act(tests)
    assert "<5 secret bytes>" == repr(differences(b"abcde"))
    assert b"" == differences(b"")
