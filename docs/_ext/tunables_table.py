"""Directive ``tunables``: one section's worth of text for each tunable, made from its declaration at build time.

A role of the same stem, ``tunable``, links to an entry, and a link to a tunable that does not exist fails the build.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from fortuna.tunables import TUNABLES, Tunable, as_toml

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata


def row(*cells: nodes.Node) -> nodes.row:
    """Return a table row with one cell for each node."""
    made = nodes.row()
    for cell in cells:
        made += nodes.entry("", nodes.paragraph("", "", cell))
    return made


class TunablesDirective(SphinxDirective):
    """Insert a table of all tunables, each with a target for the role ``tunable``."""

    has_content: ClassVar[bool] = False

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        table = nodes.table(classes=["tunables"])
        group = nodes.tgroup(cols=4)
        group += [nodes.colspec(colwidth=width) for width in (25, 35, 15, 25)]
        group += nodes.thead(
            "", row(*[nodes.Text(title) for title in ("tunable", "meaning", "default", "allowed values")])
        )
        body = nodes.tbody()
        for tunable in TUNABLES.values():
            body += self._entry(tunable)
        group += body
        table += group
        return [table]

    def _entry(self, tunable: Tunable) -> nodes.row:
        target = "tunable-" + tunable.key.replace(".", "-").replace("_", "-")
        name = nodes.literal(tunable.key, tunable.key, ids=[target])
        self.state.document.note_explicit_target(name)
        self.env.domains.standard_domain.note_object("tunable", tunable.key, target, location=name)
        default = as_toml(tunable.default)
        return row(name, nodes.Text(tunable.meaning), nodes.literal(default, default), nodes.Text(tunable.allowed))


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the directive and the role."""
    app.add_object_type("tunable", "tunable", "pair: %s; tunable")
    app.add_directive("tunables", TunablesDirective)
    # The table follows the declarations, which Sphinx does not see change.
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
