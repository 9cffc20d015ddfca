"""The contract between Fortuna and the cipher that makes its keystream.

A keystream generator turns a 32-byte key and a 128-bit block counter into bytes, and knows nothing of requests,
reseeds or entropy. Fortuna (Cryptography Engineering 9.4) owns key and counter and decides when to rekey; whoever
implements the nine public members below can be chosen at boot.

Deliberately left out: encryption, nonces, partial-block state. Every call starts on a fresh block, so the position
is the counter and nothing else.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from operator import index

from ..errors import ParameterError
from .secret import Uncopyable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import ClassVar, Final, SupportsIndex

    from ..typing import Buffer, WritableBuffer

KEY_SIZE: Final = 32
COUNTER_BITS: Final = 128
COUNTER_MAX: Final = (1 << COUNTER_BITS) - 1


class KeystreamGenerator(Uncopyable, ABC):
    """Make keystream from a 32-byte key and a 128-bit block counter.

    Subclasses give the four class attributes without a value here and the three methods ``_rekey``, ``_fill`` and
    ``_erase``; checking arguments and stepping the counter is done once, in this class.

    Attributes
    ----------
    name : str
        Registered name, such as ``"aes256-icm"``.
    block_size : int
        Bytes of keystream that one counter value gives.
    key_size : int
        32 bytes, for every generator.
    counter_bits : int
        128, for every generator.
    provider : str
        The library that executes it.
    kernel : str
        The code inside the provider, where the provider lets us see it.

    Notes
    -----
    Single-threaded by contract: the caller holds a lock or owns the instance. An instance is plain memory, so a forked
    child inherits it; the live generator above never lets it be used there.
    """

    __slots__ = ("_is_keyed",)

    name: ClassVar[str]
    block_size: ClassVar[int]
    key_size: ClassVar[int] = KEY_SIZE
    counter_bits: ClassVar[int] = COUNTER_BITS
    provider: ClassVar[str]
    kernel: str
    #: A plug-in's known answers: (counter, keystream as hex) for the key 00 01 .. 1f, which every first use computes.
    #: Those of our own generators stand in one table, `.selftest`.
    _known_answers: ClassVar[tuple[tuple[int, str], ...]] = ()

    def __init__(self) -> None:
        self._is_keyed = False

    def set_key(self, key: Buffer) -> None:
        """Use *key* from the next call on.

        Parameters
        ----------
        key : bytes-like
            Exactly 32 bytes; copied.

        Raises
        ------
        ParameterError
            The length is not 32 bytes; the old key stays.
        BufferError
            *key* is not contiguous; the old key stays.
        """
        # Providers are faster with the bytes themselves than with a view of them, here and below.
        plain = key if isinstance(key, bytes | bytearray) else byte_view(key)
        if len(plain) != KEY_SIZE:
            raise ParameterError(f"key: got {len(plain)} bytes, need exactly {KEY_SIZE} bytes")
        self._rekey(plain)
        self._is_keyed = True

    def keystream_into(self, counter: SupportsIndex, out: WritableBuffer) -> int:
        """Fill *out* with the keystream that starts at block *counter*.

        Parameters
        ----------
        counter : int
            Block number, 0 <= counter < 2**128. Blocks after 2**128 - 1 go on at 0.
        out : writable bytes-like
            Any length, contiguous. The rest of a partial last block is dropped.

        Returns
        -------
        int
            The counter after the last block touched, in 0..2**128 - 1.

        Raises
        ------
        ParameterError
            The counter is out of range, or no key is set; *out* is untouched.
        BufferError
            *out* is read-only or not contiguous; it is untouched.
        """
        start = index(counter)
        if not 0 <= start <= COUNTER_MAX:
            raise ParameterError("counter: out of range; a block counter is an integer in 0..2**128 - 1")
        if not self._is_keyed:
            raise ParameterError(f"{self.name}: no key is set; call set_key(32 bytes) first")
        plain = out if isinstance(out, bytearray) else writable_view(out)
        self._fill(start, plain)
        return (start - (-len(plain) // self.block_size)) & COUNTER_MAX

    def wipe(self) -> None:
        """Forget the key and overwrite what can be overwritten; `set_key` makes the instance usable again."""
        self._is_keyed = False
        self._erase()

    def __repr__(self) -> str:
        # A traceback may show an instance whose constructor was interrupted.
        keyed = "keyed" if getattr(self, "_is_keyed", False) else "no key"
        return f"<{self.name} by {self.provider}, kernel {self.kernel}, {keyed}>"

    @classmethod
    def _kernels(cls) -> tuple[tuple[str, str], ...]:
        """Return the kernels to choose from, best first, each with the reason why it cannot run here, or "".

        A provider that chooses for itself has one, under the name in `kernel`.
        """
        return ((cls.kernel, ""),)

    @classmethod
    def _make(cls, kernel: str) -> KeystreamGenerator:  # noqa: ARG003  # for those with a choice
        """Return an instance that uses *kernel*, one of `_kernels`."""
        return cls()

    @classmethod
    def _test_kernel(cls, kernel: str) -> None:
        """Raise `SelfTestError` where *kernel* fails a test of its own, beyond the known answers of all providers."""

    @abstractmethod
    def _rekey(self, key: Buffer) -> None:
        """Copy the 32 bytes of *key* and drop what was made from the old one."""

    @abstractmethod
    def _fill(self, counter: int, out: WritableBuffer) -> None:
        """Write keystream from block *counter* on over all of *out*; the arguments are checked."""

    @abstractmethod
    def _erase(self) -> None:
        """Overwrite the key."""


def byte_view(buffer: Buffer) -> memoryview:
    """Return *buffer* as a view of single bytes, or raise ``BufferError`` where it is not contiguous."""
    view = memoryview(buffer)
    if not view.c_contiguous:
        raise BufferError("buffer: it is not contiguous; pass bytes or a contiguous view")
    if view.format == "B" and view.ndim == 1:
        return view
    return view.cast("B") if view.nbytes else memoryview(b"")  # an empty view of several dimensions has no cast


def writable_view(buffer: WritableBuffer) -> memoryview:
    """Return *buffer* as a view of writable single bytes, or raise ``BufferError`` saying which property is wrong."""
    view = memoryview(buffer)
    if view.readonly:
        raise BufferError("buffer: it is read-only; pass a bytearray or another writable buffer")
    # Plain bytes, which nearly every buffer is of, need no second look.
    return view if view.format == "B" and view.ndim == 1 and view.c_contiguous else byte_view(view)
