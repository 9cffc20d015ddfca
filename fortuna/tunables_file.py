"""Find, check and read the TOML file of the tunables.

The file decides which cipher makes the keys of a service, so it must belong to somebody who may decide that: root or
the user, and nobody else may be able to write it. The checks are made on the opened descriptor, not on the name. It is
read once and never written.
"""

from __future__ import annotations

import os
import stat

from .errors import TunableError
from .generators.undisturbed import Undisturbed
from .tunables import TUNABLES, Tunables, check_together, describe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any, Final

    from .typing import Overrides, Value

ENVIRONMENT_VARIABLE: Final = "FORTUNA_CONFIG"
SYSTEM_FILE: Final = "/etc/fortuna.toml"
#: Far above any real file; whoever names a larger one has named the wrong file.
SIZE_MAX: Final = 1 << 20
#: Marks that a bare word may hold: a path's and a name's.
WORD_MARKS: Final = "-_./"
#: The tables that tunables stand in.
TABLES: Final = frozenset(key.partition(".")[0] for key in TUNABLES)


def load_tunables(
    config: str | os.PathLike[str] | None,
    overrides: Overrides | None,
    *,
    environ: Mapping[str, str],
    system_file: str = SYSTEM_FILE,
    override_origins: Mapping[str, str] | None = None,
) -> Tunables:
    """Return the effective tunables: the overrides, else the file, else the defaults.

    Parameters
    ----------
    config : path, optional
        A file named by the caller. Without it: ``$FORTUNA_CONFIG``, else *system_file* where that exists.
    overrides : mapping, optional
        Dotted names to values.
    environ : mapping
        The environment.
    system_file : str
        The file of the machine.
    override_origins : mapping, optional
        Dotted names to what an origin or a message shall call that override.

    Raises
    ------
    TunableError
        The file cannot be read, is not safe or is not valid, or a value is refused.
    """
    path, is_named_explicitly = find_file(config, environ, system_file)
    values: dict[str, Value] = {}
    origins: dict[str, str] = {}
    if path is not None:
        # What messages call it: a name that is empty shows as such, and one that would break the line is escaped.
        name = path if path.isprintable() and path else ascii(path)[1:-1] or "''"
        text = read_file(path, name, is_named_explicitly)
        lines = key_lines(text)
        for key, value in flatten(parse(name, text, lines), name, lines):
            origin = f"{name}:{line_of(key, lines)}"
            values[key] = check(key, value, origin)
            origins[key] = origin
    if overrides is not None and not hasattr(overrides, "items"):
        raise TypeError(
            f'overrides: got {type(overrides).__name__}; need a mapping such as {{"generator.cipher": "chacha20"}}'
        )
    for key, value in (overrides or {}).items():
        origin = (override_origins or {}).get(key, "overrides")
        values[key] = check(key, value, origin)
        origins[key] = origin
    tunables = Tunables(values, origins)
    check_together(tunables)
    return tunables


def find_file(
    config: str | os.PathLike[str] | None, environ: Mapping[str, str], system_file: str
) -> tuple[str | None, bool]:
    """Return the file to read, if any, and whether the caller named it explicitly."""
    # 1. What the caller names. 2. What the environment names, unless the program runs with more rights than its
    # user has: the environment belongs to that user. 3. The machine's file.
    if config is not None:
        return os.fspath(config), True
    named = environ.get(ENVIRONMENT_VARIABLE)
    if named is not None and not has_borrowed_rights():
        if not named:
            raise TunableError(f"{ENVIRONMENT_VARIABLE}: it is set but empty; name a file or unset it")
        return named, False
    return (system_file if os.path.lexists(system_file) else None), False


def has_borrowed_rights() -> bool:
    """Tell whether this is a set-user-id or set-group-id program."""
    if not hasattr(os, "geteuid"):
        return False
    return os.geteuid() != os.getuid() or os.getegid() != os.getgid()


def read_file(path: str, name: str, is_named_explicitly: bool) -> str:
    """Return the text of the file at *path*, which messages call *name*, after checking whose it is.

    A file that its group may write is accepted only where the caller named it: on many systems new files are like that.
    """
    # O_NONBLOCK: opening a FIFO must not wait for its writer.
    flags = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        descriptor = os.open(path, flags)
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise TunableError(f"{name}: not a regular file; tunables are read from a TOML file")
            if hasattr(os, "geteuid"):
                check_owner(name, status, is_named_explicitly)
            content = b""
            while len(content) <= SIZE_MAX and (piece := os.read(descriptor, SIZE_MAX)):
                content += piece
        finally:
            os.close(descriptor)
    except OSError as error:
        raise TunableError(f"{name}: cannot be read: {error.strerror}; mend it or name another file") from error
    if len(content) > SIZE_MAX:
        raise TunableError(f"{name}: larger than {SIZE_MAX} bytes; this is no file of tunables")
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise TunableError(f"{name}:{line}: not UTF-8 text; TOML files are") from error


def check_owner(path: str, status: os.stat_result, is_named_explicitly: bool) -> None:
    """Refuse a file that somebody else could have written."""
    user = os.geteuid()
    if status.st_uid not in (0, user):
        raise TunableError(
            f"{path}: it belongs to user {status.st_uid}; allowed is root or user {user}; chown {user} {path}"
        )
    if status.st_mode & stat.S_IWOTH:
        raise TunableError(f"{path}: everybody may write it; chmod go-w {path}")
    if status.st_mode & stat.S_IWGRP and not is_named_explicitly:
        raise TunableError(f"{path}: its group may write it; chmod g-w {path}")


