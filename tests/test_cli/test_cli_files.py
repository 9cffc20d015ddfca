"""``-o FILE``: what is created and with which mode, what is refused, what ``--force`` does, and full targets."""

from __future__ import annotations

import errno
import os
import resource
import stat
import threading
from typing import TYPE_CHECKING, Any

import pytest

from .cli_support import PIECE, ScriptedFortuna, complaint, launch, raiser, run_here, scripted

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("script")

needs_dev_full = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="only Linux has /dev/full")  # noqa: PTH110


def mode_of(path: Path) -> int:
    """Return the permission bits of *path* itself."""
    return stat.S_IMODE(path.lstat().st_mode)


@pytest.mark.parametrize("options", [(), ("--force",)], ids=["plain", "force"])
def test_new_file(tmp_path: Path, umask: int, options: tuple[str, ...]) -> None:
    """A new file gets the bytes and mode 0600 whatever the umask, and nothing goes to standard output."""
    path = tmp_path / "new"
    assert (0, b"", "") == run_here("-n", "1000", "-f", "raw", "-o", str(path), *options)
    assert scripted(1000) == path.read_bytes()
    assert 0o600 == mode_of(path)


def test_new_file_of_text(tmp_path: Path) -> None:
    """A file of hex ends with a newline, as standard output does."""
    assert 0 == run_here("-o", str(tmp_path / "new")).status
    assert f"{scripted(32).hex()}\n".encode() == (tmp_path / "new").read_bytes()


def test_dash_is_standard_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``-o -`` writes to standard output and makes no file of that name; raw bytes stay off a terminal."""
    monkeypatch.chdir(tmp_path)
    assert (0, scripted(1000), "") == run_here("-n", "1000", "-f", "raw", "-o", "-")
    assert 2 == run_here("-f", "raw", "-o", "-", is_terminal=True).status
    assert [] == list(tmp_path.iterdir())


def test_existing_file_is_refused(tmp_path: Path, script: list[ScriptedFortuna]) -> None:
    """An existing file is left as it is, and the message names the file and ``--force``."""
    path = tmp_path / "old"
    path.write_bytes(b"precious")
    path.chmod(0o644)
    outcome = run_here("-o", str(path))
    assert 2 == outcome.status
    assert f"-o {path}: the file exists; --force overwrites it" == complaint(outcome)
    assert b"precious" == path.read_bytes()
    assert 0o644 == mode_of(path)


def test_force_truncates_and_sets_the_mode(tmp_path: Path, umask: int) -> None:
    """``--force`` leaves nothing of a longer old file, and takes the others' right to read it."""
    path = tmp_path / "old"
    path.write_bytes(b"x" * 5000)
    path.chmod(0o666)
    assert (0, b"", "") == run_here("-n", "10", "-f", "raw", "-o", str(path), "--force")
    assert scripted(10) == path.read_bytes()
    assert 0o600 == mode_of(path)


