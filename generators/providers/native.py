"""Provider ``native``: our own kernels, through the optional C extension.

A kernel is one cipher compiled for one instruction set (generators/_kernels). Which one an instance uses is its own
affair: chosen when it is made, readable as ``kernel``, and never changed.
"""

from __future__ import annotations

from ...errors import SelfTestError
from ..aes256_icm import AES256ICM
from ..base import KeystreamGenerator
from ..chacha import ChaCha8, ChaCha12, ChaCha20, XChaCha8, XChaCha12, XChaCha20
from ..counter import counter_block

try:
    from .. import _native
except ImportError as error:
    # Nobody has such a module, or the package has no such name. Otherwise it is there and fails to load.
    is_absent = isinstance(error, ModuleNotFoundError) or error.name == "fortuna.generators"
    what = "is not in this installation" if is_absent else f"cannot be loaded ({error})"
    raise ImportError(
        f"the C extension {what}; reinstall with a C compiler, FORTUNA_NATIVE=require shows what fails"
    ) from error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing_extensions import Self

    from ...typing import Buffer, WritableBuffer


class Native(KeystreamGenerator):
    """A keystream generator by one of our kernels."""

    __slots__ = ("_keystream", "kernel")

    provider = "native"

    def __init__(self, kernel: str) -> None:
        super().__init__()
        self._keystream = _native.Keystream(self.name, kernel)
        self.kernel = kernel

    @classmethod
    def _kernels(cls) -> tuple[tuple[str, str], ...]:
        return tuple(_native.kernels(cls.name, _native.cpu_features()))

    @classmethod
    def _make(cls, kernel: str) -> Self:
        return cls(kernel)

    @classmethod
    def _test_kernel(cls, kernel: str) -> None:
        wrong = _native.self_test(cls.name, kernel)
        if wrong:
            raise SelfTestError(f"native: kernel {kernel} for {cls.name}: {wrong}; it is not used")

    def _rekey(self, key: Buffer) -> None:
        self._keystream.set_key(key)

    def _fill(self, counter: int, out: WritableBuffer) -> None:
        self._keystream.fill(counter_block(counter), out)

    def _erase(self) -> None:
        self._keystream.wipe()


class NativeAES256ICM(Native, AES256ICM):
    """AES-256-ICM by AES instructions; absent where the processor has none."""

    __slots__ = ()


class NativeChaCha20(Native, ChaCha20):
    """ChaCha20 by vector instructions."""

    __slots__ = ()


class NativeChaCha12(Native, ChaCha12):
    """ChaCha12 by vector instructions."""

    __slots__ = ()


class NativeChaCha8(Native, ChaCha8):
    """ChaCha8 by vector instructions."""

    __slots__ = ()


class NativeXChaCha20(Native, XChaCha20):
    """XChaCha20 by vector instructions."""

    __slots__ = ()


class NativeXChaCha12(Native, XChaCha12):
    """XChaCha12 by vector instructions."""

    __slots__ = ()


class NativeXChaCha8(Native, XChaCha8):
    """XChaCha8 by vector instructions."""

    __slots__ = ()
