"""The registry of sources: from the names in ``entropy.sources`` to what is harvested.

A built-in source is imported when it is named. A name that is none of ours is a plug-in's (`.third_party`), and is
looked up in the metadata of distributions only then.

A source that this machine cannot have (no such instruction, not Linux) is made all the same. Its ``absence`` says why,
and each harvest of it fails with that text and ENODEV, so that one file of tunables serves many machines and the
statistics tell what is absent where. A plug-in that cannot be used is a mistake and ends the boot.
"""

from __future__ import annotations

from ..errors import ProviderUnavailableError
from ..generators.undisturbed import Undisturbed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from ..tunables import Tunables
    from ..typing import Clock, Source
    from .os import OperatingSystem

#: The names that are ours, in the order of their numbers.
BUILT_IN: Final = ("os", "cpu", "jitter", "proc", "file")


def choose(tunables: Tunables, system: OperatingSystem, clock: Clock) -> tuple[Source, ...]:
    """Return the sources that ``entropy.sources`` names, in that order, ready and not harvested.

    Parameters
    ----------
    tunables : Tunables
        ``entropy.sources`` and what its sources need.
    system : OperatingSystem
        The source ``os``, which exists whether it is named or not.
    clock : Clock
        Times what is timed.

    Raises
    ------
    ProviderUnavailableError, ParameterError
        A plug-in cannot be used, or two have one number; the message says which and why.
    """
    sources: dict[int, Source] = {}
    for name in tunables["entropy.sources"]:
        source = make(name, tunables, system, clock)
        other = sources.setdefault(source.number, source)
        if other is not source:
            raise ProviderUnavailableError(
                f"sources {other.name!r} and {name!r} both have the number {source.number}; use one of them"
            )
    return tuple(sources.values())


def make(name: str, tunables: Tunables, system: OperatingSystem, clock: Clock) -> Source:
    """Return the source *name*; parameters and errors as `choose`."""
    # Imported one by one because a boot by the defaults must not pay for the rest.
    with Undisturbed(f"{__package__}.{name}"):
        match name:
            case "os":
                return system
            case "cpu":
                from .cpu import this_processor

                return this_processor()
            case "jitter":
                from .jitter import jitter_source

                return jitter_source(clock)
            case "proc":
                from .proc import LinuxCounters

                return LinuxCounters(clock)
            case "file":
                from .file import DeviceFile

                return DeviceFile(tunables["entropy.file"], clock)
            case _:
                from .third_party import find, load_source

    return load_source(find(name))
