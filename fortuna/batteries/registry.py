"""The adapters by name; each is imported when it is asked for."""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from .adapter import Battery, Settings

#: Name -> module and class.
BATTERIES: Final = {
    "dieharder": ("dieharder", "Dieharder"),
    "rngtest": ("rngtest", "RNGTest"),
    "ent": ("ent", "Ent"),
    "practrand": ("practrand", "PractRand"),
    "testu01": ("testu01", "TestU01"),
    "sts": ("sts", "STS"),
}


def battery_class(name: str) -> type[Battery]:
    """Return the adapter of a battery."""
    module, attribute = BATTERIES[name]
    found: type[Battery] = getattr(import_module(f".{module}", __package__), attribute)
    return found


def make(name: str, settings: Settings) -> Battery:
    """Return the adapter, set up; raises `BatterySettingError` where the settings are none of its own."""
    return battery_class(name)(settings)
