"""The generator of `fortuna.core.generator` in C: the same K and C, the same bytes, two hundred times as fast.

K lives on a page of its own that the kernel wipes in a forked child (generators/_extension/page.h). It leaves that page
for a reseed only, whose hash is the standard library's.
"""

from __future__ import annotations

from operator import index

from ..errors import ParameterError
from ..generators._native import Generator as NativePage
from ..generators.base import COUNTER_MAX, KEY_SIZE, byte_view
from ..generators.counter import counter_block
from ..generators.secret import Secret, Uncopyable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..generators.choice import Choice
    from ..typing import Buffer
    from .constructions import Construction


def reseed_page(page: NativePage, life: int, construction: Construction, seed: Buffer) -> None:
    """Reseed (Cryptography Engineering 9.4.2) the K on *page*: K = key_hash(K || seed), C = C + 1.

    K may be replaced by a request while the hash is computed, as other threads and signal handlers go on; then the hash
    is computed again from the new K. Where *life* is over, nothing happens: its owner finds out by itself.
    """
    key = Secret(KEY_SIZE)
    installed: bool | None = False
    while installed is False:
        version, is_seeded = page._export(key)
        new_key = construction.reseed_key(key, seed, is_seeded=is_seeded)
        installed = page._install(life, version, new_key)
        new_key.wipe()
    key.wipe()


class NativeGenerator(NativePage, Uncopyable):
    """Fortuna's generator in C, with the contract of `fortuna.core.Generator`.

    Parameters
    ----------
    keystream : Choice
        A generator by the provider ``native``.
    construction : Construction
        Fixes the key hash and the request rule.
    key, counter
        K and C to start from, as for `fortuna.core.Generator`.

    Notes
    -----
    Safe for threads. In a forked child it is unseeded, where the kernel wipes the page.
    """

    __slots__ = ("_keystream", "construction")

    #: The life that a page without a clock is in.
    LIFE = 1

    def __init__(
        self, keystream: Choice, construction: Construction, *, key: Buffer = bytes(KEY_SIZE), counter: int = 0
    ) -> None:
        initial_key, initial_counter = byte_view(key), index(counter)
        if len(initial_key) != KEY_SIZE:
            raise ParameterError(f"key: got {len(initial_key)} bytes, need exactly {KEY_SIZE} bytes")
        if not 0 <= initial_counter <= COUNTER_MAX:
            raise ParameterError("counter: out of range; it is an integer in 0..2**128 - 1")
        super().__init__(keystream.name, keystream.kernel, None, construction.erases_first)
        self._keystream = keystream
        self.construction = construction
        self._begin_life(self.LIFE)
        self._load(initial_key, counter_block(initial_counter))

    @property
    def is_seeded(self) -> bool:
        """Whether C > 0."""
        return self._report()[0]

    def reseed(self, seed: Buffer) -> None:
        """K = key_hash(K || seed), C = C + 1."""
        self._begin_life(self.LIFE)  # does nothing, but in a forked child, whose page was wiped
        reseed_page(self, self.LIFE, self.construction, seed)

    def wipe(self) -> None:
        """Forget K and C: the generator is unseeded afterwards."""
        self._wipe(self.LIFE)
        self._begin_life(self.LIFE)

    def __repr__(self) -> str:
        seeded = "seeded" if self.is_seeded else "not seeded"
        return f"<native generator {self._keystream!r} {self.construction.name}, {seeded}>"
