"""Whose the seed file must be: what stops a boot, with the command that mends it."""

from __future__ import annotations

import errno
import os
import re
import socket
import stat
import subprocess
from shutil import which
from typing import TYPE_CHECKING, Any

import pytest

from fortuna.cli.main import status_of
from fortuna.errors import SeedFileError, SeedFilePermissionError
from fortuna.seedfile import SEED_SIZE, SeedFile
from fortuna.seedfile_directory import quote

from .edge_doubles import lines_of, run_script, stream
from .seedfile_doubles import INTERVAL_NS, SeedBench, open_descriptors

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

OLD = stream("old seed", SEED_SIZE)
SHELL = which("bash") or "/bin/sh"


@pytest.fixture(params=["plain", 'it\'s a "name"', "two\nlines", "-x ü"], ids=["plain", "quotes", "newline", "ü"])
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> SeedBench:
    """Give a seed file whose directory has a name that a shell must be told with care."""
    made = SeedBench(tmp_path / request.param)
    made.put(OLD)
    return made


@pytest.fixture
def plain(tmp_path: Path) -> SeedBench:
    """Give a seed file in a directory with a plain name."""
    made = SeedBench(tmp_path / "state")
    made.put(OLD)
    return made


def refusal(bench: SeedBench) -> str:
    """Return the message that stops the boot, after making sure that nothing was used, changed or left open."""
    before = open_descriptors()
    with pytest.raises(SeedFilePermissionError) as caught:
        bench.restart()
    assert ([], before) == (bench.generator.got, open_descriptors())
    assert () == bench.seed_file.flags
    message = str(caught.value)
    assert "\n" not in message
    return message


def mend(message: str, command: str) -> None:
    """Run the command that the message has, as a shell takes it."""
    advice = message[message.rindex(f"; {command} ") + 2 :].partition(" if nothing else is in it")[0]
    if "$'" in advice and not SHELL.endswith("bash"):
        pytest.skip("this shell does not know the quoting of control characters")
    subprocess.run([SHELL, "-c", advice], check=True)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602, 0o610, 0o601, 0o644, 0o660, 0o666, 0o777, 0o4640])
def test_seedfile_trust_modes_of_the_file(mode: int, bench: SeedBench) -> None:
    """A file that is open to its group or to others stops the boot, and the command in the message mends it."""
    bench.path.chmod(mode)
    message = refusal(bench)
    assert (
        f"{quote(str(bench.path))}: its mode is {mode:04o}, open to its group or to others; allowed is 0600; "
        f"chmod 600 {quote(str(bench.path))}"
    ) == message
    assert OLD == bench.path.read_bytes()
    mend(message, "chmod")
    bench.restart()
    assert ([OLD], ()) == (bench.generator.got, bench.seed_file.flags)


@pytest.mark.parametrize("mode", [0o750, 0o705, 0o720, 0o702, 0o710, 0o701, 0o755, 0o770, 0o777, 0o1777])
def test_seedfile_trust_modes_of_the_directory(mode: int, bench: SeedBench) -> None:
    """So does a directory, even one that others may only search."""
    bench.path.parent.chmod(mode)
    message = refusal(bench)
    name = quote(str(bench.path.parent))
    assert (
        f"{name}: its mode is {mode:04o}, open to its group or to others; allowed is 0700; chmod 700 {name} if nothing "
        "else is in it, or name a directory of its own in seed_file.path"
    ) == message
    mend(message, "chmod")
    bench.restart()
    assert ([OLD], ()) == (bench.generator.got, bench.seed_file.flags)


@pytest.mark.parametrize(("directory", "file"), [(0o700, 0o600), (0o700, 0o700), (0o2700, 0o600), (0o1700, 0o600)])
def test_seedfile_trust_modes_that_are_taken(directory: int, file: int, plain: SeedBench) -> None:
    """What only the owner may use is taken."""
    plain.path.chmod(file)
    plain.path.parent.chmod(directory)
    plain.restart()
    assert ([OLD], ()) == (plain.generator.got, plain.seed_file.flags)


def own(number: int) -> Callable[..., os.stat_result]:
    """Return what says that a file belongs to user *number*."""

    def fstat(real: Any, descriptor: int) -> os.stat_result:
        fields = list(real(descriptor))
        fields[stat.ST_UID] = number
        return os.stat_result(fields)

    return fstat


