"""The file of the tunables: which one is read, whose it must be, and that each refusal names its line."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fortuna import tunables_file
from fortuna.errors import TunableError
from fortuna.tunables_file import SIZE_MAX, key_lines, load_tunables

from .edge_doubles import lines_of, run_script

if TYPE_CHECKING:
    from fortuna.tunables import Tunables

NOWHERE = "/nonexistent/fortuna.toml"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Give the path of a configuration file, still to be written."""
    return tmp_path / "fortuna.toml"


def load(path: Path, text: str | bytes | None = None, mode: int = 0o600) -> Tunables:
    """Write *text* to *path* and load it by name."""
    if text is not None:
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        path.chmod(mode)
    return load_tunables(path, None, environ={}, system_file=NOWHERE)


def refusal(path: Path, text: str | bytes | None = None, mode: int = 0o600) -> str:
    """Return the message that refuses *text*, with the path replaced by FILE."""
    with pytest.raises(TunableError) as caught:
        load(path, text, mode)
    return str(caught.value).replace(str(path), "FILE")


def test_edge_tunables_file_every_value_and_its_origin(file: Path) -> None:
    """A full file sets each value and each origin is its line; what it leaves out is the default."""
    tunables = load(
        file,
        "# comment\n\n[generator]\ncipher = 'chacha20' # comment\n"
        'construction = """fsk2003"""\nkernel = "portable"\n'
        '[reseed]\ninterval=2\n\n[entropy]\nsources = [\n  "os",\n]\n'
        "[seed_file]\npath = '/var/lib/fortuna/seed'\n"
        "[boot]\npretend_unseeded = true\n",
    )
    assert {
        "generator.cipher": ("chacha20", f"{file}:4"),
        "generator.provider": ("auto", "default"),
        "generator.kernel": ("portable", f"{file}:6"),
        "generator.construction": ("fsk2003", f"{file}:5"),
        "reseed.min_pool_size": (64, "default"),
        "reseed.interval": (2.0, f"{file}:8"),
        "entropy.sources": (("os",), f"{file}:11"),
        "entropy.file": ("", "default"),
        "entropy.harvest_interval": (0.0, "default"),
        "entropy.per_request": ("", "default"),
        "entropy.health_tests": (True, "default"),
        "seed_file.path": ("/var/lib/fortuna/seed", f"{file}:15"),
        "seed_file.save_interval": (600.0, "default"),
        "boot.timeout": (30.0, "default"),
        "boot.allow_without_os": (False, "default"),
        "boot.generation_file": ("", "default"),
        "boot.pretend_unseeded": (True, f"{file}:17"),
    } == {key: (tunables[key], tunables.origin(key)) for key in tunables}


LINE_7 = 'FILE:7: reseed.interval: got "100"; allowed is a number in 0..3600 seconds'


@pytest.mark.parametrize(
    "text",
    [
        '#1\n#2\n#3\n#4\n#5\n[reseed]\ninterval = "100"\n',
        '\n\n\n\n\n\nreseed.interval = "100"\n',
        "\n\n\n\n\n\nreseed . interval='100'",
        '\n\n\n\n\n\n"reseed".\'interval\' = "100"',
        '\n\n\n\n\n\nreseed = { interval = "100" }\n',
        '\n\n\n\n\n\n\treseed = { min_pool_size = 64, interval = "100" } # interval = 1\n',
        '[generator]\ncipher = """\n\\\nchacha20"""\n\n[ reseed ] # on line 6\ninterval = "100"\n',
        '[generator]\r\n\r\n\r\n\r\n[reseed]\r\n# interval = 1\r\ninterval = "100"\r\n',
        '[entropy]\nsources = [\n\n  "os", # one\n]\n[reseed]\ninterval = """100"""\n',
        "[generator]\ncipher = '''\n\\\nchacha20'''\n[reseed]\n\ninterval = '''100'''\n".replace("\\\n", "", 1).replace(
            "[reseed]\n", "[reseed]\n\n"
        ),
        '# it says """ here\n# and \'\'\' there\n\n\n\n[reseed]\ninterval = "100"\n',
        "# one line separator \u2028 and one next line \u0085 in a comment\n\n\n\n\n[reseed]\ninterval = '100'\n",
    ],
    ids=[
        "table",
        "dotted",
        "dotted with blanks",
        "quoted keys",
        "inline table",
        "longer inline table",
        "after a multi-line string",
        "CRLF",
        "after a multi-line array",
        "after a literal multi-line string",
        "after quotes in comments",
        "after unicode line ends",
    ],
)
def test_edge_tunables_file_a_wrong_type_names_line_7(text: str, file: Path) -> None:
    """`"100"` is not 100, and however TOML writes line 7, line 7 is what the message says."""
    text = text.replace("cipher = '''\nchacha20'''", "cipher = '''chacha20'''\n").replace(
        'cipher = """\n\\\nchacha20"""', 'cipher = """\\\n   \nchacha20"""'
    )
    assert LINE_7 == refusal(file, text)


