"""Sources of third parties: who offers which name, what is checked before one is used, and where it runs.

A plug-in is an entry point in the group ``fortuna.sources``: its name is the source's, and its object, called without
arguments, gives what `fortuna.typing.Source` describes. It is imported only where ``entropy.sources`` names it.

Whatever cost a plug-in states, it runs as ``slow``, on the harvester's thread: a stranger's code that takes its time,
or hangs, can then keep no reader waiting. What it gives is checked where every harvest is (`fortuna.monitor`).
"""

from __future__ import annotations

from ..errors import ParameterError, ProviderUnavailableError
from ..generators.plugins import Plugin, plugins, the_one
from .registry import BUILT_IN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ..typing import Buffer, Cost, Source

GROUP: Final = "fortuna.sources"
#: The numbers of plug-ins: above those of built-in sources, below those of applications.
NUMBERS: Final = range(32, 128)
COSTS: Final = ("cheap", "costly", "slow")
#: Bits of a byte.
MIN_ENTROPY_MAX: Final = 8.0


def find(name: str) -> Plugin:
    """Return the plug-in that offers the source *name*, which is none of ours.

    Raises
    ------
    ParameterError
        Nobody offers it, or more than one distribution does.
    ProviderUnavailableError
        A distribution offers a name of ours; as long as it is there no plug-in is used.
    """
    offered = plugins(GROUP)
    plugin = the_one(offered, name)
    if plugin is None:
        raise ParameterError(f"source: got {name!r}; there is {', '.join(BUILT_IN)}, and no plug-in of that name")
    for other in offered:
        if other.name in BUILT_IN:
            raise ProviderUnavailableError(f"plug-in {name!r} of {plugin.supplier} is not used: {clash(other)}")
    return plugin


def clash(plugin: Plugin) -> str:
    """Return what is wrong with a plug-in whose name is one of ours."""
    return f"{plugin.supplier} offers {plugin.name!r}, the name of a built-in source; uninstall it"


def load_source(plugin: Plugin) -> ThirdPartySource:
    """Import *plugin*, make its source and check it.

    Raises
    ------
    ProviderUnavailableError
        It cannot be imported, fails, or is no source; the message says who supplied it and what it should be.
    """
    factory: Any = plugin.load()
    try:
        source = factory()
        problem = problem_of(source, plugin.name)
    except (Exception, SystemExit) as error:
        raise ProviderUnavailableError(
            f"plug-in {plugin.name!r} of {plugin.supplier} cannot make its source: {type(error).__name__}: {error}; "
            "repair that distribution, or uninstall it"
        ) from error
    if problem:
        raise ProviderUnavailableError(
            f"plug-in {plugin.name!r} of {plugin.supplier}: {problem}; its authors must mend that"
        )
    return ThirdPartySource(source)


def problem_of(source: Any, name: str) -> str:
    """Return which part of the contract *source* breaks, got and needed, or an empty string."""
    missing = [
        what for what in ("name", "number", "cost", "min_entropy", "assumption", "harvest") if not hasattr(source, what)
    ]
    if missing:
        return f"its object gives a {type(source).__name__} without {', '.join(missing)}; see fortuna.typing.Source"
    bits = source.min_entropy
    for attribute, needed, is_right in (
        ("name", repr(name), source.name == name),
        (
            "number",
            f"an integer in {NUMBERS[0]}..{NUMBERS[-1]}",
            type(source.number) is int and source.number in NUMBERS,
        ),
        ("cost", " or ".join(map(repr, COSTS)), source.cost in COSTS),
        (
            "min_entropy",
            f"a number of bits above 0 and at most {MIN_ENTROPY_MAX:g}",
            type(bits) in (int, float) and 0 < bits <= MIN_ENTROPY_MAX,
        ),
        ("assumption", "a sentence", isinstance(source.assumption, str) and source.assumption),
        ("harvest", "a method", callable(source.harvest)),
    ):
        if not is_right:
            return f"its {attribute} is {getattr(source, attribute)!r}; it must be {needed}"
    return ""


class ThirdPartySource:
    """A plug-in's source: what was checked is kept as it was then, and its cost is ``slow``.

    Parameters
    ----------
    source : Source
        What the plug-in gave.
    """

    __slots__ = ("_source", "assumption", "min_entropy", "name", "number")

    cost: Cost = "slow"

    def __init__(self, source: Source) -> None:
        self._source = source
        self.name = source.name
        self.number = source.number
        self.min_entropy = float(source.min_entropy)
        self.assumption = source.assumption

    def harvest(self) -> Buffer:
        """Return what the plug-in harvests."""
        return self._source.harvest()
