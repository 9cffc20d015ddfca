"""The tables of ``--list`` and ``--tunables``; plain ASCII, so that every terminal and locale shows them."""

from __future__ import annotations

from ..errors import FortunaError
from ..generators import available
from ..generators.plugins import plugins
from ..generators.registry import resolve
from ..sources.registry import BUILT_IN, make
from ..sources.third_party import GROUP, clash
from ..tunables import as_toml

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..tunables import Tunables


def list_generators(tunables: Tunables) -> str:
    """Return the matrix generator x provider x kernel: which one these tunables boot, and why others are not chosen.

    A plug-in's note says who supplied it; nobody has tried it before its name is asked for.
    """
    try:
        keystream = resolve(*(tunables[f"generator.{key}"] for key in ("cipher", "provider", "kernel")))
        active = keystream.name, keystream.provider, keystream.kernel
    except FortunaError:
        active = "", "", ""  # nothing would boot; the notes say why
    rows = [("GENERATOR", "PROVIDER", "KERNEL", "STATE", "NOTE")]
    for cell in available():
        is_active = (cell.generator, cell.provider, cell.kernel) == active
        state = "active" if is_active else {True: "available", False: "absent", None: "untried"}[cell.is_available]
        note = "; ".join(text for text in (cell.distribution, cell.reason) if text)
        # Names of plug-ins are what strangers wrote into their metadata.
        rows.append((ascii(cell.generator)[1:-1], cell.provider, cell.kernel or "-", state, ascii(note)[1:-1]))
    return columns(rows)


def list_sources(tunables: Tunables) -> str:
    """Return the sources and what is assumed of each: which ones these tunables name, and why others are absent.

    None is harvested, and a plug-in is not even imported.
    """
    # Imported here, because the other table needs no machine.
    from .._boot import SystemClock, operating_system

    system, clock = operating_system(), SystemClock()
    rows = [("SOURCE", "NUMBER", "COST", "BITS/BYTE", "STATE", "NOTE")]
    for name in BUILT_IN:
        source = make(name, tunables, system, clock)
        absence = getattr(source, "absence", "")
        state = "absent" if absence else "active" if name in tunables["entropy.sources"] else "available"
        note = ascii(absence)[1:-1] or source.assumption
        rows.append((name, str(source.number), source.cost, f"{source.min_entropy:g}", state, note))
    for plugin in plugins(GROUP):
        is_clash = plugin.name in BUILT_IN
        is_named = plugin.name in tunables["entropy.sources"]
        state = "absent" if is_clash else "active" if is_named else "untried"
        note = clash(plugin) if is_clash else plugin.supplier
        # Names of plug-ins are what strangers wrote into their metadata.
        rows.append((ascii(plugin.name)[1:-1], "-", "slow", "-", state, ascii(note)[1:-1]))
    return columns(rows)


def list_tunables(tunables: Tunables) -> str:
    """Return the effective values as TOML, each with its origin as a comment."""
    return columns(
        [(f"{key} = {as_toml(tunables[key])}", f"# {ascii(tunables.origin(key))[1:-1]}") for key in tunables]
    )


def columns(rows: Sequence[tuple[str, ...]]) -> str:
    """Return *rows* with aligned columns, one a line."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join(lines) + "\n"
