"""What a transcript can complain of. The errors of the product itself are in `fortuna.errors`."""

from __future__ import annotations

from ..errors import FortunaError


class TranscriptError(FortunaError, ValueError):
    """A transcript's file cannot be understood. The message starts with ``path:line:``."""


class ReplayError(FortunaError, AssertionError):
    """A replay gave other bytes than were recorded. The message names the first read that differs, and where."""
