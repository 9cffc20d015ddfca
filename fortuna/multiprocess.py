"""Hand the tunables on to the processes that multiprocessing starts.

A child made by fork inherits the booted generator. One made by spawn or by a forkserver is a new interpreter: left
alone it would boot from whatever the file says by then, or from no file. Every `Process` object carries a small
dictionary from parent to child, in which multiprocessing sends its own authentication key; the tunables travel beside
it. Arriving, they are compared with what the child may have booted before, because its main module drew while it was
imported; where they differ, the child's generators refuse to work.
"""

from __future__ import annotations

import sys
from multiprocessing.process import current_process

from .tunables import Tunables

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Final

    from .typing import Value

#: Our entry in the dictionary.
ENTRY: Final = "fortuna_tunables"


class Carried:
    """Tunables on their way: pickling them to a child makes the child call `receive`."""

    __slots__ = ("values",)

    def __init__(self, values: dict[str, Value]) -> None:
        self.values = values

    def __reduce__(self) -> tuple[Callable[[dict[str, Value]], Carried], tuple[dict[str, Value]]]:
        return receive, (self.values,)


def receive(values: dict[str, Value]) -> Carried:
    """Take over the parent's tunables in a child, whose `Process` object is being unpickled."""
    boot = sys.modules.get("fortuna._boot")
    if boot is not None:
        boot.process.compare(parents_tunables(values))
    return Carried(values)


def parents_tunables(values: dict[str, Value]) -> Tunables:
    """Return *values* with the parent as their origin."""
    return Tunables(values, dict.fromkeys(values, "parent process"))


def luggage() -> dict[str, Any]:
    """Return the dictionary that travels with each process."""
    config: dict[str, Any] = vars(current_process())["_config"]
    return config


def received_tunables() -> Tunables | None:
    """Return what the parent process runs with, or ``None`` where no booted parent started this one."""
    carried = luggage().get(ENTRY)
    return None if carried is None else parents_tunables(carried.values)


def hand_on(tunables: Tunables) -> None:
    """Let every process started from now on have *tunables*."""
    luggage()[ENTRY] = Carried(tunables.values())
