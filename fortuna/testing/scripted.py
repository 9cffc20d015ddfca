"""A source whose every harvest a test has written down."""

from __future__ import annotations

import errno

from ..errors import ParameterError, SourceError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Final

    from ..typing import Buffer, Cost

#: What may happen after the last harvest of a script.
ENDINGS: Final = ("raise", "repeat")


class ScriptedSource:
    """A source that gives the harvests of a script, one after the other.

    Parameters
    ----------
    name : str
        Its name in messages and statistics.
    number : int
        Its number in events; 0..31 are built-in sources, 32..127 plug-ins.
    harvests : iterable of bytes-like or SourceError
        What each call of `harvest` gives; an error in the script is raised in its turn.
    then : str
        What comes after the last: ``"raise"`` a `SourceError` at each call, or ``"repeat"`` the script from its start.
    cost : str
        ``"cheap"``, ``"costly"`` or ``"slow"``: how a live generator may call it.
    min_entropy : float
        Bits of min-entropy that it claims for each byte, above 0.0 and at most 8.0. A script has none; the claim is
        the test's.
    assumption : str
        The reason for that claim.

    Attributes
    ----------
    harvested : int
        Calls of `harvest` so far, failed ones counted.

    Raises
    ------
    ParameterError
        *then* is neither ending, or an empty script is to be repeated.
    """

    __slots__ = ("_harvests", "_then", "assumption", "cost", "harvested", "min_entropy", "name", "number")

    def __init__(
        self,
        name: str,
        number: int,
        harvests: Iterable[Buffer | SourceError],
        *,
        then: str = "raise",
        cost: Cost = "cheap",
        min_entropy: float = 8.0,
        assumption: str = "none: a script, for tests only",
    ) -> None:
        script = tuple(harvests)
        if then not in ENDINGS:
            raise ParameterError(f"then: got {then!r}; allowed is {', '.join(ENDINGS)}")
        if then == "repeat" and not script:
            raise ParameterError("harvests: got an empty script; there must be one harvest at least to repeat")
        self.name = name
        self.number = number
        self.cost: Cost = cost
        self.min_entropy = min_entropy
        self.assumption = assumption
        self.harvested = 0
        self._harvests = script
        self._then = then

    def harvest(self) -> Buffer:
        """Return the next harvest of the script, or raise the `SourceError` that it has there or ends with."""
        number = self.harvested
        self.harvested += 1
        if self._then == "repeat":
            number %= len(self._harvests)
        elif number >= len(self._harvests):
            raise SourceError(errno.ENODATA, f"source {self.name}: its script is over, after {number} harvests")
        harvest = self._harvests[number]
        if isinstance(harvest, SourceError):
            # Without the traceback of an earlier turn, which would grow with each repetition.
            raise harvest.with_traceback(None)
        return harvest

    def __repr__(self) -> str:
        return f"<scripted source {self.name}, {self.harvested} harvests>"
