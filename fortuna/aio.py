"""Random bytes for asyncio, without holding up the event loop.

A short request takes microseconds, less than any way to hand it to a thread, so it is made directly. What may take
longer goes to a thread of the loop: a large request, the first one of a process, which boots, and the first one in a
forked child, which seeds itself. `random_bytes` decides that for each call.

There is no ``readinto`` here: a task that is cancelled has its buffer back while a thread still writes to it.
"""

from __future__ import annotations

from asyncio import to_thread
from operator import index

from . import random_bytes as draw
from ._boot import process

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from .typing import Size

__all__ = ["random_bytes"]

#: Bytes up to which a request is made on the loop's own thread. With a pull, which comes due ten times a second and
#: takes 0.2 to 0.5 ms, it stays under a millisecond down to 40 MB/s, a third of what table-driven AES reaches; the
#: measured providers need 1 to 27 us for it. Handing it to a thread and back costs some 100 us.
DIRECT_MAX: Final = 16_384
#: Providers that are that fast. A plug-in's generator may not be, and ``reference`` needs a millisecond for 64 bytes.
QUICK_PROVIDERS: Final = frozenset(("native", "openssl", "pycryptodome"))


async def random_bytes(n: Size, /) -> bytes:
    """Return *n* random bytes of the process's generator, without blocking the event loop for a millisecond.

    Parameters
    ----------
    n : int
        At least 0; anything with ``__index__``.

    Returns
    -------
    bytes
        Exactly *n* bytes.

    Raises
    ------
    ParameterError, MemoryError, NotSeededError, ClosedError
        As `fortuna.Fortuna.random_bytes`.
    TunableError, AlreadyBootedError, ProviderUnavailableError, SelfTestError, SeedFilePermissionError
        As `fortuna.boot`, at the first call of the process.

    Notes
    -----
    *Threads*: up to 16 KiB are drawn directly, as `fortuna.random_bytes` does. More, the first request of the process
    or of a forked child, and every request to a generator that is not one of the fast providers', run in the loop's
    default executor.
    *Cancellation*: a cancelled call that has reached its thread is finished there and its bytes are dropped; nobody
    else gets them, and the generator is as after any request.
    *Forks*: as everywhere, a child never sees its parent's bytes.
    """
    size = index(n)
    if size <= DIRECT_MAX and is_quick():
        return draw(size)
    return await to_thread(draw, size)


def is_quick() -> bool:
    """Tell whether a short request is answered at once: booted, not just forked, and by a fast provider."""
    live = process.running
    return live is not None and live.is_settled and live._parts.make_keystream.provider in QUICK_PROVIDERS