def parse(path: str, text: str, lines: dict[tuple[str, ...], int]) -> dict[str, Any]:
    """Parse TOML 1.0; a syntax error names its line, and an unquoted string its remedy."""
    with Undisturbed("tomli"):
        import tomli  # here, because the built-in defaults need no parser

    try:
        return tomli.loads(text)
    except tomli.TOMLDecodeError as error:
        message, _, position = str(error).partition(" (at line ")
        number, _, column = position.rstrip(")").partition(", column ")
        if not number:
            number, message = str(text.count("\n") + 1), str(error)
        key = next((".".join(name) for name, line in lines.items() if line == int(number)), "")
        advice = advise(key, text.split("\n")[int(number) - 1])
        where = f" at column {column}" if column else ""
        raise TunableError(f"{path}:{number}: {key + ': ' if key else ''}{advice or message + where}") from error
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, a value nested hundreds deep
        raise TunableError(f"{path}: no tunable has such a value: {error}") from error


def advise(key: str, line: str) -> str:
    """Return what to do about a syntax error on *line* where it is a bare word in place of *key*'s value."""
    name, _, rest = line.partition("=")
    word = rest.partition("#")[0].strip()
    if key not in TUNABLES or not word.translate(dict.fromkeys(map(ord, WORD_MARKS))).isalnum():
        return ""
    default = TUNABLES[key].default
    if isinstance(default, bool):
        return f"got {word}; allowed is true or false, in lower case"
    if isinstance(default, str):
        return f'got {word} without quotes; quote it: {name.strip()} = "{word}"'
    return f"got {word}; allowed is {TUNABLES[key].allowed}"


def flatten(tables: dict[str, Any], path: str, lines: dict[tuple[str, ...], int]) -> Iterator[tuple[str, object]]:
    """Yield dotted names and values; a table that no tunable has, or a value in its place, is refused."""
    for table, body in tables.items():
        if table in TUNABLES:
            raise TunableError(
                f"{path}:{line_of(table, lines)}: {table}: it is quoted as one name; write it without the quotes"
            )
        if not isinstance(body, dict) or table not in TABLES:
            check(table, body, f"{path}:{line_of(table, lines)}")
        else:
            for key, value in body.items():
                yield f"{table}.{key}", value


def check(key: str, value: object, origin: str) -> Value:
    """Return the checked value of tunable *key*, or raise with *origin* in front."""
    if key not in TUNABLES:
        from difflib import get_close_matches  # here, because only a mistake needs it

        if key in TABLES:
            raise TunableError(
                f"{origin}: {key}: got {describe(value)}; it is a table: write [{key}] in a file, or dotted names"
            )
        near = get_close_matches(str(key), [*TUNABLES, *TABLES], n=1, cutoff=0.0)[0]
        raise TunableError(f"{origin}: {key}: no such tunable; the nearest is {near}")
    try:
        return TUNABLES[key].check(value)
    except TunableError as error:
        raise TunableError(f"{origin}: {key}: {error}") from None


def key_lines(text: str) -> dict[tuple[str, ...], int]:
    """Return the line on which each key and table of a TOML text stands, for messages.

    A scan, not a parser: it knows headers, ``key = value`` and multi-line strings. What it misses is reported on the
    line of the table that holds it.
    """
    found: dict[tuple[str, ...], int] = {}
    table: tuple[str, ...] = ()
    open_string = ""
    for number, line in enumerate(text.split("\n"), 1):
        starts_inside = bool(open_string)
        statement, open_string = strip_line(line, open_string)
        if starts_inside:
            continue
        if statement.startswith("["):
            table = split_key(statement.lstrip("[").partition("]")[0])
            found.setdefault(table, number)
        elif "=" in statement:
            found.setdefault(table + split_key(statement.partition("=")[0]), number)
    return found


def strip_line(line: str, open_string: str) -> tuple[str, str]:
    """Return *line* without its comment, and the quotes of the string that is still open at its end.

    *open_string* is what was open before it: three quotes of one kind, or nothing.
    """
    place = 0
    while place < len(line):
        if open_string:
            # Within a string of double quotes, a backslash hides what follows it.
            if line[place] == "\\" and open_string[0] == '"':
                place += 2
                continue
            if line.startswith(open_string, place):
                place += len(open_string)
                open_string = ""
                continue
        elif line[place] == "#":
            line = line[:place]
        elif line[place] in "\"'":
            triple = line[place] * 3
            open_string = triple if line.startswith(triple, place) else line[place]
            place += len(open_string)
            continue
        place += 1
    # A string of single quotes ends with its line, if only as a syntax error.
    return line.strip(), open_string if len(open_string) == len('"""') else ""


def split_key(key: str) -> tuple[str, ...]:
    """Split a dotted TOML key."""
    return tuple(part.strip().strip("\"'") for part in key.split("."))


def line_of(key: str, lines: dict[tuple[str, ...], int]) -> int:
    """Return the line of a dotted name, or of the nearest thing around it."""
    parts = tuple(key.split("."))
    while parts and parts not in lines:
        parts = parts[:-1]
    return lines.get(parts, 1)