def test_edge_tunables_file_lines_inside_strings_are_no_keys() -> None:
    """What looks like a key inside a multi-line string is none."""
    lines = key_lines("a = \"\"\"\n[reseed]\ninterval = 1\n\"\"\"\n[reseed]\ninterval = 2\nb = '''\nc = 1\n'''\n")
    assert {("a",): 1, ("reseed",): 5, ("reseed", "interval"): 6, ("reseed", "b"): 7} == lines


def test_edge_tunables_file_quotes_of_one_kind_inside_the_other() -> None:
    """Three quotes of one kind inside a string of the other open nothing."""
    lines = key_lines("a = \"'''\"\nb = '\"\"\"'\nc = 1\n")
    assert {("a",): 1, ("b",): 2, ("c",): 3} == lines


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "generator.cipher = chacha20\n",
            'FILE:1: generator.cipher: got chacha20 without quotes; quote it: generator.cipher = "chacha20"',
        ),
        (
            "\n[generator]\n\ncipher = aes256-icm # the default\n",
            'FILE:4: generator.cipher: got aes256-icm without quotes; quote it: cipher = "aes256-icm"',
        ),
        (
            "[generator]\r\nconstruction = fsk2003\r\n",
            'FILE:2: generator.construction: got fsk2003 without quotes; quote it: construction = "fsk2003"',
        ),
        (
            "[seed_file]\npath = /var/lib/my-service/seed.bin\n",
            'FILE:2: seed_file.path: got /var/lib/my-service/seed.bin without quotes; quote it: path = "/var/lib/my-'
            'service/seed.bin"',
        ),
    ],
)
def test_edge_tunables_file_an_unquoted_string_says_quote_it(text: str, message: str, file: Path) -> None:
    """A word without quotes, the commonest slip, is answered with the line as it should be."""
    assert message == refusal(file, text)


@pytest.mark.parametrize("word", ["True", "False", "yes", "on"])
def test_edge_tunables_file_an_unquoted_boolean_is_not_told_to_be_quoted(word: str, file: Path) -> None:
    """Quoting a misspelt boolean would only lead to the next refusal."""
    assert "quote it" not in refusal(file, f"[boot]\npretend_unseeded = {word}\n")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[generator\ncipher = 'x'\n", 1),
        ("\n[generator]\ncipher = 'chacha20'\ncipher = 'chacha20'\n", 4),
        ("\n\n=\n", 3),
        ("[reseed]\ninterval =\n", 2),
        ("[reseed]\ninterval = .5\n", 2),
        ("[reseed]\ninterval = 1.\n", 2),
        ("[reseed]\ninterval = 01\n", 2),
        ("[reseed]\ninterval = 1979-13-45\n", 2),
        ("[reseed]\ninterval = --1\n", 2),
        ("[reseed]\ninterval = 1 2\n", 2),
        ("[reseed]\ninterval = \x00\n", 2),
        ('\n\nx = "\\q"\n', 3),
        ("\n[a]\n[a]\n", 3),
        ("\ufeff[reseed]\n", 1),
        ("word\n", 1),
        ("[entropy]\nsources = [os]\n", 2),
    ],
)
def test_edge_tunables_file_syntax_errors_name_their_line(text: str, line: int, file: Path) -> None:
    """What is no TOML is refused with its line."""
    assert refusal(file, text).startswith(f"FILE:{line}: ")