@pytest.mark.parametrize("part", ["directory", "file"])
@pytest.mark.parametrize(("owner", "user"), [(1001, 1000), (0, 1000), (1000, 0)])
def test_seedfile_trust_owner(owner: int, user: int, part: str, plain: SeedBench) -> None:
    """Another user's file or directory stops the boot, root's for a user and a user's for root included."""
    plain.files.faults["geteuid"] = lambda real: user
    plain.files.faults["fstat"] = own(user)
    plain.files.faults["fstat#1" if part == "directory" else "fstat#2"] = own(owner)
    name = str(plain.path.parent if part == "directory" else plain.path)
    place = " if nothing else is in it, or name a directory of its own in seed_file.path" if part == "directory" else ""
    assert (
        f"{name}: it belongs to user {owner}; allowed is user {user}, who runs this; chown {user} {name}{place}"
    ) == refusal(plain)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give a file away")
def test_seedfile_trust_owner_for_real(bench: SeedBench) -> None:
    """The same with a file that does belong to somebody else, and the command that takes it back."""
    for place in (bench.path, bench.path.parent):
        os.chown(place, 4242, -1)
        message = refusal(bench)
        assert f"{quote(str(place))}: it belongs to user 4242; allowed is user 0" in message
        mend(message, "chown")
    bench.restart()
    assert [OLD] == bench.generator.got


@pytest.mark.parametrize("target", ["there", "dangling"])
def test_seedfile_trust_link_in_place_of_the_file(target: str, bench: SeedBench) -> None:
    """A symbolic link stops the boot, wherever it leads; what it leads to is not touched."""
    other = bench.path.with_name("other")
    if target == "there":
        bench.path.rename(other)
    else:
        bench.path.unlink()
    bench.path.symlink_to(other)
    name = quote(str(bench.path))
    assert (
        f"{name}: it is a symbolic link, which can be made to lead elsewhere; name in seed_file.path what readlink -f "
        f"{name} prints"
    ) == refusal(bench)
    assert bench.path.is_symlink()


@pytest.mark.parametrize("target", ["there", "dangling", "file"])
def test_seedfile_trust_link_in_place_of_the_directory(target: str, plain: SeedBench) -> None:
    """The same for the directory; nothing is created where a dangling link leads."""
    directory = plain.path.parent
    other = directory.with_name("other")
    directory.rename(other)
    if target == "dangling":
        other.rename(other.with_name("elsewhere"))
    directory.symlink_to(other / "seed" if target == "file" else other)
    assert f"{directory}: it is a symbolic link, which can be made to lead elsewhere; " in refusal(plain)
    assert (target == "dangling") == (not other.exists())


@pytest.mark.parametrize("behind", ["/", "//", "/.", "/./", "/./."])
def test_seedfile_trust_link_to_a_directory_however_it_is_written(behind: str, plain: SeedBench) -> None:
    """What the system would take for the directory behind the link does not hide the link."""
    directory = plain.path.parent
    directory.rename(directory.with_name("other"))
    directory.symlink_to(directory.with_name("other"))
    plain.seed_file = SeedFile(f"{directory}{behind}/seed", plain.files.files, plain.clock, INTERVAL_NS)
    assert f"{directory}: it is a symbolic link" in refusal(plain)


def test_seedfile_trust_hard_link(plain: SeedBench) -> None:
    """A second name gives nobody new access, so it is taken; it keeps the old seed, which no boot reads again."""
    second = plain.path.parent.with_name("second")
    second.hardlink_to(plain.path)
    plain.restart()
    assert ([OLD], ()) == (plain.generator.got, plain.seed_file.flags)
    assert OLD == second.read_bytes() != plain.path.read_bytes()


