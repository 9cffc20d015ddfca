"""Boot: build a running generator from tunables. The composition root, and the only place that picks real parts.

A process boots once. The instance, like FreeBSD's choice between AES and ChaCha20, is frozen from then on: no
assignment, edited file or changed environment reaches it.
"""

from __future__ import annotations

import atexit
import os
import time
from _thread import RLock

from .clones import NO_GENERATION, GenerationFile, register_after_restore
from .core.constructions import construction_named
from .errors import AlreadyBootedError, TunableError
from .forks import ForkDetector
from .generators.base import KEY_SIZE
from .generators.registry import resolve
from .generators.undisturbed import Undisturbed
from .parts import Parts, no_seed_file
from .rng import Fortuna
from .shared import free_lock
from .sources.os import OperatingSystem
from .sources.registry import choose
from .tunables_file import load_tunables

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Final

    from .generators.secret import Secret
    from .seedfile import SeedFile
    from .tunables import Tunables
    from .typing import Overrides


class SystemClock:
    """The monotonic clock of the system."""

    __slots__ = ()

    monotonic_ns = staticmethod(time.monotonic_ns)

    def sleep(self, seconds: float, /) -> None:
        """Wait; looked up at each call, because gevent replaces it by one that lets other greenlets run."""
        time.sleep(seconds)


class Process:
    """What is booted in this process. One instance of it exists; tests make others."""

    __slots__ = ("__weakref__", "_booted", "_clone_detectors", "_locks", "_received", "forks")

    def __init__(self, forks: ForkDetector) -> None:
        self.forks = forks
        self._booted: tuple[Tunables, Fortuna] | None = None
        self._locks: dict[int, RLock] = {}
        # What the parent process handed on, looked up once: later the place holds what this process hands on itself.
        self._received: Tunables | None = None
        self._clone_detectors: tuple[str, ...] | None = None
        forks.watch(self)

    @property
    def running(self) -> Fortuna | None:
        """What is booted, or ``None``."""
        return None if self._booted is None else self._booted[1]

    def default(self) -> Fortuna:
        """Return what is booted, or boot with the configured tunables; see `fortuna.default`."""
        return self.running or self.boot(None, None)

    def boot(self, config: str | os.PathLike[str] | None, overrides: Overrides | None) -> Fortuna:
        """Boot, or return what is booted with the same effective values; see `fortuna.boot`."""
        # One lock for each fork epoch, so that a child never waits for a thread it does not have. Re-entrant, so that
        # a signal handler that draws during the first boot boots on its own; whoever finishes first wins.
        with self._locks.setdefault(self.forks.epoch(), RLock()):
            tunables = self._effective(config, overrides)
            running, instance = self._booted or self._publish(
                tunables, build(tunables, self.forks, self._watch_restores())
            )
        if running != tunables:
            raise AlreadyBootedError(
                f"this process is booted already, with other tunables: {differences(running, tunables)}; they are "
                "frozen until it ends"
            )
        return instance

    def abandon(self) -> None:
        """Free the boot's locks in a forked child; called by the at-fork hook."""
        for lock in tuple(self._locks.values()):
            free_lock(lock)

    def after_restore(self) -> None:
        """Replace every K of this process, which other copies restored from the same snapshot hold as well.

        Raises
        ------
        NotSeededError
            The operating system gave no bytes; until it does, no request is answered.
        """
        generators = [inheritor for inheritor in self.forks.inheritors if isinstance(inheritor, Fortuna)]
        for generator in generators:
            generator.mark_restored()
        for generator in generators:
            generator.follow_restore()

    def compare(self, received: Tunables) -> None:
        """Refuse to work where this process booted before its parent's tunables arrived, and with others."""
        if self._booted is not None and self._booted[0] != received:
            for inheritor in self.forks.inheritors:
                if isinstance(inheritor, Fortuna):
                    inheritor.refuse(
                        AlreadyBootedError,
                        "this process booted while its main module was imported, with other tunables than its parent; "
                        'draw no random bytes at import time, or below if __name__ == "__main__":',
                    )

    def pull_soon(self) -> None:
        """Nothing is held here that a fork shares."""

    def _effective(self, config: str | os.PathLike[str] | None, overrides: Overrides | None) -> Tunables:
        from .multiprocess import received_tunables

        if self._booted is None:
            self._received = received_tunables()
        received = self._received
        if received is None:
            return load_tunables(config, overrides, environ=os.environ)
        if config is not None or overrides:
            asked = load_tunables(config, overrides, environ=os.environ)
            if asked != received:
                raise AlreadyBootedError(
                    "the parent process is booted with other tunables, and its children run with the same: "
                    f"{differences(received, asked)}"
                )
        return received

    def _watch_restores(self) -> tuple[str, ...]:
        """Register for the hook of a runtime that restores snapshots, once; return the detectors that are live."""
        if self._clone_detectors is None:
            self._clone_detectors = ("after-restore hook",) if register_after_restore(self.after_restore) else ()
        return self._clone_detectors

    def _publish(self, tunables: Tunables, instance: Fortuna) -> tuple[Tunables, Fortuna]:
        """Make *instance* the process's, unless a boot that interrupted this one has done so, and return what is."""
        from .multiprocess import hand_on

        if self._booted is not None:
            instance.close()
            return self._booted
        self._booted = (tunables, instance)
        hand_on(tunables)
        atexit.register(instance.close)
        return self._booted


