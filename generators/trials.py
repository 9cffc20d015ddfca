"""What the conformance kit tries on a keystream generator, and how it looks at one: bytes, attributes, texts."""

from __future__ import annotations

from array import array
from copy import copy, deepcopy
from functools import partial
from pickle import HIGHEST_PROTOCOL, dumps
from types import MemberDescriptorType

from ..errors import ParameterError
from .base import COUNTER_MAX, KEY_SIZE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, Final

    from .base import KeystreamGenerator

#: A key whose bytes stand in no text by chance.
SECRET: Final = bytes((167 * i + 91) % 256 for i in range(KEY_SIZE))

#: Ways to duplicate an instance, by name; all are to be refused.
COPIES: Final[dict[str, Callable[[Any], object]]] = {
    "copy": copy,
    "deepcopy": deepcopy,
    **{f"pickle{p}": partial(dumps, protocol=p) for p in range(HIGHEST_PROTOCOL + 1)},
}
#: By name, what is made of a buffer and passed as output, and the error that must come.
BAD_OUTPUTS: Final[dict[str, tuple[Callable[[bytearray], Any], type[Exception]]]] = {
    "bytes": (bytes, BufferError),
    "read_only_view": (lambda room: memoryview(room).toreadonly(), BufferError),
    "every_other_byte": (lambda room: memoryview(room)[::2], BufferError),
    "reversed": (lambda room: memoryview(room)[::-1], BufferError),
    "text": (lambda room: room.hex(), TypeError),
    "number": (len, TypeError),
    "list": (list, TypeError),
    "none": (lambda room: None, TypeError),  # noqa: ARG005  # one signature for all
}
BAD_COUNTERS: Final[dict[str, tuple[Any, type[Exception]]]] = {
    "below_0": (-1, ParameterError),
    "2**128": (COUNTER_MAX + 1, ParameterError),
    "2**200": (1 << 200, ParameterError),
    "float": (1.0, TypeError),
    "text": ("1", TypeError),
    "none": (None, TypeError),
}
BAD_KEYS: Final[dict[str, tuple[Any, type[Exception]]]] = {
    **{f"{size}_bytes": ((SECRET * 2)[:size], ParameterError) for size in (0, 1, 16, 31, 33, 64)},
    "every_other_byte": (memoryview(SECRET * 2)[::2], BufferError),
    "text": (SECRET.hex(), TypeError),
    "number": (KEY_SIZE, TypeError),
    "none": (None, TypeError),
}


def stream(made: KeystreamGenerator, counter: int, size: int) -> bytes:
    """Return *size* bytes of keystream from block *counter* on."""
    out = bytearray(size)
    made.keystream_into(counter, out)
    return bytes(out)


def same(expected: bytes, got: bytes, what: str) -> None:
    """Assert that two streams of one length are equal, or name the first byte that is not."""
    if expected != got:
        place = next(i for i, (right, wrong) in enumerate(zip(expected, got, strict=True)) if right != wrong)
        raise AssertionError(f"{what}: byte {place} of {len(got)} is {got[place]:02x}, expected {expected[place]:02x}")


def held_by(made: KeystreamGenerator) -> Iterator[Any]:
    """Yield what the instance's attributes hold, in slots or not, and what is in containers there."""
    values = [*getattr(made, "__dict__", {}).values()]
    for cls in type(made).__mro__:
        for member in vars(cls).values():
            if isinstance(member, MemberDescriptorType):
                try:
                    values.append(member.__get__(made))
                except AttributeError:
                    continue  # a slot without a value
    while values:
        value = values.pop()
        yield value
        if isinstance(value, dict):
            values += value.values()
        elif isinstance(value, list | tuple | set):
            values += value


def buffers(made: KeystreamGenerator) -> list[Any]:
    """Return the bytes-like objects among what the instance holds."""
    return [value for value in held_by(made) if isinstance(value, bytes | bytearray | memoryview | array)]


def hidden(text: str) -> None:
    """Assert that *text* shows neither `SECRET` nor its first half: as hex, literal, list, integer or words."""
    for shown in (SECRET, SECRET[: KEY_SIZE // 2]):
        words = [int.from_bytes(shown[i : i + 4], "little") for i in range(0, len(shown), 4)]
        for spelling in (
            shown.hex(),
            shown[::-1].hex(),
            repr(shown)[2:-1],
            str([*shown])[1:-1],
            str(int.from_bytes(shown, "little")),
            str(int.from_bytes(shown, "big")),
            str(words)[1:-1],
        ):
            assert spelling.lower() not in text.lower(), "a text shows the key"