@pytest.mark.parametrize("kind", ["directory", "fifo", "socket", "device"])
def test_seedfile_trust_no_regular_file(kind: str, plain: SeedBench, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is no regular file stops the boot, without waiting for anybody at its other end."""
    plain.path.unlink()
    monkeypatch.chdir(plain.path.parent)  # the path of a socket must be short
    with socket.socket(socket.AF_UNIX) as server:
        if kind == "directory":
            plain.path.mkdir(0o700)
        elif kind == "fifo":
            os.mkfifo(plain.path, 0o600)
        elif kind == "socket":
            server.bind("seed")
        else:
            plain.put(OLD)
            plain.files.faults["fstat#2"] = lambda real, descriptor: os.stat("/dev/null")
        assert f"{plain.path}: it is no regular file; name another place in seed_file.path" == refusal(plain)


def test_seedfile_trust_fifo_is_not_waited_for(plain: SeedBench) -> None:
    """A FIFO without a writer is refused at once, in a program of its own, since waiting for it would be for ever."""
    plain.path.unlink()
    os.mkfifo(plain.path, 0o600)
    body = """
import sys
from fortuna._boot import SystemClock
from fortuna.errors import SeedFilePermissionError
from fortuna.seedfile import SeedFile
from fortuna.seedfile_system import SystemFiles
try:
    SeedFile(sys.argv[1], SystemFiles(), SystemClock(), 1).restart(print, print)
except SeedFilePermissionError as error:
    print(error)
"""
    expected = f"{plain.path}: it is no regular file; name another place in seed_file.path"
    assert [expected] == lines_of(run_script(body, str(plain.path), timeout=20))


def test_seedfile_trust_no_directory(plain: SeedBench) -> None:
    """A file in the place of the directory stops the boot."""
    directory = plain.path.parent
    plain.path.unlink()
    directory.rmdir()
    directory.touch(0o600)
    assert f"{directory}: it is no directory; name another place in seed_file.path" == refusal(plain)


@pytest.mark.parametrize("call", ["open#1", "open#2"], ids=["directory", "file"])
@pytest.mark.parametrize("number", [errno.EACCES, errno.EPERM])
@pytest.mark.parametrize("is_visible", [True, False])
def test_seedfile_trust_may_not_be_opened(call: str, number: int, is_visible: bool, plain: SeedBench) -> None:
    """What this user may not open stops the boot: it cannot be known whose it is."""
    plain.files.faults[call] = PermissionError(number, os.strerror(number))
    if not is_visible:
        plain.files.faults["stat"] = PermissionError(number, os.strerror(number))
    place, mode = (plain.path.parent, 700) if call == "open#1" else (plain.path, 600)
    assert (
        f"{place}: user {os.geteuid()} may not open it; chmod {mode} {place}, and let that user search the directories "
        "above it"
    ) == refusal(plain)


@pytest.mark.parametrize("call", ["open#1", "open#2"], ids=["directory", "file"])
def test_seedfile_trust_opening_fails_otherwise(call: str, plain: SeedBench, caplog: pytest.LogCaptureFixture) -> None:
    """Any other reason for which it cannot be opened is a fault of the disk: the boot goes on with its flag."""
    plain.files.faults[call] = OSError(errno.EMFILE, os.strerror(errno.EMFILE))
    before = open_descriptors()
    plain.restart()
    place = plain.path.parent if call == "open#1" else plain.path
    assert [
        f"seed file, going on from the other sources: {place}: cannot be opened: Too many open files; mend it, or name "
        "another place in seed_file.path"
    ] == [record.getMessage() for record in caplog.records]
    assert (([], ("seed_file_failed",)), before) == (
        (plain.generator.got, plain.seed_file.flags),
        open_descriptors(),
    )


def test_seedfile_trust_the_descriptor_is_checked(plain: SeedBench) -> None:
    """A file exchanged after it was opened does not lend its owner and mode to the one that is read."""
    good = plain.path.with_name("good")
    good.write_bytes(OLD)
    good.chmod(0o600)
    plain.path.chmod(0o644)

    def open_then_exchange(real: Any, *arguments: Any, **named: Any) -> int:
        descriptor: int = real(*arguments, **named)
        good.replace(plain.path)
        return descriptor

    plain.files.faults["open#2"] = open_then_exchange
    assert "its mode is 0644" in refusal(plain)


def test_seedfile_trust_an_exchanged_directory_is_not_used(plain: SeedBench) -> None:
    """After the directory was opened, file and temporary are looked up in it, whatever its name leads to by then."""
    directory = plain.path.parent
    moved = directory.with_name("moved")

    def lock_then_exchange(real: Any, descriptor: int) -> None:
        real(descriptor)
        directory.rename(moved)
        directory.mkdir(0o777)
        (directory / "seed").write_bytes(b"planted")

    plain.files.faults["lock"] = lock_then_exchange
    plain.restart()
    assert ([OLD], ()) == (plain.generator.got, plain.seed_file.flags)
    assert b"planted" == plain.path.read_bytes()
    assert OLD != (moved / "seed").read_bytes()


def test_seedfile_trust_a_save_does_not_stop_the_service(plain: SeedBench, caplog: pytest.LogCaptureFixture) -> None:
    """A directory that was opened to others while the generator runs is a flag and a line, and no seed is put there."""
    plain.path.parent.chmod(0o755)
    plain.save()
    assert ("seed_file_unsafe",) == plain.seed_file.flags
    assert OLD == plain.path.read_bytes()
    assert "chmod 700" in caplog.text


@pytest.mark.skipif(os.geteuid() != 0, reason="root may write everywhere, so root becomes somebody else here")
@pytest.mark.parametrize("case", ["read-only", "unreadable", "unreachable"])
def test_seedfile_trust_as_an_ordinary_user(case: str, plain: SeedBench) -> None:
    """For a user who is not root: a directory without write permission goes on, what cannot be looked at stops."""
    body = """
import logging, os, shutil, sys, tempfile
from fortuna._boot import SystemClock
from fortuna.errors import SeedFilePermissionError
from fortuna.seedfile import SeedFile
from fortuna.seedfile_system import SystemFiles
case = sys.argv[1]
top = tempfile.mkdtemp()
os.chmod(top, 0o711)
state = os.path.join(top, "state")
os.mkdir(state, 0o700)
path = os.path.join(state, "seed")
with open(path, "wb") as file:
    file.write(b"x" * 64)
os.chmod(path, 0o600)
for place in (path, state):
    os.chown(place, 4242, 4242)
if case == "read-only":
    os.chmod(state, 0o500)
elif case == "unreadable":
    os.chmod(path, 0o200)
else:
    os.chmod(top, 0o700)
logging.getLogger("fortuna").addHandler(logging.NullHandler())
logging.getLogger("fortuna").propagate = False
if not os.fork():
    os.setgid(4242)
    os.setuid(4242)
    got = []
    seed_file = SeedFile(path, SystemFiles(), SystemClock(), 1)
    try:
        seed_file.restart(lambda seed: got.append(len(seed)), lambda out: None)
        print(got, seed_file.flags, sorted(os.listdir(state)))
    except SeedFilePermissionError as error:
        print(str(error).replace(top, "TOP"))
    sys.stdout.flush()
    os._exit(0)
os.wait()
os.chmod(state, 0o700)
shutil.rmtree(top)
"""
    advice = "and let that user search the directories above it"
    expected = {
        "read-only": "[64] ('seed_file_failed',) ['seed']",
        "unreadable": f"TOP/state/seed: user 4242 may not open it; chmod 600 TOP/state/seed, {advice}",
        "unreachable": f"TOP/state: user 4242 may not open it; chmod 700 TOP/state, {advice}",
    }
    assert [expected[case]] == lines_of(run_script(body, case))


def test_seedfile_trust_exit_code() -> None:
    """On the command line such a refusal is a fault of the configuration, any other failure of the file is not."""
    assert (78, 1) == (status_of(SeedFilePermissionError("why")), status_of(SeedFileError("why")))


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/var/lib/a-b_c/seed.1", "/var/lib/a-b_c/seed.1"),
        ("/", "'/'"),
        ("/a b", "'/a b'"),
        ("/it's", r"'/it'\''s'"),
        ("/$HOME;`id`", "'/$HOME;`id`'"),
        ("/ü", "'/ü'"),
        ("/a\n'b\\", r"$'\x2fa\x0a\x27b\x5c'"),
        ("/ü\x1b[0m", r"$'\x2f\xc3\xbc\x1b\x5b0m'"),
    ],
)
def test_seedfile_trust_quoted(path: str, expected: str) -> None:
    """A path is written so that a shell reads that path and a terminal or a log shows one line."""
    assert expected == quote(path)
    if re.match(r"\$'", expected) and not SHELL.endswith("bash"):
        return
    shown = subprocess.run([SHELL, "-c", f"printf %s {quote(path)}"], capture_output=True, check=True).stdout
    assert path.encode() == shown
