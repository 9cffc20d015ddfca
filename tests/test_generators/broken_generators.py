"""Generators with one fault each, under the conformance kit; test_conformance.py runs this file and reads what fails.

Its name keeps it out of a run of all tests.
"""

from __future__ import annotations

import os
import threading
from hashlib import sha256
from typing import TYPE_CHECKING, Any, ClassVar, Final, NoReturn

import pytest

from fortuna.errors import ParameterError
from fortuna.generators import KeystreamGenerator, Secret
from fortuna.generators.conformance import KeystreamConformance

if TYPE_CHECKING:
    from fortuna.typing import Buffer, WritableBuffer

END: Final = 1 << 128


def block_of(key: Buffer, counter: int) -> bytes:
    """Return one block of the sound generator: SHA-256(key || LE128(C))."""
    return sha256(bytes(key) + (counter % END).to_bytes(16, "little")).digest()


class Sound(KeystreamGenerator):
    """No fault."""

    name = "sound"
    block_size = 32
    provider = "plug-in"
    kernel = "hashlib"
    _known_answers: ClassVar[tuple[tuple[int, str], ...]] = ((0, block_of(bytes(range(32)), 0).hex()),)

    def __init__(self) -> None:
        super().__init__()
        self._key: Any = Secret(32)

    def _rekey(self, key: Buffer) -> None:
        self._key[:] = key

    def _step(self, counter: int, steps: int) -> int:
        return counter + steps

    def _fill(self, counter: int, out: WritableBuffer) -> None:
        for start in range(0, len(out), 32):
            block = block_of(self._key, self._step(counter, start // 32))
            out[start : start + 32] = block[: len(out) - start]

    def _erase(self) -> None:
        self._key.wipe()


class WrapsAt32(Sound):
    """Starts again after 2**32 blocks within a call."""

    def _step(self, counter: int, steps: int) -> int:
        return counter - counter % 2**32 + (counter + steps) % 2**32


class WrapsAt64(Sound):
    """Starts again after 2**64 blocks within a call."""

    def _step(self, counter: int, steps: int) -> int:
        return counter - counter % 2**64 + (counter + steps) % 2**64


class StopsAt128(Sound):
    """Stays at the last counter instead of going on at 0."""

    def _step(self, counter: int, steps: int) -> int:
        return min(counter + steps, END - 1)


class HalfCounter(Sound):
    """Ignores the upper half of the counter."""

    def _step(self, counter: int, steps: int) -> int:
        return (counter + steps) % 2**64


class BigEndian(Sound):
    """Keeps the counter the other way round; everything is consistent but wrong."""

    def _step(self, counter: int, steps: int) -> int:
        return int.from_bytes(((counter + steps) % END).to_bytes(16, "big"), "little")


class Repeating(Sound):
    """Gives each block twice."""

    def _step(self, counter: int, steps: int) -> int:
        return (counter + steps) // 2


class MiscountsParts(Sound):
    """Does not count a partial last block."""

    def keystream_into(self, counter: Any, out: Any) -> int:
        """Count whole blocks alone."""
        super().keystream_into(counter, out)
        return (int(counter) + memoryview(out).nbytes // 32) % END


class DropsParts(Sound):
    """Leaves a partial last block unwritten."""

    def _fill(self, counter: int, out: WritableBuffer) -> None:
        with memoryview(out) as view:
            super()._fill(counter, view[: len(view) - len(view) % 32])


class Overruns(Sound):
    """Writes whole blocks, beyond the end of the output where there is room."""

    def _fill(self, counter: int, out: WritableBuffer) -> None:
        super()._fill(counter, out)
        if isinstance(out, memoryview) and isinstance(out.obj, bytearray):
            out.obj[-1] ^= 1


class Buffers(Sound):
    """Keeps the rest of a partial block and begins the next call with it."""

    rest = b""

    def _fill(self, counter: int, out: WritableBuffer) -> None:
        size = len(out)
        made = bytearray(self.rest)
        for i in range(size // 32 + 1):
            made += block_of(self._key, counter + i)
        out[:] = made[:size]
        self.rest = bytes(made[size : size + 31])


class Mixes(Sound):
    """Encrypts what was in the buffer instead of overwriting it."""

    def _fill(self, counter: int, out: WritableBuffer) -> None:
        old = bytes(out)
        super()._fill(counter, out)
        out[:] = bytes(a ^ b for a, b in zip(old, out, strict=True))


class WrongWhenLong(Sound):
    """Has other code for long calls, with a fault."""

    def _fill(self, counter: int, out: WritableBuffer) -> None:
        super()._fill(counter, out)
        if len(out) > 65536:
            out[65536] ^= 1


class WritesBeforeItChecks(Sound):
    """Clears the output before it looks at the arguments."""

    def keystream_into(self, counter: Any, out: Any) -> int:
        """Clear first."""
        if isinstance(out, bytearray):
            out[:] = bytes(len(out))
        return super().keystream_into(counter, out)


class TakesAnyOutput(Sound):
    """Fills a copy where the output cannot be written to."""

    def keystream_into(self, counter: Any, out: Any) -> int:
        """Copy."""
        return super().keystream_into(counter, out if isinstance(out, bytearray) else bytearray(out))


class TakesAnyCounter(Sound):
    """Reduces the counter instead of refusing."""

    def keystream_into(self, counter: Any, out: Any) -> int:
        """Reduce."""
        return super().keystream_into(counter % END if isinstance(counter, int) else counter, out)


class TakesAnyKey(Sound):
    """Pads or cuts a key of another length."""

    def set_key(self, key: Any) -> None:
        """Pad."""
        super().set_key(bytes(key)[:32].ljust(32, b"\0") if isinstance(key, bytes) else key)


class ShowsRefusedKeys(Sound):
    """Quotes the key in the message about its length."""

    def set_key(self, key: Any) -> None:
        """Quote."""
        if isinstance(key, bytes) and len(key) != 32:
            raise ParameterError(f"key: {key.hex()} has a wrong length")
        super().set_key(key)


class DropsKeyOnRefusal(Sound):
    """Forgets the old key when the new one is refused."""

    def set_key(self, key: Any) -> None:
        """Forget first."""
        self.wipe()
        super().set_key(key)


class IgnoresKeyByte(Sound):
    """Uses 31 bytes of the key."""

    def _rekey(self, key: Buffer) -> None:
        self._key[:] = bytes(key)[:31] + b"\0"


class KeepsFirstKey(Sound):
    """Ignores every key but the first."""

    def _rekey(self, key: Buffer) -> None:
        if not any(self._key):
            super()._rekey(key)


class BorrowsKey(Sound):
    """Keeps the caller's buffer instead of a copy."""

    def _rekey(self, key: Buffer) -> None:
        self._key = key

    def _erase(self) -> None:
        self._key = Secret(32)


class ShowsKey(Sound):
    """Shows the key in its text."""

    def __repr__(self) -> str:
        return f"<sound with {self._key.hex()}>"


class PlainKey(Sound):
    """Keeps the key where an error reporter would print it."""

    def _rekey(self, key: Buffer) -> None:
        self._key = bytearray(key)

    def _erase(self) -> None:
        self._key[:] = bytes(len(self._key))


class HiddenBytes(bytes):
    """Bytes that do not show, but cannot be overwritten either."""

    def __repr__(self) -> str:
        return "<hidden>"


class ImmutableKey(Sound):
    """Keeps the key in an object that cannot be overwritten."""

    def _rekey(self, key: Buffer) -> None:
        self._key = HiddenBytes(key)

    def _erase(self) -> None:
        self._key = Secret(32)


class KeepsKeyOnWipe(Sound):
    """Overwrites nothing."""

    def _erase(self) -> None:
        pass


class WorksAfterWipe(Sound):
    """Goes on after a wipe."""

    def wipe(self) -> None:
        """Do nothing but overwrite."""
        self._erase()


class Copyable(Sound):
    """Can be copied."""

    def __reduce_ex__(self, protocol: Any) -> Any:
        return type(self), ()


class Shared(Sound):
    """Has one key for all instances."""

    everybodys = Secret(32)

    def __init__(self) -> None:
        super().__init__()
        self._key = self.everybodys


class BoundToProcess(Sound):
    """Works in the process that made it alone."""

    def __init__(self) -> None:
        super().__init__()
        self._process = os.getpid()

    def _fill(self, counter: int, out: WritableBuffer) -> None:
        if self._process != os.getpid():
            raise RuntimeError("made in another process")
        super()._fill(counter, out)


class BoundToThread(Sound):
    """Works in the main thread alone."""

    def _fill(self, counter: int, out: WritableBuffer) -> None:
        if threading.current_thread() is not threading.main_thread():
            raise RuntimeError("used in another thread")
        super()._fill(counter, out)


class BytearraysOnly(Sound):
    """Takes no other kind of output."""

    def keystream_into(self, counter: Any, out: Any) -> int:
        """Refuse others."""
        if not isinstance(out, bytearray | memoryview):
            raise TypeError("a bytearray is needed")
        return super().keystream_into(counter, out)


class WithoutAnswers(Sound):
    """Brings no known answers."""

    _known_answers = ()


class WrongAnswers(Sound):
    """Brings known answers of something else."""

    _known_answers = ((0, "00"),)


class PretendsToBeNative(Sound):
    """Says that another provider runs it."""

    provider = "native"


class OtherBlocks(Sound):
    """Has blocks of another size than its author says."""

    block_size = 16


class NoGenerator:
    """Has the methods but not the class."""

    name, block_size, key_size, counter_bits = "sound", 32, 32, 128
    _known_answers = Sound._known_answers

    def __init__(self) -> None:
        self._sound = Sound()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sound, name)

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise TypeError("no copies")


BROKEN: Final[list[Any]] = [*Sound.__subclasses__(), NoGenerator]


class TestBroken(KeystreamConformance):
    """Each of them, by name, and the sound one."""

    double: type[KeystreamGenerator]
    block_size = 32
    vectors = ((b"k" * 32, 2**32 - 1, block_of(b"k" * 32, 2**32 - 1) + block_of(b"k" * 32, 2**32)),)
    long_size = 70_000

    @pytest.fixture(autouse=True, params=[Sound, *BROKEN], ids=lambda double: double.__name__)
    def choose(self, request: pytest.FixtureRequest) -> None:
        """Make each double the one under test."""
        self.double = request.param

    def make(self) -> KeystreamGenerator:
        """Return an instance of the double."""
        return self.double()