def operating_system() -> OperatingSystem:
    """Return the source ``os`` of this machine."""
    return OperatingSystem(getattr(os, "getrandom", None), os.urandom)


def build(tunables: Tunables, forks: ForkDetector, clone_detectors: tuple[str, ...] = ()) -> Fortuna:
    """Build a live generator from real parts and wait for its first seed.

    Raises
    ------
    ProviderUnavailableError, SelfTestError
        The cipher cannot run here, or a source that is a plug-in. There is no fallback to another.
    TunableError
        A file or a source that the tunables name cannot be used.
    SeedFilePermissionError
        Others may have read or written the seed file.
    NotSeededError
        No source answered within ``boot.timeout``; nothing is left behind.
    """
    system = operating_system()
    clock = SystemClock()
    generation = tunables["boot.generation_file"]
    fortuna = Fortuna(
        Parts(
            make_keystream=resolve(
                tunables["generator.cipher"], tunables["generator.provider"], tunables["generator.kernel"]
            ),
            construction=construction_named(tunables["generator.construction"]),
            system=system,
            sources=choose(tunables, system, clock),
            clock=clock,
            has_system_clock=True,
            forks=forks,
            min_pool_size=tunables["reseed.min_pool_size"],
            interval_ns=nanoseconds(tunables["reseed.interval"]),
            health_tests=tunables["entropy.health_tests"],
            harvest_interval_ns=nanoseconds(tunables["entropy.harvest_interval"]),
            harvest_per_request=harvest_per_request(tunables["entropy.per_request"], system),
            make_seed_file=seed_file_maker(
                tunables["seed_file.path"], nanoseconds(tunables["seed_file.save_interval"]), clock
            ),
            generation=GenerationFile(generation) if generation else NO_GENERATION,
            clone_detectors=(*clone_detectors, *(("generation file",) if generation else ())),
            pretend_unseeded=tunables["boot.pretend_unseeded"],
        )
    )
    try:
        fortuna.wait_for_seed(nanoseconds(tunables["boot.timeout"]))
        fortuna.open_to_readers()
    except BaseException:
        fortuna.close()
        raise
    return fortuna


def nanoseconds(seconds: float) -> int:
    """Return *seconds* as a whole number of nanoseconds."""
    return round(seconds * 1_000_000_000)


def harvest_per_request(name: str, system: OperatingSystem) -> Callable[[], Secret] | None:
    """Return what gives the 32 bytes that ``entropy.per_request`` mixes in before each call, or ``None``."""
    if name == "os":
        return lambda: system.read(KEY_SIZE)
    if name == "cpu":
        from .sources.cpu import this_processor

        processor = this_processor()
        if processor.absence:
            raise TunableError(
                f'entropy.per_request: got "cpu", which is absent here: {processor.absence}; choose "os"'
            )
        return processor.harvest
    return None


def seed_file_maker(path: str, save_interval_ns: int, clock: SystemClock) -> Callable[[], SeedFile | None]:
    """Return what makes a seed file for each life."""
    if not path:
        return no_seed_file
    with Undisturbed(f"{__package__}.seedfile", f"{__package__}.seedfile_system"):
        from .seedfile import SeedFile
        from .seedfile_system import SystemFiles

    return lambda: SeedFile(path, SystemFiles(), clock, save_interval_ns)


def differences(running: Tunables, asked: Tunables) -> str:
    """Return the tunables that differ, as ``key: running, asked``."""
    return ", ".join(
        f"{key} is {running[key]!r}, asked for {asked[key]!r}" for key in running if running[key] != asked[key]
    )


#: The one of this process.
process: Final = Process(ForkDetector())
