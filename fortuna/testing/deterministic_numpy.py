"""NumPy's numbers without chance: a bit generator whose every number follows from its seed."""

from __future__ import annotations

from ..numpy_bits import NumPyBits
from .deterministic import DeterministicFortuna

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..typing import Buffer


class DeterministicBitGenerator(NumPyBits):
    """Feed ``numpy.random.Generator`` with numbers that follow from a seed. Not random: for tests only.

    It gives what a `fortuna.numpy.BitGenerator` would with the same K: the first 32 bytes of a `DeterministicFortuna`
    of that seed. Every further bit generator that `spawn` makes has the next 32.

    Parameters
    ----------
    seed : bytes-like
        At least 1 byte.
    cipher : str
        The keystream generator, as the tunable ``generator.cipher``.
    construction : str
        The edition of Fortuna, as the tunable ``generator.construction``.

    Raises
    ------
    ParameterError
        The seed is empty, or a name unknown.
    ProviderUnavailableError
        The C extension is not in the installation, or has no kernel for *cipher* here.

    Notes
    -----
    *Threads*: as `fortuna.numpy.BitGenerator`; who gets which numbers is then up to chance.
    *Forks*: a child repeats the numbers of its parent. That is what deterministic means.
    *Copies*: copying and pickling raise ``TypeError``; make a second one from the same seed.
    """

    __slots__ = ()

    _source: DeterministicFortuna

    def __init__(self, seed: Buffer, *, cipher: str = "aes256-icm", construction: str = "fsk2010") -> None:
        self._draw_from(DeterministicFortuna(seed, cipher=cipher, construction=construction))

    def _draw_from(self, source: DeterministicFortuna) -> None:
        super().__init__(source, source._keystream, source._rules, is_live=False, is_watched=False)

    def _sibling(self) -> DeterministicBitGenerator:
        sibling = DeterministicBitGenerator.__new__(DeterministicBitGenerator)
        sibling._draw_from(self._source)
        return sibling

    def __repr__(self) -> str:
        return f"<DeterministicBitGenerator: DETERMINISTIC, NOT RANDOM; of {self._source!r}>"
