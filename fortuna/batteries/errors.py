"""What keeps a battery from a verdict: a setting, its absence, or an answer that nobody can read."""

from __future__ import annotations


class BatterySettingError(Exception):
    """What was asked of the battery is refused before it is run."""


class MissingBatteryError(Exception):
    """The battery is not installed; the message says how to get it."""


class UnreadableOutputError(Exception):
    """The battery ended without the results that it should have printed."""
