"""Random arrays: a bit generator for ``numpy.random.Generator``, and two functions that fill arrays at once.

>>> import numpy as np
>>> from fortuna.numpy import BitGenerator
>>> rng = np.random.Generator(BitGenerator())

All of NumPy's distributions are then made of unpredictable bits, with no seed to choose and none to leak. NumPy comes
with the extra ``numpy``. Importing this module does not boot; the first bit generator or array does.
"""

from __future__ import annotations

from operator import index

import numpy as np

from . import default, readinto
from .errors import ParameterError
from .numpy_bits import NumPyBits
from .rng import Fortuna

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final, SupportsIndex

    from numpy.typing import NDArray

__all__ = ["BitGenerator", "random_double", "random_u64"]

#: Random bits of a double.
DOUBLE_BITS: Final = 53
#: Bytes come from the generator with the least significant of each number first, whatever the machine.
LITTLE_ENDIAN: Final = np.dtype("<u8")


class BitGenerator(NumPyBits):
    """Feed ``numpy.random.Generator`` from a live generator: unpredictable, and neither seeded nor saved.

    It has a K and C of its own, drawn from *generator*, with the same cipher and construction, and keeps at most 8192
    bytes of their keystream in reserve. Each refill replaces K, and each number is zeroed as it is given. A call of
    NumPy's begins with a new K, and drops the reserve, when the live generator was reseeded or is due to be, when the
    machine was restored from a snapshot, and in a forked child.

    Parameters
    ----------
    generator : Fortuna, optional
        Where K comes from. Without one: the generator of the process, which boots if it has not.

    Attributes
    ----------
    capsule : object
        The C functions, under the name that NumPy looks for.
    lock : object
        What NumPy takes for each of its calls: one for all ``numpy.random.Generator`` objects on this one.

    Raises
    ------
    ProviderUnavailableError
        The C extension is not in the installation, or has no kernel for the generator's cipher here.
    ClosedError, NotSeededError
        The generator gives no K. Later, NumPy's calls raise the same, before the first number.
    TypeError
        *generator* is something else, such as a generator for tests.

    Notes
    -----
    *Threads*: all may share one; NumPy's lock lets one call at a time run. For calls side by side, `spawn` one each.
    *Signals*: a handler may draw from the very object whose call it interrupts.
    *Forks*: a child draws a new K before its first number, also if another thread held the lock at the fork.
    *Copies*: copying and pickling raise ``TypeError``, because a copy would repeat the same numbers.
    *Other providers*: K may come from a generator of any provider. Where that is not ``native``, or
    ``entropy.per_request`` is set, each call of NumPy's draws a new K.
    """

    __slots__ = ()

    _source: Fortuna

    def __init__(self, generator: Fortuna | None = None) -> None:
        source = default() if generator is None else generator
        if not isinstance(source, Fortuna):  # pyright: ignore[reportUnnecessaryIsInstance]  # not every caller checks types
            raise TypeError(
                f"generator: got a {type(source).__name__}; pass what fortuna.boot or Fortuna.child returns, or nothing"
            )
        parts = source._parts
        super().__init__(
            source,
            parts.make_keystream,
            parts.construction,
            is_live=True,
            is_watched=parts.generation.view is not None,
        )

    def _sibling(self) -> BitGenerator:
        return BitGenerator(self._source)

    def __repr__(self) -> str:
        return f"<fortuna.numpy.BitGenerator of {self._source!r}>"


def random_u64(n: SupportsIndex) -> NDArray[np.uint64]:
    """Return *n* random 64-bit numbers, straight from the generator of the process.

    Nothing is kept in reserve: the array is the output of `fortuna.readinto`, least significant byte first.

    Raises
    ------
    ParameterError
        *n* is negative.
    MemoryError
        The array does not fit into memory; nothing was drawn.
    FortunaError
        As `fortuna.readinto` and its first call raise it.
    """
    count = index(n)
    if count < 0:
        raise ParameterError(f"n: got {count}; allowed is 0 or more")
    return _fill((count,))


def random_double(shape: SupportsIndex | tuple[SupportsIndex, ...]) -> NDArray[np.float64]:
    """Return an array of random doubles x, 0.0 <= x < 1.0, multiples of 2**-53.

    Each is made of the upper 53 bits of a number as `random_u64` gives it.

    Parameters
    ----------
    shape : int or tuple of int
        Each at least 0.

    Raises
    ------
    ParameterError
        A dimension is negative.
    MemoryError, FortunaError
        As `random_u64`.
    """
    sizes = tuple(index(size) for size in (shape if isinstance(shape, tuple) else (shape,)))
    if min(sizes, default=0) < 0:
        raise ParameterError(f"shape: got {sizes}; allowed is 0 or more in each dimension")
    bits = _fill(sizes)
    bits >>= np.uint64(64 - DOUBLE_BITS)
    # Where the bits were, so that they do not stay in memory beside the numbers made of them.
    doubles = bits.view(np.float64)
    np.multiply(bits, 2.0**-DOUBLE_BITS, out=doubles)
    return doubles


def _fill(shape: tuple[int, ...]) -> NDArray[np.uint64]:
    array = np.empty(shape, LITTLE_ENDIAN)
    readinto(array.data)
    return array.astype(np.uint64, copy=False)
