"""`Random`: the methods of the standard library's `random.Random`, each on the generator of the process.

`random.Random` makes everything out of a few primitives, and so does this. All of them are replaced: what was left out
would come from the Mersenne Twister that the standard class carries, without a word.
"""

from __future__ import annotations

import random
import sys
from math import cos, log, pi, sqrt
from operator import index

from . import default

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final, NoReturn, SupportsIndex

    from typing_extensions import Self

    from .rng import Fortuna

#: Bits of the doubles of `random.Random.random`.
DOUBLE_BITS: Final = 53
#: Bytes that one number draws, though it uses 8 at most. Fewer are no quicker, and in C slower; with one size for every
#: number, on both paths, a generator that has given the same numbers has the same state.
DRAWN_SIZE: Final = 32
#: Largest limit of the quick way to an integer below it.
QUICK_LIMIT: Final = 2**32 - 1


class PythonPrimitives:
    """The primitives where the C extension is not in the installation; from the same bytes, the same results."""

    def _generator(self) -> Fortuna:
        raise NotImplementedError

    def _ask(self, n: int) -> bytes:
        """Return *n* bytes of whatever generator a subclass has chosen."""
        given: Any = self._generator().random_bytes(n)
        if not isinstance(given, bytes):
            raise TypeError(f"random_bytes: got a {type(given).__name__}, need bytes")
        if len(given) != n:
            raise ValueError(f"random_bytes: got {len(given)} bytes, need exactly {n} bytes")
        return given

    def _draw(self, bits: int) -> int:
        """Return a number of so many random bits, 1 to 64: the first of what is drawn, the first byte on top."""
        return int.from_bytes(self._ask(DRAWN_SIZE)[:8], "big") >> (64 - bits)

    def random(self) -> float:
        """Return a float x, 0.0 <= x < 1.0, a multiple of 2**-53."""
        return self._draw(DOUBLE_BITS) * 2.0**-DOUBLE_BITS

    def randbytes(self, n: SupportsIndex) -> bytes:
        """Return *n* random bytes; see `fortuna.Fortuna.random_bytes`."""
        return self._generator().random_bytes(n)

    def getrandbits(self, k: SupportsIndex) -> int:
        """Return an integer x, 0 <= x < 2**k."""
        bits = index(k)
        if bits < 0:
            raise ValueError("number of bits must be non-negative")
        if bits >> 3 > sys.maxsize:
            raise OverflowError("k: more bits than a bytes object can hold")
        if bits > 64:
            size = (bits + 7) // 8
            return int.from_bytes(self._ask(size), "big") >> (size * 8 - bits)
        return self._draw(bits) if bits else 0

    def _randbelow(self, n: Any) -> int:
        """Return an integer x, 0 <= x < *n*, each as likely as the others.

        Lemire, "Fast random integer generation in an interval", 2019, for all but huge limits.
        """
        if not (isinstance(n, int) and 0 < n <= QUICK_LIMIT):
            found: int = self._randbelow_with_getrandbits(n)  # type: ignore[attr-defined]  # the standard library's
            return found
        excess = 2**32 % n
        while True:
            product = self._draw(32) * n
            if product % 2**32 >= excess:
                return product >> 32


if TYPE_CHECKING:
    Primitives = PythonPrimitives
else:
    try:
        from .generators._native import random_type
    except ImportError:
        Primitives = PythonPrimitives
    else:
        Primitives = random_type()


class Random(Primitives, random.Random):
    """``random.Random`` on the generator of the process: unpredictable, and neither seeded nor saved.

    Every method of the standard class is there, ``choice``, ``shuffle``, ``sample``, ``gauss`` and all distributions.
    Making one does not boot; the first number does. As many as you like may be made; they share the one generator.

    Parameters
    ----------
    x : object, optional
        Ignored, as by ``random.SystemRandom``.

    Raises
    ------
    NotImplementedError
        From `getstate`, `setstate`, and so from copying and pickling: there is no state of its own.
    FortunaError
        From the methods that draw, as `fortuna.random_bytes` and its first call raise it.

    Notes
    -----
    *Numbers*: ``random()`` has 53 bits, a multiple of 2**-53. Each number is a request of its own, after which its key
    is gone.
    *Threads, signals, forks*: as `fortuna.random_bytes`. Nothing is kept from one number to the next, not even the
    second half of the pair that a normal deviate is made from.
    """

    if not TYPE_CHECKING:  # or a type checker would not look at the arguments that __init__ takes

        def __new__(cls, *_: object, **__: object) -> Self:
            """Make one without a seed for the twister below, for which Python 3.10 would hash the argument."""
            return super().__new__(cls)

    def _generator(self) -> Fortuna:
        return default()

    def seed(self, *args: Any, **kwds: Any) -> None:
        """Do nothing: it cannot be made to repeat itself."""

    def getstate(self) -> NoReturn:
        """Refuse: the state is the process's, and secret."""
        raise NotImplementedError("fortuna.Random has no state of its own to save, copy or pickle")

    def setstate(self, state: object) -> NoReturn:
        """Refuse."""
        raise NotImplementedError("fortuna.Random has no state of its own to restore")

    def gauss(self, mu: float = 0.0, sigma: float = 1.0) -> float:
        """Return a normal deviate (Box and Muller 1958), of which the second half is not kept for the next call."""
        angle = 2.0 * pi * self.random()
        return mu + cos(angle) * sqrt(-2.0 * log(1.0 - self.random())) * sigma
