"""What could run here: the matrix generator x provider x kernel, with the reason for each gap."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import FortunaError
from .registry import AUTO_ORDER, GENERATORS, PROVIDERS, import_class, load


@dataclass(frozen=True, slots=True)
class Availability:
    """One cell of the matrix.

    Attributes
    ----------
    generator, provider : str
        Their registered names.
    kernel : str
        The code inside the provider; empty where the provider cannot start.
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
    """Try every kernel of every provider on every generator and report; imports the providers' libraries."""
    rows = []
    for generator in GENERATORS:
        chosen = ""
        for provider in (*AUTO_ORDER, *(p for p in PROVIDERS if p not in AUTO_ORDER)):
            for kernel, problem in kernels_of(generator, provider):
                reason = problem or failure_of(generator, provider, kernel)
                is_available = not reason
                if is_available and provider not in AUTO_ORDER:
                    reason = "the slow oracle; auto never chooses it"
                elif is_available:
                    reason = f"auto prefers {chosen}" if chosen else ""
                    chosen = chosen or f"{provider} {kernel}"
                rows.append(Availability(generator, provider, kernel, is_available, not reason, reason))
    return tuple(rows)


def kernels_of(generator: str, provider: str) -> tuple[tuple[str, str], ...]:
    """Return the provider's kernels with what keeps each from running; one without a name where it cannot start."""
    try:
        return import_class(generator, provider)._kernels()
    except FortunaError as error:
        return (("", str(error)),)


def failure_of(generator: str, provider: str, kernel: str) -> str:
    """Return why the kernel fails its tests, or an empty string."""
    try:
        load(generator, provider, kernel)
    except FortunaError as error:
        return str(error)
    return ""
