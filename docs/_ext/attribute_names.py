"""Let docstrings document several attributes together: ``generator, provider : str``.

napoleon reads the names of an Attributes section as one name with a type. Before it sees the docstring, such an entry
is repeated for each name.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

ENTRY = re.compile(r"(?P<indent>\s*)(?P<names>\w+(?:, \w+)+)(?P<rest> : .+)")
#: Before napoleon, which is connected with Sphinx's default of 500.
PRIORITY = 400


def one_name_each(lines: Sequence[str]) -> Iterator[str]:
    """Yield *lines* with each entry of several names repeated for every name."""
    start = 0
    while start < len(lines):
        entry = ENTRY.fullmatch(lines[start])
        stop = start + 1
        if entry is None:
            yield lines[start]
        else:
            inside = entry["indent"] + " "
            while stop < len(lines) and lines[stop].startswith(inside):
                stop += 1
            for name in entry["names"].split(", "):
                yield f"{entry['indent']}{name}{entry['rest']}"
                yield from lines[start + 1 : stop]
        start = stop


def process(_app: Sphinx, _what: str, _name: str, _obj: object, _options: object, lines: list[str]) -> None:
    """Rewrite one docstring in place (autodoc-process-docstring)."""
    lines[:] = one_name_each(tuple(lines))


def setup(app: Sphinx) -> ExtensionMetadata:
    """Connect `process`."""
    app.connect("autodoc-process-docstring", process, priority=PRIORITY)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
