"""`Random`: the methods of the standard library's `random.Random`, each on the generator of the process.

`random.Random` makes everything out of a few primitives, and so does this. All of them are replaced: what was left out
would come from the Mersenne Twister that the standard class carries, without a word.
"""

from __future__ import annotations

import random
from math import cos, log, pi, sqrt
from operator import index

from . import default

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final, NoReturn, SupportsIndex

    from .rng import Fortuna

#: Bits of the doubles of `random.Random.random`.
DOUBLE_BITS: Final = 53
#: Largest limit of the quick way to an integer below it.
QUICK_LIMIT: Final = 2**32 - 1


class PythonPrimitives:
    """The primitives where the C extension is not in the installation; from the same bytes, the same results."""

    def _generator(self) -> Fortuna:
        raise NotImplementedError

    def random(self) -> float:
        """Return a float x, 0.0 <= x < 1.0, a multiple of 2**-53."""
        bits = int.from_bytes(self.randbytes(7), "big") >> (56 - DOUBLE_BITS)
        return bits * 2.0**-DOUBLE_BITS

    def randbytes(self, n: SupportsIndex) -> bytes:
        """Return *n* random bytes; see `fortuna.Fortuna.random_bytes`."""
        return self._generator().random_bytes(n)

    def getrandbits(self, k: SupportsIndex) -> int:
        """Return an integer x, 0 <= x < 2**k."""
        bits = index(k)
        if bits < 0:
            raise ValueError("number of bits must be non-negative")
        size = (bits + 7) // 8
        return int.from_bytes(self.randbytes(size), "big") >> (size * 8 - bits)

    def _randbelow(self, n: int) -> int:
        """Return an integer x, 0 <= x < *n*, each as likely as the others.

        Lemire, "Fast random integer generation in an interval", 2019, for all but huge limits.
        """
        if not (hasattr(n, "bit_length") and 0 < n <= QUICK_LIMIT):
            found: int = self._randbelow_with_getrandbits(n)  # type: ignore[attr-defined]  # the standard library's
            return found
        excess = 2**32 % n
        while True:
            product = int.from_bytes(self.randbytes(4), "big") * n
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
