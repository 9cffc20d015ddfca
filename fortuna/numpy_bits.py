"""What NumPy's bit generators have in common here, the live one and the one for tests: C functions and children.

``numpy.random.Generator`` asks nothing of its bit generator but a capsule with a table of C functions and a lock, so
this is no subclass of NumPy's class, whose table nothing in Python can fill: ``isinstance`` says so, and what that
class has besides, ``state``, ``seed_seq``, ``ctypes`` and ``cffi``, is not here.
"""

from __future__ import annotations

from operator import index

import numpy as np

from .errors import ParameterError, ProviderUnavailableError
from .generators.registry import resolve
from .generators.secret import Uncopyable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, SupportsIndex

    from typing_extensions import Self

    from .core.constructions import Construction
    from .generators.choice import Choice
    from .rng import Fortuna
    from .testing.deterministic import DeterministicFortuna

    class NativeBits(np.random.BitGenerator):
        """What type checkers take it for, since NumPy's stubs name a class where its functions ask for a capsule."""

        def __init__(
            self, source: object, cipher: str, kernel: str, erases_first: bool, is_live: bool, is_watched: bool, /
        ) -> None: ...
else:
    try:
        from .generators._native import BitGenerator as NativeBits
    except ImportError:

        class NativeBits:
            """Stands in where the C extension is not in the installation: NumPy takes nothing but C functions."""

            __slots__ = ()

            def __init__(self, *_: object) -> None:
                raise ProviderUnavailableError(
                    "a bit generator for NumPy needs the C extension, which is not in this installation; "
                    "fortuna.numpy.random_u64 and random_double work without it"
                )


class NumPyBits(NativeBits, Uncopyable):  # type: ignore[misc]  # Uncopyable's methods return nothing
    """A K and C for NumPy, drawn from *source* when that is due (generators/_extension/bit_generator.c).

    Parameters
    ----------
    source : Fortuna or DeterministicFortuna
        Gives K. It may have any provider; the numbers are always made by the extension.
    keystream : Choice
        The source's; its cipher is used here too.
    construction : Construction
        The source's; fixes the request rule.
    is_live : bool
        Whether K is replaced when the source is reseeded, and dropped by a forked child.
    is_watched : bool
        Whether the source compares a generation number.

    Raises
    ------
    ProviderUnavailableError
        The extension is not in the installation, or has no kernel for the cipher here.
    """

    __slots__ = ("__weakref__", "_source")

    def __init__(
        self,
        source: Fortuna | DeterministicFortuna,
        keystream: Choice,
        construction: Construction,
        *,
        is_live: bool,
        is_watched: bool,
    ) -> None:
        native = keystream if keystream.provider == "native" else resolve(keystream.name, "native", "auto")
        super().__init__(source, native.name, native.kernel, construction.erases_first, is_live, is_watched)
        self._source = source

    def _sibling(self) -> Self:
        """Return another one with the same source."""
        raise NotImplementedError

    def spawn(self, n_children: SupportsIndex) -> list[Self]:
        """Return *n_children* new ones, each with a K of its own; ``numpy.random.Generator.spawn`` calls it.

        Raises
        ------
        ParameterError
            *n_children* is negative.
        """
        count = index(n_children)
        if count < 0:
            raise ParameterError(f"n_children: got {count}; allowed is 0 or more")
        return [self._sibling() for _ in range(count)]

    # Its overloads are NumPy's.
    def random_raw(self, size: Any = None, output: bool = True) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Return 64-bit numbers, as NumPy's own bit generators do.

        Parameters
        ----------
        size : int or tuple of int, optional
            The shape of an array; without it, one ``int`` is returned.
        output : bool
            Whether to return them; false draws them for the time that takes, and returns ``None``.
        """
        drawn = np.random.Generator(self).integers(0, 2**64, size, dtype=np.uint64)
        if not output:
            return None
        return int(drawn) if size is None else drawn
