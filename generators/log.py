"""The logger ``fortuna``, for the little that goes wrong: a healthy generator never imports logging.

A library leaves it to the application where its lines go, so the logger has a handler that drops them; without one,
Python would print them on the standard error of services that have configured nothing. The command line is the
application itself, and there they are printed. No hook that runs inside a fork comes here.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from logging import Logger
    from typing import Final

#: Loaded where the process is the command ``fortuna-dump``.
COMMAND: Final = "fortuna.cli.main"


def logger() -> Logger:
    """Return the logger ``fortuna``, with a handler."""
    from logging import NullHandler, getLogger

    found = getLogger("fortuna")
    if not found.handlers and COMMAND not in sys.modules:
        found.addHandler(NullHandler())
    return found
