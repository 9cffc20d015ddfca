"""The tables of ``--list`` and ``--tunables``; plain ASCII, so that every terminal and locale shows them."""

from __future__ import annotations

from ..errors import FortunaError
from ..generators import available
from ..generators.registry import resolve
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
