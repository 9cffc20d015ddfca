"""Output formats: how bytes are shown.

A format shows a stream piece by piece: what it writes does not depend on where the pieces join. Words and values are
taken from the stream in little-endian order on every machine, so that a seeded stream is the same text everywhere.
"""

from __future__ import annotations

from .status import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Final

    from ..typing import Buffer

#: What hexdump shows of a byte that is no printable ASCII.
PRINTABLE: Final = bytes(byte if 32 <= byte < 127 else ord(".") for byte in range(256))
#: Bytes of a line of hexdump.
LINE_SIZE: Final = 16
#: Bytes of a word -> the letter of its unsigned type to `struct` and `array`.
UNSIGNED: Final = {1: "B", 2: "H", 4: "I", 8: "Q"}
#: Values of the bytes 6 and 8 of a UUID: version 4, and the variant of RFC 9562 (sections 4.1 and 4.2).
VERSION: Final = bytes(0x40 | byte & 0x0F for byte in range(256))
VARIANT: Final = bytes(0x80 | byte & 0x3F for byte in range(256))
#: The doubles k / 2**53, 0 <= k < 2**53, are all that [0, 1) has at equal distances.
DOUBLE_BITS: Final = 53


class Format:
    """One way to show bytes.

    Parameters
    ----------
    name : str
        The value of ``-f``.
    encode : callable
        A piece in, what shows it out. Pieces are whole numbers of units, but for the last.
    unit : int
        Bytes that must be encoded together for pieces to join without a seam.
    is_text : bool
        Whether a terminal can show it; then a newline ends it.

    Attributes
    ----------
    value_size : int
        Bytes of one value, where the stream is shown as values of a fixed size; else 0.
    """

    __slots__ = ("_encode", "is_text", "name", "unit", "value_size")

    def __init__(
        self, name: str, encode: Callable[[memoryview], Buffer], *, unit: int = 1, is_text: bool = True
    ) -> None:
        self.name = name
        self._encode = encode
        self.unit = unit
        self.value_size = 0
        self.is_text = is_text

    def head(self, _size: int, /) -> bytes:
        """Return what comes before a stream of so many bytes; an endless stream has no head."""
        return b""

    def encode(self, piece: memoryview, _start: int, /) -> Buffer:
        """Return what shows *piece*, the bytes of the stream from the given place on."""
        return self._encode(piece)

    def tail(self, _size: int, /) -> bytes:
        """Return what comes after a stream of so many bytes, in front of the newline of a text."""
        return b""

    def newline(self, _size: int, /) -> bytes:
        """Return how the output of a stream of so many bytes ends."""
        return b"\n" if self.is_text else b""


class Words(Format):
    """Raw bytes in words: a whole number of them in every write, turned over where they are to be big-endian."""

    __slots__ = ("_is_big",)

    def __init__(self, word_size: int, *, is_big: bool) -> None:
        super().__init__("raw", as_it_is, unit=word_size, is_text=False)
        self.value_size = word_size
        self._is_big = is_big and word_size > 1

    def encode(self, piece: memoryview, _start: int, /) -> Buffer:
        """Return the words of *piece*."""
        if not self._is_big:
            return piece
        from array import array  # here, because few outputs are turned over

        words = array(UNSIGNED[self.unit])
        words.frombytes(piece)
        words.byteswap()
        return memoryview(words).cast("B")


class Values(Format):
    """Values of a fixed size as text, one a line."""

    __slots__ = ()

    def __init__(self, name: str, encode: Callable[[memoryview], bytes], value_size: int) -> None:
        super().__init__(name, encode, unit=value_size)
        self.value_size = value_size

    def encode(self, piece: memoryview, start: int, /) -> Buffer:
        """Return a newline and a value, again and again, without the newline where no value came before."""
        shown = memoryview(self._encode(piece))
        return shown if start else shown[1:]

    def newline(self, size: int, /) -> bytes:
        """Return the end of the last line, if there is a value in it."""
        return b"\n" if size else b""


