"""Sizes as people write them, with the suffixes of GNU's tools."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

#: Suffix -> bytes: K = KiB = 1024 and kB = KB = 1000, and so on up to E.
SUFFIXES: Final[dict[str, int]] = {"": 1, "B": 1}
for _power, _letter in enumerate("KMGTPE", 1):
    for _name in (_letter, _letter.lower()) if _letter == "K" else (_letter,):
        SUFFIXES[_name] = SUFFIXES[f"{_name}iB"] = 1024**_power
        SUFFIXES[f"{_name}B"] = 1000**_power

#: More than any size has, and fewer than Python takes amiss.
DIGITS_MAX: Final = 40

ALLOWED: Final = (
    "a number of bytes such as 32, 64k, 1.5G or 16GiB (K, M, G, T, P, E are powers of 1024, "
    "KB, MB, ... powers of 1000), or inf"
)


def parse_size(text: str) -> int | None:
    """Return the number of bytes that *text* means, or ``None`` for ``inf``.

    The arithmetic is exact: ``1.5G`` is 1610612736 bytes, and what is no whole number of bytes is refused.

    Raises
    ------
    ValueError
        *text* is no such size; the message says what is allowed.
    """
    if text == "inf":
        return None
    number = text.rstrip("".join(SUFFIXES))
    whole, _, fraction = number.partition(".")
    digits = whole + fraction
    factor = SUFFIXES.get(text[len(number) :])
    if factor is None or not digits.isascii() or not digits.isdigit() or len(digits) > DIGITS_MAX:
        raise ValueError(f"got {text[:DIGITS_MAX]!r}; allowed is {ALLOWED}")
    scale: int = 10 ** len(fraction)
    size, rest = divmod(int(digits) * factor, scale)
    if rest:
        raise ValueError(f"got {text!r}, which is no whole number of bytes; write {size} or {size + 1}")
    return size
