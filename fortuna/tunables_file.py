"""Find, check and read the TOML file of the tunables.

The file decides which cipher makes the keys of a service, so it must belong to somebody who may decide that: root or
the user, and nobody else may be able to write it. The checks are made on the opened descriptor, not on the name. It is
read once and never written.
"""

from __future__ import annotations

import os
import stat

from .errors import TunableError
from .tunables import TUNABLES, Tunables, describe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any, Final

    from .typing import Overrides, Value

ENVIRONMENT_VARIABLE: Final = "FORTUNA_CONFIG"
SYSTEM_FILE: Final = "/etc/fortuna.toml"
#: Far above any real file; whoever names a larger one has named the wrong file.
SIZE_MAX: Final = 1 << 20


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
        text = read_file(path, is_named_explicitly)
        lines = key_lines(text)
        for key, value in flatten(parse(path, text, lines), path, lines):
            origin = f"{path}:{line_of(key, lines)}"
            values[key] = check(key, value, origin)
            origins[key] = origin
    for key, value in (overrides or {}).items():
        origin = (override_origins or {}).get(key, "overrides")
        values[key] = check(key, value, origin)
        origins[key] = origin
    return Tunables(values, origins)


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


def read_file(path: str, is_named_explicitly: bool) -> str:
    """Return the file's text after checking whose it is.

    A file that its group may write is accepted only where the caller named it: on many systems new files are like that.
    """
    # O_NONBLOCK: opening a FIFO must not wait for its writer.
    flags = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        with os.fdopen(os.open(path, flags), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise TunableError(f"{path}: not a regular file; tunables are read from a TOML file")
            if hasattr(os, "geteuid"):
                check_owner(path, status, is_named_explicitly)
            content = file.read(SIZE_MAX + 1)
    except OSError as error:
        raise TunableError(f"{path}: cannot be read: {error.strerror}; mend it or name another file") from error
    if len(content) > SIZE_MAX:
        raise TunableError(f"{path}: larger than {SIZE_MAX} bytes; this is no file of tunables")
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise TunableError(f"{path}:{line}: not UTF-8 text; TOML files are") from error


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
    import tomli  # here, because the built-in defaults need no parser

    try:
        return tomli.loads(text)
    except tomli.TOMLDecodeError as error:
        message, _, position = str(error).partition(" (at line ")
        number = position.partition(",")[0]
        if not number.isdigit():
            raise TunableError(f"{path}:{len(text.splitlines())}: {error}") from error
        name, _, word = text.splitlines()[int(number) - 1].partition("=")
        word = word.partition("#")[0].strip()
        if word.replace("-", "").replace("_", "").isalnum() and not word[0].isdigit():
            key = next((".".join(k) for k, line in lines.items() if line == int(number)), name.strip())
            raise TunableError(
                f'{path}:{number}: {key}: got {word} without quotes; quote it: {name.strip()} = "{word}"'
            ) from error
        raise TunableError(f"{path}:{number}: {message} (column {position.partition('column ')[2]}") from error


def flatten(tables: dict[str, Any], path: str, lines: dict[tuple[str, ...], int]) -> Iterator[tuple[str, object]]:
    """Yield dotted names and values; a table that no tunable has, or a value in its place, is refused."""
    for table, body in tables.items():
        if not isinstance(body, dict):
            check(table, body, f"{path}:{line_of(table, lines)}")
        else:
            for key, value in body.items():
                yield f"{table}.{key}", value


def check(key: str, value: object, origin: str) -> Value:
    """Return the checked value of tunable *key*, or raise with *origin* in front."""
    if key not in TUNABLES:
        from difflib import get_close_matches  # here, because only a mistake needs it

        tables = sorted({name.partition(".")[0] for name in TUNABLES})
        if key in tables:
            raise TunableError(f"{origin}: {key}: got {describe(value)}; it is a table: write [{key}]")
        near = get_close_matches(key, TUNABLES, n=1, cutoff=0.0)[0]
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
    for number, line in enumerate(text.splitlines(), 1):
        starts_inside = bool(open_string)
        for quotes in ('"""', "'''"):
            if open_string in ("", quotes) and line.count(quotes) % 2:
                open_string = "" if open_string else quotes
        if starts_inside:
            continue
        statement = line.strip()
        if statement.startswith("["):
            table = split_key(statement.lstrip("[").partition("]")[0])
            found.setdefault(table, number)
        elif "=" in statement and not statement.startswith("#"):
            found.setdefault(table + split_key(statement.partition("=")[0]), number)
    return found


def split_key(key: str) -> tuple[str, ...]:
    """Split a dotted TOML key."""
    return tuple(part.strip().strip("\"'") for part in key.split("."))


def line_of(key: str, lines: dict[tuple[str, ...], int]) -> int:
    """Return the line of a dotted name, or of the nearest thing around it."""
    parts = tuple(key.split("."))
    while parts and parts not in lines:
        parts = parts[:-1]
    return lines.get(parts, 1)