class Dieharder(Values):
    """The text that ``dieharder -g 202`` reads: 32-bit values under a head that says how many."""

    __slots__ = ()

    def head(self, size: int, /) -> bytes:
        """Return the three lines that dieharder wants; it takes them without the comments that it writes itself."""
        return b"type: d\ncount: %d\nnumbit: %d\n" % (size // self.value_size, 8 * self.value_size)


class HexDump(Format):
    """Lines as ``hexdump -C`` writes them: offset, 16 bytes, and what of them is ASCII. None is left out."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__("hexdump", as_it_is, unit=LINE_SIZE)

    def encode(self, piece: memoryview, start: int, /) -> bytes:
        """Return the lines of *piece*."""
        lines = []
        for offset in range(0, len(piece), LINE_SIZE):
            line = bytes(piece[offset : offset + LINE_SIZE])
            left, right = line[: LINE_SIZE // 2].hex(" "), line[LINE_SIZE // 2 :].hex(" ")
            lines.append(f"{start + offset:08x}  {left:<23}  {right:<23}  |{line.translate(PRINTABLE).decode()}|\n")
        return "".join(lines).encode()

    def tail(self, size: int, /) -> bytes:
        """Return the line that says where the end is."""
        return b"%08x" % size if size else b""

    def newline(self, size: int, /) -> bytes:
        """Return the end of the last line, if there is one."""
        return b"\n" if size else b""


def as_it_is(piece: memoryview) -> Buffer:
    """Return the bytes themselves."""
    return piece


def encode_hex(piece: memoryview) -> bytes:
    """Return two digits for each byte."""
    from binascii import hexlify

    return hexlify(piece)


def encode_base64(piece: memoryview) -> bytes:
    """Return base64 (RFC 4648 4) without line breaks."""
    from binascii import b2a_base64

    return b2a_base64(piece, newline=False)


def encode_bits(piece: memoryview) -> bytes:
    """Return a digit for each bit, the most significant of each byte first."""
    return f"{int.from_bytes(piece, 'big'):0{8 * len(piece)}b}".encode()


def encode_symbols(piece: memoryview) -> bytes:
    """Return a byte 0x00 or 0x01 for each bit, the most significant of each byte first."""
    return encode_bits(piece).translate(bytes(byte & 1 for byte in range(256)))


def integers(piece: memoryview, size: int) -> tuple[int, ...]:
    """Return the unsigned little-endian integers of *size* bytes."""
    from struct import unpack

    return unpack(f"<{len(piece) // size}{UNSIGNED[size]}", piece)


def decimal(size: int) -> Callable[[memoryview], bytes]:
    """Return what shows unsigned integers of *size* bytes."""

    def encode(piece: memoryview) -> bytes:
        # A list shown by Python itself is a third faster than formatting its values.
        return ("\n" + repr(list(integers(piece, size)))[1:-1].replace(", ", "\n")).encode()

    return encode


def encode_f64(piece: memoryview) -> bytes:
    """Return doubles made of the upper 53 bits of each 64, in 17 digits, which say exactly which double it is."""
    drop, scale = 64 - DOUBLE_BITS, 2.0**-DOUBLE_BITS
    values = [(word >> drop) * scale for word in integers(piece, 8)]
    return b"\n%.17g" * len(values) % tuple(values)


def encode_uuid(piece: memoryview) -> bytes:
    """Return UUIDs of version 4 (RFC 9562 5.4), which show 122 bits of each 128."""
    values = bytearray(piece)
    values[6::16] = values[6::16].translate(VERSION)
    values[8::16] = values[8::16].translate(VARIANT)
    digits = encode_hex(memoryview(values))
    return b"".join(
        b"\n%b-%b-%b-%b-%b" % (text[:8], text[8:12], text[12:16], text[16:20], text[20:])
        for text in (digits[start : start + 32] for start in range(0, len(digits), 32))
    )


FORMATS: Final[dict[str, Format]] = {
    form.name: form
    for form in (
        Format("hex", encode_hex),
        Format("raw", as_it_is, is_text=False),
        Format("base64", encode_base64, unit=3),
        Format("bits", encode_bits),
        Format("symbols", encode_symbols, is_text=False),
        Values("u8", decimal(1), 1),
        Values("u16", decimal(2), 2),
        Values("u32", decimal(4), 4),
        Values("u64", decimal(8), 8),
        Values("f64", encode_f64, 8),
        Values("uuid", encode_uuid, 16),
        Dieharder("dieharder", decimal(4), 4),
        HexDump(),
    )
}


def choose(name: str, word_bits: int | None, endian: str | None) -> Format:
    """Return the format of the options ``-f``, ``--word`` and ``--endian``.

    Raises
    ------
    UsageError
        They do not go together.
    """
    if word_bits is None and endian is None:
        return FORMATS[name]
    if name != "raw":
        raise UsageError(f"--word and --endian: got them with -f {name}; they are for -f raw")
    if word_bits is None:
        raise UsageError(f"--endian {endian}: say of which words, with --word 16, 32 or 64")
    return Words(word_bits // 8, is_big=endian == "big")


def size_of(form: Format, size: int | None, count: int | None) -> int | None:
    """Return how many bytes of the stream the options ``-n`` and ``--count`` ask for, ``None`` for no end.

    Raises
    ------
    UsageError
        They do not go together with the format.
    """
    if count is not None:
        if not form.value_size:
            counted = ", ".join(name for name, other in FORMATS.items() if other.value_size)
            raise UsageError(f"--count: -f {form.name} shows no values; it is for {counted}, and raw with --word")
        return count * form.value_size
    if size is None and isinstance(form, Dieharder):
        raise UsageError("-n inf: dieharder's text says at its head how many values come; name a size, or use -f raw")
    if size is not None and form.value_size and size % form.value_size:
        raise UsageError(
            f"-n: got {size} bytes, which are no whole number of {form.value_size}-byte values; allowed is a multiple "
            f"of {form.value_size}, or --count"
        )
    return size
