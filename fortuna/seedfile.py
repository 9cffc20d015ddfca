"""The seed file: 64 secret bytes that carry unpredictability from one boot to the next.

It implements 9.6 of Cryptography Engineering: WriteSeedFile is `SeedFile.save`, UpdateSeedFile is `SeedFile.restart`.
A boot reads the seed, reseeds with it and replaces it on the disk before it gives out a byte, so no two boots that gave
out bytes have read the same seed. Backups and clones can undo that, and a disk that is full or read-only does. For that
reason the seed credits no entropy: it is mixed into a generator that fresh sources have seeded already.

Nothing stays open between two calls: a forked child inherits neither a descriptor nor a lock.
"""

from __future__ import annotations

from .errors import SeedFileCorruptError, SeedFileError, SeedFileLockedError, SeedFilePermissionError
from .generators.secret import Secret
from .generators.undisturbed import Undisturbed
from .seedfile_directory import READ_MAX, SeedDirectory, quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Final

    from .seedfile_system import Files
    from .typing import Clock

#: Bytes of a seed.
SEED_SIZE: Final = 64
#: How long a boot waits for other processes that read and replace the same file; each takes some milliseconds.
LOCK_WAIT_NS: Final = 5_000_000_000
#: Pause between two looks at the lock.
RETRY_SECONDS: Final = 0.01
#: What a failure is called among the sticky flags.
FLAGS: Final = {
    SeedFileCorruptError: "seed_file_corrupt",
    SeedFileLockedError: "seed_file_locked",
    SeedFilePermissionError: "seed_file_unsafe",
    SeedFileError: "seed_file_failed",
}


class SeedFile:
    """The seed file of a live generator: when it is saved, and what went wrong so far.

    Parameters
    ----------
    path : str
        Absolute path of the file.
    files : Files
        The file system.
    clock : Clock
        Monotonic time.
    save_interval_ns : int
        Nanoseconds between two saves.

    Notes
    -----
    Safe for threads and processes: each reading and replacing is done under a lock on the directory. Forks by Python
    code wait meanwhile, and signals of this thread are held back, so that no child is left with the lock. So the
    callables that are handed in neither log nor wait for another thread.
    """

    __slots__ = ("_clock", "_files", "_flags", "_next_save_ns", "_path", "_save_interval_ns")

    def __init__(self, path: str, files: Files, clock: Clock, save_interval_ns: int) -> None:
        self._path = path
        self._files = files
        self._clock = clock
        self._save_interval_ns = save_interval_ns
        self._next_save_ns = clock.monotonic_ns() + save_interval_ns
        self._flags: tuple[str, ...] = ()

    @property
    def flags(self) -> tuple[str, ...]:
        """What went wrong since the boot, in the words of `FLAGS`, for `fortuna.Stats`; it stays."""
        return self._flags

    def is_due(self, now_ns: int) -> bool:
        """Tell whether a save is due."""
        return now_ns >= self._next_save_ns

    def restart(self, reseed: Callable[[Secret], object], draw: Callable[[Secret], object]) -> None:
        """Carry the last boot's unpredictability over: UpdateSeedFile (Cryptography Engineering 9.6.2).

        To be called once, when the sources have seeded the generator and before it answers anybody.

        Parameters
        ----------
        reseed : callable
            Called with what the file holds, where there is one. What is handed over is wiped afterwards.
        draw : callable
            Fills the 64 bytes it is given from the generator; what it gives is the next seed.

        Raises
        ------
        SeedFilePermissionError
            Somebody else may have read, written or chosen the file; it was left as it is, and the boot must end.

        Notes
        -----
        Any other failure is logged once and shown in `flags`, and the boot goes on from the other sources. If the seed
        could not be replaced, the next boot mixes in the same one: the two differ by their other sources only.
        """
        deadline = self._clock.monotonic_ns() + LOCK_WAIT_NS
        try:
            while (failures := self._update(reseed, draw)) is None:
                if self._clock.monotonic_ns() >= deadline:
                    failures = [
                        SeedFileLockedError(
                            f"{quote(self._path)}: other processes held its lock for {LOCK_WAIT_NS / 1e9:g} s; see "
                            "which one is stuck"
                        )
                    ]
                    break
                self._clock.sleep(RETRY_SECONDS)
        except SeedFilePermissionError:
            raise
        except SeedFileError as error:
            failures = [error]
        # After the lock is free: a logger may take its time, and locks of its own.
        for failure in failures:
            self._note(failure)
        self._next_save_ns = self._clock.monotonic_ns() + self._save_interval_ns

    def save(self, draw: Callable[[Secret], object]) -> None:
        """Replace the seed by 64 fresh bytes: WriteSeedFile (Cryptography Engineering 9.6.1).

        To be called when a save `is_due`, and before the generator is closed.

        Parameters
        ----------
        draw : callable
            As in `restart`.

        Notes
        -----
        Where another process holds the lock, nothing is done: it puts a fresh seed there itself. A failure is logged
        once and shown in `flags`; the old seed then stays, and the next save is due at its usual time.
        """
        self._next_save_ns = self._clock.monotonic_ns() + self._save_interval_ns
        fresh = Secret(SEED_SIZE)
        try:
            draw(fresh)
            with Undisturbed(), SeedDirectory(self._path, self._files) as directory:
                if directory.lock():
                    directory.replace(fresh)
        except SeedFileError as error:
            self._note(error)
        finally:
            fresh.wipe()

    def _update(
        self, reseed: Callable[[Secret], object], draw: Callable[[Secret], object]
    ) -> list[SeedFileError] | None:
        """Read, reseed, draw and replace under the lock; return what failed, or ``None`` if somebody else holds it."""
        failures: list[SeedFileError] = []
        fresh = Secret(SEED_SIZE)
        try:
            with Undisturbed(), SeedDirectory(self._path, self._files) as directory:
                if not directory.lock():
                    return None
                try:
                    old = directory.read()
                except SeedFilePermissionError:
                    raise
                except SeedFileError as error:
                    failures.append(error)
                    old = None
                if old is not None:
                    if len(old) != SEED_SIZE or not any(old):
                        failures.append(corruption(self._path, old))
                    reseed(old)
                    old.wipe()
                draw(fresh)
                try:
                    directory.replace(fresh)
                except SeedFileError as error:
                    failures.append(error)
        finally:
            fresh.wipe()
        return failures

    def _note(self, failure: SeedFileError) -> None:
        flag = FLAGS[type(failure)]
        if flag not in self._flags:
            self._flags += (flag,)
            # Imported here because a healthy generator never logs.
            from logging import getLogger

            getLogger("fortuna").warning("seed file, going on from the other sources: %s", failure)

    def __repr__(self) -> str:
        return f"<SeedFile {quote(self._path)}>"


def corruption(path: str, content: Secret) -> SeedFileCorruptError:
    """Return what is wrong with a seed file that holds *content*."""
    more = " or more" if len(content) == READ_MAX else ""
    got = f"{SEED_SIZE} zeros" if len(content) == SEED_SIZE else f"{len(content)} bytes{more}"
    return SeedFileCorruptError(f"{quote(path)}: it holds {got} where a seed has {SEED_SIZE} bytes; mixed in as it is")
