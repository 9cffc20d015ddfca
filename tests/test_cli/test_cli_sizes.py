"""Sizes on the command line: suffixes, fractions, exactness, and what is refused."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fortuna.cli.options import build_parser
from fortuna.cli.sizes import SUFFIXES, parse_size

#: Suffix -> factor, written out by hand.
FACTORS: Final = {
    "": 1,
    "B": 1,
    "k": 1024,
    "K": 1024,
    "kiB": 1024,
    "KiB": 1024,
    "kB": 1000,
    "KB": 1000,
    "M": 1048576,
    "MiB": 1048576,
    "MB": 1000000,
    "G": 1073741824,
    "GiB": 1073741824,
    "GB": 1000000000,
    "T": 1099511627776,
    "TiB": 1099511627776,
    "TB": 1000000000000,
    "P": 1125899906842624,
    "PiB": 1125899906842624,
    "PB": 1000000000000000,
    "E": 1152921504606846976,
    "EiB": 1152921504606846976,
    "EB": 1000000000000000000,
}
FORM: Final = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)([A-Za-z]*)")


def model(text: str) -> int | None:
    """Return the size that *text* means by exact fractions, ``None`` for ``inf``; raises ``ValueError``."""
    if text == "inf":
        return None
    match = FORM.fullmatch(text)
    if match is None or match[2] not in FACTORS:
        raise ValueError("form")
    size = Fraction(f"0{match[1]}".removesuffix(".")) * FACTORS[match[2]]
    if size.denominator != 1:
        raise ValueError("fraction of a byte")
    return int(size)


def outcome(function: object, text: str) -> object:
    """Return what *function* makes of *text*, or the class of its error."""
    assert callable(function)
    try:
        return function(text)
    except ValueError:
        return ValueError


@pytest.mark.parametrize("suffix", FACTORS)
def test_every_suffix(suffix: str) -> None:
    """Each suffix multiplies by its factor, alone and with a fraction of a half where that is whole."""
    factor = FACTORS[suffix]
    assert factor == parse_size(f"1{suffix}")
    assert 7 * factor == parse_size(f"7{suffix}")
    assert 0 == parse_size(f"0{suffix}")
    if factor > 1:
        assert 3 * factor // 2 == parse_size(f"1.5{suffix}")


def test_no_other_suffix() -> None:
    """The table of the command and the table of this test have the same suffixes."""
    assert FACTORS == SUFFIXES


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("32", 32),
        ("007", 7),
        ("64k", 65536),
        ("1.5G", 1610612736),
        ("16GiB", 17179869184),
        ("0.5K", 512),
        (".5k", 512),
        ("1.k", 1024),
        ("2.0", 2),
        ("0.001kB", 1),
        ("0.0009765625K", 1),
        ("1.000000000000000001EB", 1000000000000000001),
        ("9007199254740993", 9007199254740993),
        ("0.1MB", 100000),
        ("99999999999E", 99999999999 * 2**60),
    ],
)
def test_exact_sizes(text: str, size: int) -> None:
    """Sizes are exact where a float would round."""
    assert size == parse_size(text)


def test_inf() -> None:
    """``inf`` is no number of bytes but all there are."""
    assert parse_size("inf") is None


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "x", "-1", "+1", "1 k", " 1", "1 ", "1\n", "1_000", "1,5k", "1e3", "1..5k", "1.2.3k", ".", ".k", "k",
        "iB", "1i", "1ib", "1Ki", "1kb", "1KIB", "1m", "1g", "1MK", "1KK", "1kBB", "1Z", "1Y", "1Bk", "0x10", "INF",
        "Inf", "infinity", "infk", "-inf", "nan", "٣", "\uff11", "²", "1²", "1K\0",
    ],
)  # fmt: skip
def test_bad_forms(text: str) -> None:
    """What is no size is refused with what was got and what is allowed."""
    with pytest.raises(ValueError, match=r"allowed is a number of bytes such as 32, 64k, 1\.5G or 16GiB") as caught:
        parse_size(text)
    assert str(caught.value).startswith(f"got {text!r}; ")


@pytest.mark.parametrize(
    ("text", "below", "above"), [("1.5", 1, 2), ("0.3k", 307, 308), ("0.0001kB", 0, 1), ("1.1MiB", 1153433, 1153434)]
)
def test_fraction_of_a_byte(text: str, below: int, above: int) -> None:
    """What is no whole number of bytes is refused and its neighbours are named."""
    with pytest.raises(ValueError, match=f"'{re.escape(text)}'.* whole number of bytes; write {below} or {above}"):
        parse_size(text)


@settings(deadline=None)
@given(whole=st.integers(0, 10**14), fraction=st.text("0123456789", max_size=25), suffix=st.sampled_from([*FACTORS]))
def test_sizes_equal_fractions(whole: int, fraction: str, suffix: str) -> None:
    """Each well-formed size is what exact fractions say, or refused where those are not whole."""
    for text in (f"{whole}{suffix}", f"{whole}.{fraction}{suffix}", f".{fraction}{suffix}"):
        assert outcome(model, text) == outcome(parse_size, text)


@settings(deadline=None, max_examples=500)
@given(st.text("0159.kKMGTPEiBbmu-+ _eninf,", max_size=8))
@example("inf")
@example("1.0iB")
@example("1EiB")
def test_any_text_equals_fractions(text: str) -> None:
    """Any text out of the letters of sizes is taken or refused as the model does."""
    assert outcome(model, text) == outcome(parse_size, text)


@pytest.mark.parametrize("text", ["9" * 41, "0" * 41, "1." + "0" * 40, "9" * 5000, "1" * 5000 + "E"], ids=len)
def test_too_many_digits(text: str) -> None:
    """More than 40 digits are no size; the message is ours, not Python's about its own limit, and short."""
    with pytest.raises(ValueError, match=f"got '{text[:20]}.*allowed is a number of bytes") as caught:
        parse_size(text)
    assert len(str(caught.value)) < 250


def test_forty_digits() -> None:
    """Forty digits are taken."""
    assert 10**40 - 1 == parse_size("9" * 40)
    assert 1024 == parse_size("1." + "0" * 39 + "K")


def test_default_size() -> None:
    """Without ``-n`` the size is 32."""
    assert 32 == build_parser().parse_args([]).size
