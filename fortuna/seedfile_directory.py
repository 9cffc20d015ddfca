"""The directory of a seed file: opened, found to be ours alone, and locked, for as long as a context lasts.

All checks are made on opened descriptors and all names are looked up in the opened directory, so nothing can be
exchanged between a check and its use. What is checked is what stands at the path itself; whoever may rename the
directories above it can take the seed file away, but cannot put one there that belongs to us.

The lock is on the directory, because the file is another one after each replacement. It is held for one reading and
replacing and never longer, so any number of processes share a seed file.
"""

from __future__ import annotations

import errno
import os
import stat

from .errors import SeedFileError, SeedFileLockedError, SeedFilePermissionError
from .generators.secret import Secret, Uncopyable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Final

    from typing_extensions import Self

    from .seedfile_system import Files

#: A file that holds more is not read to its end; what is there is mixed in.
READ_MAX: Final = 4096
#: What is added to the name of the seed file to name the next one while it is being written.
TEMPORARY: Final = ".new"
DIRECTORY_MODE: Final = 0o700
FILE_MODE: Final = 0o600
#: Nothing is opened through a link or kept by another program. O_NONBLOCK: opening a FIFO must not wait for its writer.
DIRECTORY_FLAGS: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
READ_FLAGS: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
WRITE_FLAGS: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
#: What a shell takes as it stands, besides letters and digits.
PLAIN: Final = dict.fromkeys(map(ord, "/._-+,:@%="))


class SeedDirectory(Uncopyable):
    """The directory of one seed file, as a context that opens and checks it and at its end unlocks and closes it.

    Parameters
    ----------
    path : str
        Absolute path of the seed file. Its directory is created with mode 0700 where it is missing; the one above must
        exist.
    files : Files
        The file system.

    Raises
    ------
    SeedFilePermissionError
        On entering: the directory is a symbolic link, none at all, another user's or open to others.
    SeedFileError
        On entering: it cannot be opened or created.
    """

    __slots__ = ("_descriptor", "_directory", "_files", "_is_locked", "_name", "_path")

    def __init__(self, path: str, files: Files) -> None:
        self._path = path
        directory, _, self._name = path.rpartition("/")
        # A link with one of these behind it would be followed without a word.
        while directory.endswith(("/", "/.")):
            directory = directory[:-1]
        self._directory = directory or "/"
        self._files = files
        self._is_locked = False

    def __enter__(self) -> Self:
        try:
            self._descriptor = self._open(self._directory, self._directory, DIRECTORY_FLAGS)
        except FileNotFoundError:
            self._descriptor = self._create()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            if self._is_locked:
                # Closing would do, but for a child that C code forked meanwhile: it holds a copy of the descriptor.
                self._files.unlock(self._descriptor)
        except OSError:
            pass  # closing gives it back as well
        finally:
            self._files.close(self._descriptor)

    def lock(self) -> bool:
        """Take the lock unless somebody holds it, and tell whether it was taken.

        Raises
        ------
        SeedFileLockedError
            There are no locks here, as on some network file systems.
        """
        try:
            self._files.lock(self._descriptor)
        except BlockingIOError:
            return False
        except OSError as error:
            raise SeedFileLockedError(
                f"{quote(self._directory)}: cannot be locked: {error.strerror}; name a place on a local file system in "
                "seed_file.path"
            ) from error
        self._is_locked = True
        return True

    def read(self) -> Secret | None:
        """Return what the file holds, at most 4096 bytes of it; ``None`` where there is no file yet.

        Raises
        ------
        SeedFilePermissionError
            The file is a symbolic link, no regular file, another user's or open to others.
        SeedFileError
            It cannot be opened or read.
        """
        try:
            descriptor = self._open(self._path, self._name, READ_FLAGS, self._descriptor)
        except FileNotFoundError:
            return None
        content = Secret()
        try:
            try:
                while len(content) < READ_MAX and (piece := self._files.read(descriptor, READ_MAX - len(content))):
                    content += piece
            finally:
                self._files.close(descriptor)
        except OSError as error:
            content.wipe()
            raise SeedFileError(
                f"{quote(self._path)}: cannot be read: {error.strerror}; mend it, or name another place in "
                "seed_file.path"
            ) from error
        return content

    def replace(self, seed: Secret) -> None:
        """Put a file that holds *seed* in the place of the old one, on the disk, at once or not at all.

        What a writer left behind that was killed is removed first; nobody else writes, because of the lock.

        Raises
        ------
        SeedFileError
            It could not be done. The old file is there as it was; only where the failure was in writing the directory
            back, it may be the new one already.
        """
        files, here = self._files, self._descriptor
        temporary = self._name + TEMPORARY
        try:
            self._discard(temporary)
            try:
                self._write(temporary, seed)
                files.rename(temporary, self._name, src_dir_fd=here, dst_dir_fd=here)
            except BaseException:
                self._discard(temporary)
                raise
            files.fsync(here)
        except OSError as error:
            raise SeedFileError(
                f"{quote(self._path)}: cannot be replaced: {error.strerror}; mend it, or name another place in "
                "seed_file.path"
            ) from error

    def _create(self) -> int:
        """Create the directory, unless another process does it at this very moment, and return it opened."""
        try:
            try:
                self._files.mkdir(self._directory, DIRECTORY_MODE)
            except FileExistsError:
                pass
            return self._open(self._directory, self._directory, DIRECTORY_FLAGS)
        except SeedFileError:
            raise
        except OSError as error:
            raise SeedFileError(
                f"{quote(self._directory)}: cannot be created: {error.strerror}; create it with mode 0700, or name "
                "another place in seed_file.path"
            ) from error

    def _open(self, path: str, name: str, flags: int, directory: int | None = None) -> int:
        """Open *name* and return the descriptor if what it leads to is ours alone; *path* is for messages.

        Raises ``FileNotFoundError`` where there is nothing.
        """
        files = self._files
        try:
            descriptor = files.open(name, flags, dir_fd=directory)
            try:
                objection = object_to(path, files.fstat(descriptor), flags, files.geteuid())
                if objection:
                    raise SeedFilePermissionError(objection)
            except BaseException:
                files.close(descriptor)
                raise
        except (FileNotFoundError, SeedFileError):
            raise
        except OSError as error:
            raise self._refusal(path, name, flags, directory, error) from error
        return descriptor

    def _refusal(self, path: str, name: str, flags: int, directory: int | None, error: OSError) -> SeedFileError:
        """Return why *name* could not be opened. The name is looked at once more, for the message alone."""
        user = self._files.geteuid()
        try:
            status = self._files.stat(name, dir_fd=directory, follow_symlinks=False)
        except OSError:
            objection = ""
        else:
            objection = object_to(path, status, flags, user)
        if objection:
            return SeedFilePermissionError(objection)
        if error.errno in (errno.EACCES, errno.EPERM):
            return SeedFilePermissionError(
                f"{quote(path)}: user {user} may not open it; chmod {allowed_mode(flags):o} {quote(path)}, and let "
                "that user search the directories above it"
            )
        return SeedFileError(
            f"{quote(path)}: cannot be opened: {error.strerror}; mend it, or name another place in seed_file.path"
        )

    def _write(self, name: str, seed: Secret) -> None:
        descriptor = self._files.open(name, WRITE_FLAGS, FILE_MODE, dir_fd=self._descriptor)
        try:
            with memoryview(seed) as view:
                start = 0
                while start < len(view):
                    written = self._files.write(descriptor, view[start:])
                    if not written:
                        raise OSError(errno.EIO, "0 bytes were written")
                    start += written
            self._files.fsync(descriptor)
        finally:
            # Some file systems report only here that nothing was stored; then nothing is renamed.
            self._files.close(descriptor)

    def _discard(self, name: str) -> None:
        try:
            self._files.unlink(name, dir_fd=self._descriptor)
        except OSError:
            pass  # mostly there is none; one that cannot be removed makes the creation fail, with a better reason


