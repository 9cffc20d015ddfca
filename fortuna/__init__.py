"""Fortuna: a cryptographic random generator whose cipher is chosen once, at boot.

>>> import fortuna
>>> token = fortuna.random_bytes(32)

The functions of this module serve the generator of the process, which boots at their first call: from
``$FORTUNA_CONFIG``, else ``/etc/fortuna.toml``, else the built-in defaults. Importing loads almost nothing; every other
name is loaded when it is first used, and using a name does not boot.
"""

from __future__ import annotations

from ._version import __version__
from .generators.undisturbed import Undisturbed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from os import PathLike

    from . import errors, generators, secrets, testing
    from ._boot import Process
    from ._random import Random
    from ._source_report import SourceReport
    from ._stats import Stats
    from ._uuid import uuid4
    from .errors import (
        AlreadyBootedError,
        ClosedError,
        FortunaError,
        HealthTestError,
        NotSeededError,
        ParameterError,
        ProviderUnavailableError,
        RequestTooLargeError,
        SeedFileCorruptError,
        SeedFileError,
        SeedFileLockedError,
        SeedFilePermissionError,
        SelfTestError,
        SourceError,
        TunableError,
    )
    from .rng import Fortuna
    from .typing import Buffer, Overrides, Size, WritableBuffer

__all__ = [
    "AlreadyBootedError",
    "ClosedError",
    "Fortuna",
    "FortunaError",
    "HealthTestError",
    "NotSeededError",
    "ParameterError",
    "ProviderUnavailableError",
    "Random",
    "RequestTooLargeError",
    "SeedFileCorruptError",
    "SeedFileError",
    "SeedFileLockedError",
    "SeedFilePermissionError",
    "SelfTestError",
    "SourceError",
    "SourceReport",
    "Stats",
    "TunableError",
    "__version__",
    "add_event",
    "boot",
    "default",
    "errors",
    "generators",
    "random_bytes",
    "readinto",
    "reseed",
    "secrets",
    "stats",
    "testing",
    "uuid4",
]

#: Where the names are that are loaded when they are first used; the rest are errors.
_HOMES = {
    "Fortuna": ".rng",
    "Random": "._random",
    "SourceReport": "._source_report",
    "Stats": "._stats",
    "uuid4": "._uuid",
}

_process: Process | None = None


def boot(config: str | PathLike[str] | None = None, overrides: Overrides | None = None) -> Fortuna:
    """Boot the generator of this process, once.

    Parameters
    ----------
    config : path, optional
        The TOML file of the tunables. Without it: ``$FORTUNA_CONFIG``, else ``/etc/fortuna.toml``, else the built-in
        defaults.
    overrides : mapping, optional
        Dotted names to values, stronger than the file: ``{"generator.cipher": "chacha20"}``.

    Returns
    -------
    Fortuna
        Seeded. Booting again with the same effective values returns the same object, even after it was closed.

    Raises
    ------
    TunableError
        The file or a value is refused; nothing was booted.
    AlreadyBootedError
        The process, or the parent that multiprocessing started it from, runs with other values.
    ProviderUnavailableError, SelfTestError
        The cipher cannot run here; nothing was booted. There is no fallback to another cipher.
    NotSeededError
        No source answered within ``boot.timeout``; nothing was booted.
    SeedFilePermissionError
        Somebody else may have read, written or chosen the seed file; nothing was booted.

    Notes
    -----
    Safe for threads, signal handlers and forks. Started processes run with the same tunables (`multiprocessing` hands
    them on). The generator is closed when the process exits.
    """
    return _load_process().boot(config, overrides)


def default() -> Fortuna:
    """Return the generator of this process, booting it with the configured tunables at first use.

    Raises
    ------
    TunableError, AlreadyBootedError, ProviderUnavailableError, SelfTestError, NotSeededError, SeedFilePermissionError
        As `boot`, at first use only.
    """
    return (_process or _load_process()).default()


def random_bytes(n: Size, /) -> bytes:
    """Return *n* random bytes of the process's generator; see `Fortuna.random_bytes`."""
    return default().random_bytes(n)


def readinto(buffer: WritableBuffer, /) -> int:
    """Fill *buffer* from the process's generator; see `Fortuna.readinto`."""
    return default().readinto(buffer)


def add_event(source: int, data: Buffer) -> None:
    """Mix an event into the pools of the process's generator; see `Fortuna.add_event`."""
    default().add_event(source, data)


def reseed() -> None:
    """Reseed the process's generator now; see `Fortuna.reseed`."""
    default().reseed()


def stats() -> Stats:
    """Return counts and names of the process's generator; see `Fortuna.stats`."""
    return default().stats()


def _load_process() -> Process:
    """Import what a boot needs, at the first call of a function above."""
    global _process
    with Undisturbed():
        # What a boot will import later, where it could be interrupted; the command line does without the first.
        from . import multiprocess as multiprocess
        from ._boot import process
        from .sources import cpu as cpu

        try:
            from . import native as native
        except ImportError:
            pass  # an installation without the C extension

        _process = process
    return process


# Where the C extension is built, these two go from the caller to a kernel without a Python frame, once booted. The name
# is bound to one object for good, so that ``from fortuna import random_bytes`` gets the fast one, booted or not.
try:
    from .generators._native import FirstCall as _FirstCall
except ImportError:
    pass
else:
    random_bytes = _FirstCall(random_bytes, default)
    readinto = _FirstCall(readinto, default)


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    is_module = name in ("errors", "generators", "secrets", "testing")
    home = f".{name}" if is_module else _HOMES.get(name, ".errors")
    # A thread or a handler may be the first to use the name, and a fork may come meanwhile.
    with Undisturbed(f"{__name__}{home}"):
        module = import_module(home, __name__)
    if is_module:
        return module
    # Kept, so that the next use of the name costs nothing.
    found = globals()[name] = getattr(module, name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
