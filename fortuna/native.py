"""The live generator in C: requests go from the caller to a kernel and back without a Python frame.

`random_bytes` and `readinto` are methods of the C type. They look at one attention word, and call
`NativeFortuna._attend` only when it says so: a pull is due, the generator is unseeded or closed, this process was
forked, or it is a forked child. Everything else, pulls, reseeds, lives and forks, is `Fortuna`'s.
"""

from __future__ import annotations

from weakref import proxy

from .core.native_generator import reseed_page
from .errors import NotSeededError
from .generators._native import Generator as NativePage
from .generators.secret import Uncopyable
from .rng import Fortuna

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final, Literal

    from .core.constructions import Construction
    from .parts import Parts
    from .typing import Buffer, WritableBuffer

#: From this interval on, a clock that is a few milliseconds late will do for the pace.
COARSE_INTERVAL_NS: Final = 20_000_000


class NativeShared(Uncopyable):
    """What one life sees of the page: the part of `SharedGenerator` for a K that lives in C.

    The page outlives a life. Each call names the life it is made for, and a life that is over changes nothing.
    """

    __slots__ = ("_construction", "_page", "number")

    def __init__(self, page: NativeFortuna, construction: Construction, number: int) -> None:
        # A proxy: the owner of the page holds this object, and a circle would keep K alive until a garbage collection.
        self._page: NativeFortuna = proxy(page)
        self._construction = construction
        self.number = number
        page._begin_life(number)

    @property
    def is_seeded(self) -> bool:
        """Whether requests are answered."""
        return self._page._report()[0]

    @property
    def requests(self) -> int:
        """Requests served in this life."""
        return self._page._report()[1]

    @property
    def bytes_given(self) -> int:
        """Bytes they gave."""
        return self._page._report()[2]

    @property
    def is_locked(self) -> bool:
        """Whether K is never swapped out."""
        return self._page._report()[4]

    @property
    def is_undumpable(self) -> bool:
        """Whether K is left out of core dumps."""
        return self._page._report()[5]

    def readinto(self, out: WritableBuffer) -> int:
        """Fill *out*; see `Fortuna.readinto`."""
        return self._page.readinto(out)

    def reseed(self, seed: Buffer) -> None:
        """K = key_hash(K || seed), C = C + 1."""
        reseed_page(self._page, self.number, self._construction, seed)

    def wipe(self) -> None:
        """Forget K, if it is still this life's."""
        self._page._wipe(self.number)

    abandon = wipe
    abandon_in_child = wipe

    def __repr__(self) -> str:
        return f"<native generator, {'seeded' if self.is_seeded else 'not seeded'}>"


def life_number(epoch: int) -> int:
    """Return the page's number for the life of a fork epoch: never 0, which is what a wiped page shows."""
    return epoch + 1


class NativeFortuna(NativePage, Fortuna):
    """`Fortuna` with its requests in C; `Fortuna(parts)` makes one where the provider is ``native``."""

    def __init__(self, parts: Parts) -> None:
        keystream = parts.make_keystream
        pace: Literal["coarse", "fine"] = "coarse" if parts.interval_ns >= COARSE_INTERVAL_NS else "fine"
        clock = pace if parts.has_system_clock else parts.clock.monotonic_ns
        NativePage.__init__(
            self,
            keystream.name,
            keystream.kernel,
            clock,
            parts.construction.erases_first,
            parts.generation.view,
            parts.harvest_per_request is not None,
        )
        Fortuna.__init__(self, parts)

    def pull_soon(self) -> None:
        """Have the next request ask for a pull: this process was forked."""
        self._disarm()

    def _make_generator(self, epoch: int) -> NativeShared:
        return NativeShared(self, self._parts.construction, life_number(epoch))

    def _attend(self) -> None:
        """Do what a request found to be due; called by the C type, again and again until the page is armed."""
        life = self._ready()
        generation, restores = life.seal
        if life.generator.is_seeded:
            # A fork since `_ready` has wiped the page or stepped the epoch; either keeps it unarmed.
            if self._is_current(life) and life.is_sealed():
                self._arm(life_number(life.epoch), life.next_pull_ns, generation, restores)
                if not life.is_sealed():
                    self._disarm()  # told of a restore in between, by a signal handler or another thread
        elif self._is_current(life):
            raise NotSeededError("not seeded yet: no source has answered")
