"""Exit codes, and the error that carries one of ours to the top."""

from __future__ import annotations

from enum import IntEnum


class Status(IntEnum):
    """What the command's exit code means."""

    OK = 0
    #: Writing failed; the message names the target and the bytes written.
    FAILURE = 1
    #: The command line cannot be carried out as it stands.
    USAGE = 2
    #: No entropy source has answered; no byte was written.
    NOT_SEEDED = 3
    #: The battery rejects the stream (EX_DATAERR of sysexits.h).
    REJECTED = 65
    #: The battery is not installed (EX_UNAVAILABLE).
    NO_BATTERY = 69
    #: The battery gave no verdict that counts (EX_SOFTWARE).
    INVALID_RUN = 70
    #: The tunables are refused, the cipher they name cannot run, or others may use their seed file (EX_CONFIG of
    #: sysexits.h).
    CONFIGURATION = 78
    #: Interrupted from the keyboard, as a shell reports it.
    INTERRUPTED = 130


class UsageError(Exception):
    """What was asked for is refused before anything was written."""


class OutputError(Exception):
    """The output could not be opened or written."""