@pytest.mark.parametrize("text", ["x = '''", "x = [", "x = {a = 1", '\n\n\nx = "', "x"])
def test_edge_tunables_file_a_file_that_ends_too_early_names_its_end(text: str, file: Path) -> None:
    """What is missing at the end is reported on the last line."""
    assert refusal(file, text).startswith(f"FILE:{len(text.splitlines())}: ")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[generator]\ncypher = 'x'\n", "FILE:2: generator.cypher: no such tunable; the nearest is generator.cipher"),
        ("\ncipher = 'x'\n", "FILE:2: cipher: no such tunable; the nearest is generator.cipher"),
        ("\n\nreseed = 3\n", "FILE:3: reseed: got 3; it is a table: write [reseed]"),
        ("[[reseed]]\ninterval = 1\n", "FILE:1: reseed: got [{'interval': 1}]; it is a table: write [reseed]"),
        ("\n[boot]\ntimeout = nan\n", "FILE:3: boot.timeout: got nan; allowed is"),
        ("\n[boot]\ntimeout = inf\n", "FILE:3: boot.timeout: got inf; allowed is"),
        ("\n[boot]\ntimeout = -inf\n", "FILE:3: boot.timeout: got -inf; allowed is"),
        ("\n[boot]\ntimeout = true\n", "FILE:3: boot.timeout: got true; allowed is"),
        ("\n[boot]\ntimeout = 1979-05-27\n", "FILE:3: boot.timeout: got 1979-05-27; allowed is"),
        ("[entropy]\nsources = ['os', 'os']\n", "FILE:2: entropy.sources: got ['os', 'os'] with a repetition;"),
        (
            "[boot]\n[entropy]\nsources = ['cpu']\n",
            'FILE:3: entropy.sources: got ["cpu"] without "os"; add it, or set boot.allow_without_os = true',
        ),
        (
            "entropy.sources = ['os', 'file']\n",
            'FILE:1: entropy.sources: got ["os", "file"] with "file", which needs a path; set entropy.file',
        ),
        (
            "[entropy]\nsources = ['file']\nfile = ''\n[boot]\nallow_without_os = true\n",
            'FILE:2: entropy.sources: got ["file"] with "file", which needs a path; set entropy.file',
        ),
        ("[entropy]\nfile = 'dev/hwrng'\n", 'FILE:2: entropy.file: got "dev/hwrng"; allowed is the absolute path'),
        ("[entropy]\nsources = [\n'os',\n'gpu']\n", 'FILE:2: entropy.sources: got "gpu" in the list;'),
        (
            "[reseed]\nmin_pool_size = 15\n",
            "FILE:2: reseed.min_pool_size: got 15; allowed is an integer in 16..1048576",
        ),
        ("[reseed]\nmin_pool_size = 0x100001\n", "FILE:2: reseed.min_pool_size: got 1048577;"),
        ("[reseed]\nmin_pool_size = 64.0\n", "FILE:2: reseed.min_pool_size: got 64.0;"),
    ],
)
def test_edge_tunables_file_refusals_name_line_and_key(text: str, message: str, file: Path) -> None:
    """Unknown keys and wrong values are refused with line, key, what was got and what is allowed."""
    assert refusal(file, text).startswith(message)


def test_edge_tunables_file_a_table_in_the_place_of_a_value(file: Path) -> None:
    """A key inside what should be a value is refused on its line or on that of its table."""
    assert re.match(r"FILE:[23]: reseed.interval: got \{'x': 1\}; ", refusal(file, "\n[reseed]\ninterval.x = 1\n"))


@pytest.mark.parametrize("text", ["[nonsense]\n", "[seed_fil]\n# path = ''\n", "x = {}\n"])
def test_edge_tunables_file_an_unknown_table_is_refused_when_empty_too(text: str, file: Path) -> None:
    """A misspelt table is an error even while all its keys are commented out."""
    assert refusal(file, text).startswith("FILE:1: ")


