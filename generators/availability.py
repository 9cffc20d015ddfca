"""What could run here: the matrix generator x provider, with the reason for each gap."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import FortunaError
from .registry import AUTO_ORDER, GENERATORS, PROVIDERS, load


@dataclass(frozen=True, slots=True)
class Availability:
    """One cell of the matrix.

    Attributes
    ----------
    generator, provider : str
        Their registered names.
    kernel : str
        The code inside the provider; empty where it cannot run.
    is_available : bool
        Whether `create` would give an instance now.
    is_auto : bool
        Whether ``provider = "auto"`` chooses this one.
    reason : str
        Why it is not available, or not chosen; empty otherwise.
    """

    generator: str
    provider: str
    kernel: str
    is_available: bool
    is_auto: bool
    reason: str


def available() -> tuple[Availability, ...]:
    """Try every provider on every generator and report; imports the providers' libraries."""
    rows = []
    for generator in GENERATORS:
        chosen = ""
        for provider in (*AUTO_ORDER, *(p for p in PROVIDERS if p not in AUTO_ORDER)):
            try:
                kernel = load(generator, provider).kernel
            except FortunaError as error:
                rows.append(Availability(generator, provider, "", False, False, str(error)))
                continue
            if provider not in AUTO_ORDER:
                reason = "the slow oracle; auto never chooses it"
            else:
                reason = f"auto prefers {chosen}" if chosen else ""
                chosen = chosen or provider
            rows.append(Availability(generator, provider, kernel, True, not reason, reason))
    return tuple(rows)
