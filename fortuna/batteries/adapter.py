"""What an adapter is: the program behind a battery, how it is run on a stream, and what it printed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from .errors import BatterySettingError, MissingBatteryError, UnreadableOutputError
from .feed import search

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import ClassVar

    from .feed import Answer, Feed
    from .judge import PValue


@dataclass(frozen=True, slots=True)
class Settings:
    """What the command line says about a battery.

    Attributes
    ----------
    program : str or None
        The executable, where it is not the one that a shell would find.
    size : int or None
        Bytes to read, ``None`` for the battery's own choice.
    tests : str or None
        Which tests, in the battery's own names, ``None`` for the usual ones.
    variables : mapping
        The environment variables.
    """

    program: str | None
    size: int | None
    tests: str | None
    variables: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Results:
    """What one run printed.

    Attributes
    ----------
    values : tuple of PValue
        The p-values, in order.
    unlisted : int
        Results that the battery counted and found unremarkable, without saying their p-values.
    """

    values: tuple[PValue, ...]
    unlisted: int = 0


class Battery(ABC):
    """One battery, set up for one run.

    Parameters
    ----------
    settings : Settings
        What was asked for; refused by `BatterySettingError` where the battery has no such setting.
    """

    #: Its name, on the command line and among the presets.
    name: ClassVar[str]
    #: The executable's usual name; empty where there is none.
    executable: ClassVar[str]
    #: How to get it.
    install: ClassVar[str]
    #: The smallest tail that a printed p-value can show.
    resolution: ClassVar[float] = 0.0
    #: Whether ``-n`` and ``-d`` mean something to it.
    takes_size: ClassVar[bool] = False
    takes_tests: ClassVar[bool] = False

    def __init__(self, settings: Settings) -> None:
        if settings.size is not None and not self.takes_size:
            raise BatterySettingError(f"-n: {self.name} decides itself how much it reads")
        if settings.tests is not None and not self.takes_tests:
            raise BatterySettingError(f"-d: {self.name} has no choice of tests")
        self.settings = settings
        self.program = ""

    @property
    @abstractmethod
    def detects(self) -> tuple[str, ...]:
        """Return the controls that it is known to detect with these settings."""

    @property
    @abstractmethod
    def what(self) -> str:
        """Return what is run, for reports."""

    def prepare(self, _folder: str, /) -> None:
        """Find the program; *folder* is for what must be made first, and is removed after the last run.

        Raises
        ------
        MissingBatteryError
            It is not installed.
        """
        self.program = find(self.settings.program or self.executable, self.name, self.install, self.settings.variables)

    def for_control(self, _name: str, /) -> Battery:
        """Return the battery as it is run on a control: with all its tests, unless some of them cannot take it."""
        return self

    @abstractmethod
    def run(self, feed: Feed) -> Results:
        """Run the battery on a stream.

        Raises
        ------
        UnreadableOutputError
            It did not print what it should have.
        """


def find(program: str, name: str, install: str, variables: Mapping[str, str]) -> str:
    """Return the path of *program*."""
    found = search(program, variables)
    if found is None:
        raise MissingBatteryError(f"{name}: found no program {program}; {install}")
    return found


def refuse_signal(name: str, answer: Answer) -> None:
    """Raise where a signal ended the program, whatever it had printed by then."""
    if answer.status < 0:
        raise UnreadableOutputError(f"{name} was ended by signal {-answer.status}")
