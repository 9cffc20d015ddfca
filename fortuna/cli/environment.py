"""The process as the command sees it, in one object, so that tests can give it another one."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TextIO


class Environment:
    """Streams and variables of one run of the command.

    Attributes
    ----------
    stdout : int
        Descriptor that bytes go to; nothing is buffered on the way.
    is_terminal : bool
        Whether *stdout* is one.
    stderr : text stream or None
        Where complaints go.
    variables : mapping
        The environment variables.
    """

    __slots__ = ("is_terminal", "stderr", "stdout", "variables")

    def __init__(self, *, stdout: int, is_terminal: bool, stderr: TextIO | None, variables: Mapping[str, str]) -> None:
        self.stdout = stdout
        self.is_terminal = is_terminal
        self.stderr = stderr
        self.variables = variables

    @classmethod
    def of_this_process(cls) -> Environment:
        """Return the real one."""
        return cls(stdout=1, is_terminal=os.isatty(1), stderr=sys.stderr, variables=os.environ)

    def complain(self, message: str) -> None:
        """Write one line to *stderr*, with the command's name, if anybody can hear it."""
        # A closed standard error is None to Python, and a full one raises; the exit code still tells.
        if self.stderr is not None:
            try:
                self.stderr.write(f"fortuna-dump: {message}\n")
                self.stderr.flush()
            except (OSError, ValueError):
                self.stderr = None