@pytest.mark.parametrize(
    "text",
    [
        "[reseed]\nmin_pool_size = " + "9" * 5000,
        "[reseed]\nmin_pool_size = 0x" + "f" * 5000,
        "[reseed]\ninterval = " + "[" * 20000,
        "[reseed]\ninterval = " + "{a=" * 20000,
        "[reseed]\n" + "a." * 20000 + "a = 1\n",
    ],
    ids=["digits", "hex digits", "arrays", "tables", "dots"],
)
def test_edge_tunables_file_monsters_are_refused_like_the_rest(text: str, file: Path) -> None:
    """Numbers and nestings beyond what Python converts are refusals that name the file, no other exception."""
    assert refusal(file, text).startswith("FILE:")


@pytest.mark.parametrize("text", ["", "\n", "# nothing\n", "[reseed]\n", "[generator]\n[boot]\n"])
def test_edge_tunables_file_an_empty_file_is_the_defaults(text: str, file: Path) -> None:
    """A file that sets nothing boots the defaults."""
    assert load_tunables(None, None, environ={}, system_file=NOWHERE) == load(file, text)


# Whose file it must be.


def test_edge_tunables_file_group_writable_is_accepted_only_when_named(file: Path) -> None:
    """The group may write a file that the caller named; elsewhere it is refused with the chmod that mends it."""
    file.write_text("[generator]\ncipher = 'chacha20'\n")
    file.chmod(0o660)
    assert "chacha20" == load(file)["generator.cipher"]
    message = f"{file}: its group may write it; chmod g-w {file}"
    for environ, system_file in (({"FORTUNA_CONFIG": str(file)}, NOWHERE), ({}, str(file))):
        with pytest.raises(TunableError) as caught:
            load_tunables(None, None, environ=environ, system_file=system_file)
        assert message == str(caught.value)
    file.chmod(0o640)
    assert "chacha20" == load_tunables(None, None, environ={}, system_file=str(file))["generator.cipher"]


@pytest.mark.parametrize("mode", [0o602, 0o666, 0o622, 0o777])
def test_edge_tunables_file_world_writable_is_refused_even_when_named(mode: int, file: Path) -> None:
    """A file that everybody may write is refused with the chmod that mends it, and accepted after it."""
    assert "FILE: everybody may write it; chmod go-w FILE" == refusal(file, "", mode)
    file.chmod(mode & ~0o022)
    load(file)