def test_mode_is_set_before_the_first_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No byte is written while others may still read the file."""
    path = tmp_path / "old"
    path.touch(mode=0o666)
    path.chmod(0o666)
    modes: list[int] = []
    real = os.write

    def write(descriptor: int, data: Any) -> int:
        modes.append(stat.S_IMODE(os.fstat(descriptor).st_mode))
        return real(descriptor, data)

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", write)
        status = run_here("-f", "raw", "-o", str(path), "--force").status
    assert (0, [0o600]) == (status, modes)


@pytest.mark.parametrize("options", [(), ("--force",)], ids=["plain", "force"])
def test_fifo(tmp_path: Path, options: tuple[str, ...]) -> None:
    """A FIFO is written to without ``--force`` and keeps its mode."""
    path = tmp_path / "fifo"
    os.mkfifo(path, 0o644)
    path.chmod(0o644)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(path.read_bytes()), daemon=True)
    reader.start()
    assert (0, b"", "") == run_here("-n", str(PIECE), "-f", "raw", "-o", str(path), *options)
    reader.join()
    assert [scripted(PIECE)] == got
    assert 0o644 == mode_of(path)


@pytest.mark.parametrize("options", [(), ("--force",)], ids=["plain", "force"])
def test_dev_null(options: tuple[str, ...]) -> None:
    """A character device is written to without ``--force`` and keeps its mode."""
    before = os.stat(os.devnull).st_mode
    assert (0, b"", "") == run_here("-n", "1M", "-f", "raw", "-o", os.devnull, *options)
    assert before == os.stat(os.devnull).st_mode


@needs_dev_full
@pytest.mark.parametrize("options", [(), ("--force",)], ids=["plain", "force"])
def test_dev_full(options: tuple[str, ...]) -> None:
    """A full device is an error that names the target and what was written."""
    outcome = run_here("-n", "1M", "-f", "raw", "-o", "/dev/full", *options)
    assert 1 == outcome.status
    assert "/dev/full: No space left on device after 0 bytes written" == complaint(outcome)


@needs_dev_full
@pytest.mark.parametrize("arguments", [(), ("--help",), ("--version",), ("--list",), ("--tunables",)], ids=" ".join)
def test_full_standard_output(arguments: tuple[str, ...]) -> None:
    """A full standard output is exit code 1 and one line, whatever was to be written."""
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        outcome = launch(*arguments, stdout=full)
    assert 1 == outcome.status
    assert "standard output: No space left on device after 0 bytes written" == complaint(outcome)


def test_full_disk(tmp_path: Path) -> None:
    """A file that cannot grow any further is exit code 1 with its name and the bytes that it took."""
    limit = 2 * PIECE + 1000
    path = tmp_path / "new"
    outcome = launch(
        *("-n", "4M", "-f", "raw", "-o", str(path)),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )
    assert 1 == outcome.status
    assert f"{path}: {os.strerror(errno.EFBIG)} after {limit} bytes written" == complaint(outcome)
    assert limit == path.stat().st_size


@pytest.mark.parametrize("options", [(), ("--force",)], ids=["plain", "force"])
def test_folder(tmp_path: Path, options: tuple[str, ...]) -> None:
    """A folder is refused as one: no option can write into it, so none is offered."""
    outcome = run_here("-o", str(tmp_path), *options)
    assert 2 == outcome.status
    message = complaint(outcome)
    assert str(tmp_path) in message
    assert "folder" in message
    assert "--force" not in message
    assert [] == [*tmp_path.iterdir()]


@pytest.mark.parametrize("options", [(), ("--force",)], ids=["plain", "force"])
def test_missing_folder(tmp_path: Path, options: tuple[str, ...]) -> None:
    """A file in a folder that does not exist is exit code 1, and no folder is made."""
    path = tmp_path / "absent" / "new"
    outcome = run_here("-o", str(path), *options)
    assert 1 == outcome.status
    assert f"{path}: No such file or directory; nothing was written" == complaint(outcome)
    assert [] == [*tmp_path.iterdir()]


def test_empty_name() -> None:
    """An empty name is refused and nothing goes to standard output instead."""
    outcome = run_here("-o", "")
    assert outcome.status in (1, 2)
    complaint(outcome)


def test_symbolic_link_is_refused(tmp_path: Path) -> None:
    """Without ``--force`` a link to a file is refused as that file would be."""
    target, link = tmp_path / "target", tmp_path / "link"
    link.symlink_to(target)
    target.write_bytes(b"precious")
    outcome = run_here("-o", str(link))
    assert 2 == outcome.status
    assert f"-o {link}: the file exists; --force overwrites it" == complaint(outcome)
    assert b"precious" == target.read_bytes()


@pytest.mark.parametrize("options", [(), ("--force",)], ids=["plain", "force"])
def test_dangling_link_is_refused(tmp_path: Path, options: tuple[str, ...]) -> None:
    """No file is created behind a link that leads nowhere: somebody else may have chosen the place."""
    target, link = tmp_path / "target", tmp_path / "link"
    link.symlink_to(target)
    outcome = run_here("-o", str(link), *options)
    assert outcome.status in (1, 2)
    assert str(link) in complaint(outcome)
    assert [link] == [*tmp_path.iterdir()]


def test_symbolic_link_with_force(tmp_path: Path) -> None:
    """With ``--force`` the file behind a link is overwritten and closed to others, and the link stays."""
    target, link = tmp_path / "target", tmp_path / "link"
    link.symlink_to(target)
    target.write_bytes(b"x" * 100)
    target.chmod(0o644)
    assert (0, b"", "") == run_here("-f", "raw", "-o", str(link), "--force")
    assert link.is_symlink()
    assert scripted(32) == target.read_bytes()
    assert 0o600 == mode_of(target)


def test_symbolic_link_to_a_device(tmp_path: Path) -> None:
    """A link to a device is followed: writing there destroys nothing."""
    link = tmp_path / "link"
    link.symlink_to(os.devnull)
    assert (0, b"", "") == run_here("-o", str(link))
    assert link.is_symlink()


@pytest.mark.parametrize("moment", ["before the look", "after the look"])
def test_file_that_appears_meanwhile_is_not_emptied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """A file that somebody puts in place of a FIFO while the command opens it costs that file nothing."""
    path, other = tmp_path / "name", tmp_path / "other"
    other.write_bytes(b"precious")
    os.mkfifo(path)
    real = os.open
    calls = 0

    def swap(name: Any, flags: int, mode: int = 0o777) -> int:
        nonlocal calls
        calls += 1
        if calls == (1 if moment == "before the look" else 2):
            other.rename(path)
        return real(name, flags, mode)

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", swap)
        outcome = run_here("-o", str(path))
    assert 2 == outcome.status
    assert f"-o {path}: the file exists; --force overwrites it" == complaint(outcome)
    assert b"precious" == path.read_bytes()


def test_existing_file_that_cannot_be_closed_to_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the mode cannot be set, no byte is written and no descriptor is left open."""
    path = tmp_path / "old"
    path.write_bytes(b"x")
    opened: list[int] = []
    real = os.open

    def remember(name: Any, flags: int, mode: int = 0o777) -> int:
        opened.append(real(name, flags, mode))
        return opened[-1]

    with monkeypatch.context() as patch:
        patch.setattr(os, "fchmod", raiser(PermissionError(errno.EPERM, "Operation not permitted")))
        patch.setattr(os, "open", remember)
        outcome = run_here("-f", "raw", "-o", str(path), "--force")
    assert 1 == outcome.status
    assert str(path) in complaint(outcome)
    assert "Operation not permitted" in outcome.err
    assert scripted(32) not in path.read_bytes()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(opened[-1])


