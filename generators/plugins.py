"""Plug-ins: what other distributions offer under an entry-point group, found by name and imported on demand.

A distribution declares ``name = "module:object"`` under a group in its ``pyproject.toml``, and the installer writes
that into its metadata. Looking there reads a few files for each installed distribution and imports none of them, so
a plug-in that is broken or slow is no matter until its name is asked for.

Deliberately left out: what the object must be. Whoever owns the group knows that. ``importlib.metadata`` takes longer
to import than a boot takes, hence the imports inside the functions: only who asks for a plug-in pays.
"""

from __future__ import annotations

from ..errors import ParameterError, ProviderUnavailableError
from .undisturbed import Undisturbed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.metadata import EntryPoint
    from typing import NoReturn


class Plugin:
    """What an installed distribution offers under one name; not imported yet. Frozen.

    Attributes
    ----------
    name : str
        The name of the entry point.
    group : str
        The group it stands in, such as ``"fortuna.generators"``.
    distribution : str
        The distribution that offers it.
    version : str
        The version of that distribution.
    """

    __slots__ = ("_entry_point", "distribution", "group", "name", "version")

    name: str
    group: str
    distribution: str
    version: str
    _entry_point: EntryPoint

    def __init__(self, entry_point: EntryPoint, distribution: str, version: str) -> None:
        object.__setattr__(self, "name", entry_point.name)
        object.__setattr__(self, "group", entry_point.group)
        object.__setattr__(self, "distribution", distribution)
        object.__setattr__(self, "version", version)
        object.__setattr__(self, "_entry_point", entry_point)

    @property
    def supplier(self) -> str:
        """Distribution and version in one text, for people."""
        return f"{self.distribution} {self.version}"

    def load(self) -> object:
        """Import the plug-in and return its object.

        Raises
        ------
        ProviderUnavailableError
            It could not be imported, for whatever reason; the message names the distribution, its version and the
            reason.

        Notes
        -----
        As at every import, signals wait until it is over.
        """
        loaded: object = None
        failure: Exception | SystemExit | None = None
        with Undisturbed():
            # The error is caught in here, because at the end of this block a signal handler may raise one of its own.
            try:
                loaded = self._entry_point.load()
            except (Exception, SystemExit) as error:  # noqa: BLE001  # a stranger's module may raise anything, or leave
                failure = error
        if failure is not None:
            raise ProviderUnavailableError(
                f"plug-in {self.name!r} of {self.supplier} cannot be imported: {type(failure).__name__}: {failure}; "
                "repair that distribution, or uninstall it"
            ) from failure
        return loaded

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a plug-in is what its distribution says: cannot set {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a plug-in is what its distribution says: cannot delete {name!r}")

    def __repr__(self) -> str:
        return f"<plug-in {self.name!r} for {self.group}, {self.supplier}>"


def plugins(group: str) -> tuple[Plugin, ...]:
    """Return what the installed distributions offer in *group*, sorted by name; imports none of it.

    A distribution whose metadata cannot be read offers nothing. Where one is installed twice, the first on the path
    counts, as it does for imports. A frozen application that left ``importlib.metadata`` out has no plug-ins.
    """
    with Undisturbed():
        try:
            from importlib.metadata import distributions
            from re import sub
        except ImportError:
            return ()

        found: list[Plugin] = []
        seen: set[str] = set()
        for distribution in distributions():
            try:
                metadata = distribution.metadata
                if "Name" not in metadata or "Version" not in metadata:
                    continue
                name, version = metadata["Name"], metadata["Version"]
                # Distribution names are compared as PEP 503 says: case and the kind of separator do not matter.
                key = sub("[-_.]+", "-", name).lower()
                if key not in seen:
                    found += [Plugin(point, name, version) for point in distribution.entry_points.select(group=group)]
                    seen.add(key)
            except Exception:  # noqa: BLE001, S112  # missing files, wrong encodings, lines without an equals sign, ...
                continue
    return tuple(sorted(found, key=lambda plugin: (plugin.name, plugin.distribution)))


def plugin_named(group: str, name: str) -> Plugin | None:
    """Return the plug-in of that name in *group*, or ``None`` where nobody offers one.

    Raises
    ------
    ParameterError
        It is offered more than once; the message names the distributions.
    """
    return the_one(plugins(group), name)


def the_one(offered: tuple[Plugin, ...], name: str) -> Plugin | None:
    """Return the one of that name among the plug-ins of a group, as `plugin_named` does."""
    found = [plugin for plugin in offered if plugin.name == name]
    if len(found) > 1:
        raise ParameterError(
            f"plug-in {name!r} for {found[0].group} is offered by "
            f"{' and by '.join(plugin.supplier for plugin in found)}; there is no telling which one is meant, so "
            "uninstall all but one"
        )
    return found[0] if found else None