@pytest.mark.parametrize(
    ("owner", "user", "is_allowed"), [(0, 1000, True), (1000, 1000, True), (1001, 1000, False), (1000, 0, False)]
)
def test_edge_tunables_file_belongs_to_root_or_the_user(
    owner: int, user: int, is_allowed: bool, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A third user's file is refused, whoever runs, root included."""
    real = os.fstat

    def fstat(descriptor: int) -> os.stat_result:
        fields = list(real(descriptor))
        fields[stat.ST_UID] = owner
        return os.stat_result(fields)

    file.write_text("")
    monkeypatch.setattr(os, "fstat", fstat)
    monkeypatch.setattr(os, "geteuid", lambda: user)
    monkeypatch.setattr(os, "getuid", lambda: user)
    file.chmod(0o600)
    if is_allowed:
        load(file)
    else:
        expected = f"FILE: it belongs to user {owner}; allowed is root or user {user}; chown {user} FILE"
        assert expected == refusal(file)


def test_edge_tunables_file_the_descriptor_is_checked_not_the_name(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file exchanged after it was opened does not lend its owner to the one that is read."""
    file.write_text("")
    file.chmod(0o666)
    good = tmp_path / "good.toml"
    good.write_text("")
    good.chmod(0o600)
    opened = os.open

    def open_then_exchange(path: str, flags: int) -> int:
        descriptor = opened(path, flags)
        good.replace(path)
        return descriptor

    monkeypatch.setattr(os, "open", open_then_exchange)
    assert "FILE: everybody may write it; chmod go-w FILE" == refusal(file)
    assert not stat.S_IWOTH & file.stat().st_mode


def test_edge_tunables_file_without_user_ids(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a system without user ids there is nothing to check, and no borrowed rights."""
    monkeypatch.delattr(os, "geteuid")
    assert "chacha20" == load(file, "generator.cipher = 'chacha20'", 0o666)["generator.cipher"]
    assert not tunables_file.has_borrowed_rights()


def open_descriptors() -> int:
    """Return how many descriptors this process has open, as far as the first 256 go."""
    count = 0
    for descriptor in range(256):
        try:
            os.fstat(descriptor)
        except OSError:
            continue
        count += 1
    return count


def test_edge_tunables_file_a_directory_is_refused_and_closed(tmp_path: Path) -> None:
    """A directory is refused by name, and its descriptor does not stay open."""
    before = open_descriptors()
    for _ in range(3):
        with pytest.raises(TunableError, match=re.escape(f"{tmp_path}: ")):
            load(tmp_path)
    assert before == open_descriptors()


def test_edge_tunables_file_a_fifo_is_refused_without_waiting(file: Path) -> None:
    """A FIFO without a writer is refused at once, in a program of its own, since waiting for it would be for ever."""
    os.mkfifo(file, 0o600)
    body = """
import sys
from fortuna.errors import TunableError
from fortuna.tunables_file import load_tunables
try:
    load_tunables(sys.argv[1], None, environ={})
except TunableError as error:
    print(error)
"""
    expected = f"{file}: not a regular file; tunables are read from a TOML file"
    assert [expected] == lines_of(run_script(body, str(file), timeout=20))


def test_edge_tunables_file_a_device_is_refused() -> None:
    """So is a device, which may have no end."""
    with pytest.raises(TunableError, match="/dev/zero: not a regular file"):
        load(Path("/dev/zero"))


def test_edge_tunables_file_missing(file: Path) -> None:
    """A file that is named must exist."""
    assert "FILE: cannot be read: No such file or directory; mend it or name another file" == refusal(file)


def test_edge_tunables_file_unreadable(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that may not be read is an error, simulated since root may read everything."""

    def forbid(path: str, flags: int) -> int:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(os, "open", forbid)
    assert "FILE: cannot be read: Permission denied; mend it or name another file" == refusal(file)


def test_edge_tunables_file_not_utf8(file: Path) -> None:
    """Text in another encoding is refused on the line of its first wrong byte."""
    assert "FILE:3: not UTF-8 text; TOML files are" == refusal(file, b"# 1\n# 2\n# caf\xe9\n")


@pytest.mark.parametrize(("extra", "is_allowed"), [(-1, True), (0, True), (1, False), (SIZE_MAX, False)])
def test_edge_tunables_file_size(extra: int, is_allowed: bool, file: Path) -> None:
    """A file of 1 MiB is read; a longer one is none of tunables."""
    text = "#" * (SIZE_MAX + extra)
    if is_allowed:
        load(file, text)
    else:
        assert f"FILE: larger than {SIZE_MAX} bytes; this is no file of tunables" == refusal(file, text)


# Which file is read.


def test_edge_tunables_file_precedence(tmp_path: Path) -> None:
    """An override beats the named file, that beats the environment's, that beats the machine's, that the defaults."""
    texts = {"machine": 1, "environment": 2, "named": 3}
    paths = {name: tmp_path / f"{name}.toml" for name in texts}
    for name, value in texts.items():
        paths[name].write_text(f"[boot]\ntimeout = {value}\n")
        paths[name].chmod(0o600)
    environ = {"FORTUNA_CONFIG": str(paths["environment"])}
    machine = str(paths["machine"])

    def timeout(config: Path | None, overrides: dict[str, object] | None, environ: dict[str, str], system: str) -> Any:
        loaded = load_tunables(config, overrides, environ=environ, system_file=system)
        return loaded["boot.timeout"], loaded.origin("boot.timeout")

    named = paths["named"]
    assert (4.0, "overrides") == timeout(named, {"boot.timeout": 4}, environ, machine)
    assert (3.0, f"{named}:2") == timeout(named, None, environ, machine)
    assert (2.0, f"{paths['environment']}:2") == timeout(None, {}, environ, machine)
    assert (1.0, f"{machine}:2") == timeout(None, None, {}, machine)
    assert (30.0, "default") == timeout(None, None, {}, NOWHERE)


def test_edge_tunables_file_files_are_not_merged(tmp_path: Path) -> None:
    """One file is read: what it leaves out is the default, not another file's value."""
    machine, named = tmp_path / "machine.toml", tmp_path / "named.toml"
    for path, text in ((machine, "generator.cipher = 'chacha20'\n"), (named, "boot.timeout = 1\n")):
        path.write_text(text)
        path.chmod(0o600)
    loaded = load_tunables(named, None, environ={}, system_file=str(machine))
    assert "aes256-icm" == loaded["generator.cipher"]


def test_edge_tunables_file_override_origins(file: Path) -> None:
    """A caller may give overrides names of their own, for origins and for messages."""
    names = {"generator.cipher": "--cipher"}
    loaded = load_tunables(
        None, {"generator.cipher": "chacha20"}, environ={}, system_file=NOWHERE, override_origins=names
    )
    assert "--cipher" == loaded.origin("generator.cipher")
    with pytest.raises(TunableError, match=r"^--cipher: generator\.cipher: got "):
        load_tunables(None, {"generator.cipher": "x"}, environ={}, system_file=NOWHERE, override_origins=names)


def test_edge_tunables_file_environment_names_a_missing_file(file: Path) -> None:
    """`FORTUNA_CONFIG` that names no file is an error, not a reason to go on to the next."""
    with pytest.raises(TunableError, match="cannot be read: No such file"):
        load_tunables(None, None, environ={"FORTUNA_CONFIG": str(file)}, system_file=NOWHERE)


def test_edge_tunables_file_environment_is_empty() -> None:
    """`FORTUNA_CONFIG` set to nothing is an error that says how to mend it."""
    with pytest.raises(TunableError, match=r"^FORTUNA_CONFIG: it is set but empty; name a file or unset it$"):
        load_tunables(None, None, environ={"FORTUNA_CONFIG": ""}, system_file=NOWHERE)


@pytest.mark.parametrize("name", ["getuid", "getgid"])
def test_edge_tunables_file_set_user_id_programs_ignore_the_environment(
    name: str, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program with more rights than its user does not let that user choose its cipher."""
    file.write_text("generator.cipher = 'chacha20'\n")
    file.chmod(0o600)
    environ = {"FORTUNA_CONFIG": str(file)}
    assert "chacha20" == load_tunables(None, None, environ=environ, system_file=NOWHERE)["generator.cipher"]
    monkeypatch.setattr(os, name, lambda: 4242)
    for value in (str(file), "", NOWHERE):
        loaded = load_tunables(None, None, environ={"FORTUNA_CONFIG": value}, system_file=NOWHERE)
        assert "aes256-icm" == loaded["generator.cipher"]


def test_edge_tunables_file_a_dangling_machine_file_is_an_error(tmp_path: Path) -> None:
    """The machine's file as a link to nowhere is a mistake to be told, not an absent file."""
    link = tmp_path / "etc.toml"
    link.symlink_to(tmp_path / "missing")
    with pytest.raises(TunableError, match="cannot be read"):
        load_tunables(None, None, environ={}, system_file=str(link))


def test_edge_tunables_file_is_read_once(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Loading opens the file once and never for writing."""
    opened: list[int] = []
    real = os.open

    def count(path: str, flags: int) -> int:
        opened.append(flags)
        return real(path, flags)

    file.write_text("boot.timeout = 1\n")
    file.chmod(0o400)
    monkeypatch.setattr(os, "open", count)
    load(file)
    assert 1 == len(opened)
    assert os.O_RDONLY == opened[0] & os.O_ACCMODE
    assert os.O_NONBLOCK & opened[0]
    assert os.O_CLOEXEC & opened[0]


def test_edge_tunables_file_names_may_be_relative(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A relative path is taken as it stands."""
    file.write_text("boot.timeout = 1\n")
    file.chmod(0o600)
    monkeypatch.chdir(file.parent)
    assert f"{file.name}:1" == load_tunables(file.name, None, environ={}).origin("boot.timeout")