def test_block_device_with_force(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A block device is written with ``--force`` only, and its mode and length are its owner's affair."""
    path = tmp_path / "device"
    path.write_bytes(b"x" * 100)
    path.chmod(0o660)
    real = os.fstat

    def fstat(descriptor: int) -> os.stat_result:
        status = real(descriptor)
        return os.stat_result((stat.S_IFBLK | 0o660, *status[1:])) if status.st_size == 100 else status

    with monkeypatch.context() as patch:
        patch.setattr(os, "fstat", fstat)
        refused = run_here("-f", "raw", "-o", str(path))
        forced = run_here("-f", "raw", "-o", str(path), "--force")
    assert 2 == refused.status
    assert "--force" in complaint(refused)
    assert (0, b"", "") == forced
    assert scripted(32) + b"x" * 68 == path.read_bytes()
    assert 0o660 == mode_of(path)


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (("-n", "x"), 2),
        (("--config", "/nonexistent/fortuna.toml"), 78),
        (("--cipher", "rot13"), 2),
    ],
    ids=["size", "config", "cipher"],
)
def test_refused_run_makes_no_file(tmp_path: Path, arguments: tuple[str, ...], status: int) -> None:
    """A run that is refused leaves no file behind and an existing one alone."""
    old = tmp_path / "old"
    old.write_bytes(b"precious")
    assert status == run_here(*arguments, "-o", str(tmp_path / "new")).status
    assert status == run_here(*arguments, "-o", str(old), "--force").status
    assert [old] == [*tmp_path.iterdir()]
    assert b"precious" == old.read_bytes()


def test_failing_generator_leaves_nothing_to_repeat(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write_config: Callable[..., str]
) -> None:
    """A generator that refuses the first byte makes no file, so that the next try is not refused because of it."""
    from fortuna.errors import NotSeededError

    monkeypatch.setattr(ScriptedFortuna, "readinto", raiser(NotSeededError("not seeded: no source")))
    path = tmp_path / "new"
    outcome = run_here("-o", str(path))
    assert 3 == outcome.status
    assert "not seeded: no source" == complaint(outcome)
    assert not path.exists()
