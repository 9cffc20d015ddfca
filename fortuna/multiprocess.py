"""Hand the tunables on to the processes that multiprocessing starts.

A child made by fork inherits the booted generator. One made by spawn or by a forkserver is a new interpreter: left
alone it would boot from whatever the file says by then, or from no file. Every `Process` object carries a small
dictionary from parent to child, in which multiprocessing sends its own authentication key; the tunables travel beside
it. A child that had booted before they arrived, because its main module drew while it was imported, is compared with
them afterwards, and refuses to work where they differ.
"""

from __future__ import annotations

from multiprocessing.process import current_process
from multiprocessing.util import register_after_fork

from .errors import AlreadyBootedError
from .tunables import Tunables

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from .rng import Fortuna

#: Our entry in the dictionary.
ENTRY: Final = "fortuna_tunables"


def carried() -> dict[str, Any]:
    """Return the dictionary that travels with each process."""
    config: dict[str, Any] = vars(current_process())["_config"]
    return config


def received_tunables() -> Tunables | None:
    """Return what the parent process runs with, or ``None`` where no booted parent started this one."""
    values = carried().get(ENTRY)
    return None if values is None else Tunables(values, dict.fromkeys(values, "parent process"))


def hand_on(tunables: Tunables, instance: Fortuna) -> None:
    """Let every process started from now on have *tunables*, and check *instance* wherever it is inherited."""
    carried()[ENTRY] = tunables.values()
    register_after_fork(instance, lambda inherited: compare(inherited, tunables))
    if is_being_prepared():
        instance.confirm_with(lambda: confirm(instance, tunables))


def is_being_prepared() -> bool:
    """Tell whether this is a started process whose main module is being imported: the tunables come after that."""
    return getattr(current_process(), "_inheriting", False)


def confirm(instance: Fortuna, tunables: Tunables) -> None:
    """Compare as soon as the parent's tunables are here; asked before each use of *instance* until then."""
    if not is_being_prepared():
        instance.confirm_with(None)
        compare(instance, tunables)


def compare(instance: Fortuna, tunables: Tunables) -> None:
    """Refuse to work in a child whose generator was booted before the parent's tunables arrived and differs."""
    received = received_tunables()
    if received is not None and received != tunables:
        instance.refuse(
            AlreadyBootedError,
            "this process booted while its main module was imported, with other tunables than its parent; draw no "
            'random bytes at import time, or below if __name__ == "__main__":',
        )