def object_to(path: str, status: os.stat_result, flags: int, user: int) -> str:
    """Return why what was opened with *flags* cannot be trusted with a seed, and what mends it; empty if it can be."""
    name, mode = quote(path), status.st_mode
    is_directory = bool(flags & os.O_DIRECTORY)
    # The directory may be a public one, whose mode and owner must stay: the mistake is then to keep the seed there.
    place = " if nothing else is in it, or name a directory of its own in seed_file.path" if is_directory else ""
    if stat.S_ISLNK(mode):
        return (
            f"{name}: it is a symbolic link, which can be made to lead elsewhere; name in seed_file.path what "
            f"readlink -f {name} prints"
        )
    if not (stat.S_ISDIR(mode) if is_directory else stat.S_ISREG(mode)):
        what = "directory" if is_directory else "regular file"
        return f"{name}: it is no {what}; name another place in seed_file.path"
    if status.st_uid != user:
        return (
            f"{name}: it belongs to user {status.st_uid}; allowed is user {user}, who runs this; chown {user} {name}"
            f"{place}"
        )
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        allowed = allowed_mode(flags)
        return (
            f"{name}: its mode is {stat.S_IMODE(mode):04o}, open to its group or to others; allowed is {allowed:04o}; "
            f"chmod {allowed:o} {name}{place}"
        )
    return ""


def allowed_mode(flags: int) -> int:
    """Return the mode that is right for what is opened with *flags*."""
    return DIRECTORY_MODE if flags & os.O_DIRECTORY else FILE_MODE


def quote(path: str) -> str:
    """Return *path* as a shell takes it, on one line."""
    # The standard shlex would do the first two; it costs the import of a regular expression.
    if path.isascii() and path.translate(PLAIN).isalnum():
        return path
    if path.isprintable():
        return "'" + path.replace("'", "'\\''") + "'"
    return "$'" + "".join(chr(b) if chr(b).isalnum() and b < 128 else f"\\x{b:02x}" for b in path.encode()) + "'"
