"""What could run here: the matrix generator x provider x kernel, with the reason for each gap."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import FortunaError, ParameterError
from .choice import Choice
from .plugins import Plugin, plugins, the_one
from .registry import AUTO_ORDER, GENERATORS, PLUGIN, PROVIDERS, import_class, load, outcome_of
from .third_party import GROUP, clash


@dataclass(frozen=True, slots=True)
class Availability:
    """One cell of the matrix.

    Attributes
    ----------
    generator, provider : str
        Their registered names.
    kernel : str
        The code inside the provider; empty where the provider cannot start.
    is_available : bool or None
        Whether `create` would give an instance now; ``None`` for a plug-in whose name nobody asked for yet, because
        only importing it would tell.
    is_auto : bool
        Whether ``provider = "auto"`` chooses this one.
    reason : str
        Why it is not available, or not chosen; empty otherwise.
    distribution : str
        Name and version of the distribution whose plug-in it is; empty for our own.
    """

    generator: str
    provider: str
    kernel: str
    is_available: bool | None
    is_auto: bool
    reason: str
    distribution: str = ""


def available() -> tuple[Availability, ...]:
    """Try every kernel of every provider on every generator and report; imports the providers' libraries.

    Plug-ins come last. They are listed from what their distributions say and are not imported, so one that fails or
    takes its time is no hindrance; what is known of those that were asked for is told.
    """
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
    offered = plugins(GROUP)
    rows += [plugin_row(plugin, offered) for plugin in offered]
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


def plugin_row(plugin: Plugin, offered: tuple[Plugin, ...]) -> Availability:
    """Return what is known of one of the plug-ins *offered*, without importing it."""
    kernel, is_available, reason = "", None, "imported when its name is asked for"
    outcome = outcome_of(plugin.name, PLUGIN)
    problem = problem_with(plugin, offered) or (str(outcome) if isinstance(outcome, FortunaError) else "")
    if problem:
        is_available, reason = False, problem
    elif isinstance(outcome, Choice):
        kernel, is_available, reason = outcome.kernel, True, ""
    return Availability(plugin.name, PLUGIN, kernel, is_available, not reason, reason, plugin.supplier)


def problem_with(plugin: Plugin, offered: tuple[Plugin, ...]) -> str:
    """Return why the name of *plugin* cannot be asked for, or an empty string."""
    if plugin.name in GENERATORS:
        return clash(plugin)
    try:
        the_one(offered, plugin.name)
    except ParameterError as error:
        return str(error)
    return ""
