"""Sphinx configuration: the HTML pages and the man page, from the Markdown here and the docstrings."""

from __future__ import annotations

import sys
from pathlib import Path

from fortuna._version import __version__

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "fortuna"
author = "the fortuna developers"
project_copyright = f"2026, {author}"
version = release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "attribute_names", "tunables_table"]
exclude_patterns = ["_build", "plugin-example"]  # the second is a package, with a README of its own
html_theme = "furo"
html_title = f"fortuna {release}"
smartquotes = False  # quotes in our text are TOML's and Python's

nitpicky = True
nitpick_ignore_regex = [
    # Signatures name types of the standard library and aliases; each parameter says in words what it takes.
    ("py:class", r"(collections\.abc\.|os\.|typing\.|types\.)?[A-Z]\w*(\[.*)?"),
]
nitpick_ignore = [
    # Docstrings name these for readers of the code; they are no part of the reference.
    ("py:class", "callable"),
    ("py:obj", "multiprocessing"),
    ("py:obj", "fortuna.core.events"),
    ("py:obj", "ZERO_BLOCK"),
    ("py:obj", "SourceError"),
]

myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3  # levels of headings that links such as design.md#forks may name

default_role = "py:obj"
autodoc_member_order = "bysource"
autodoc_typehints = "none"
# The conformance kit and the exporters are described without running them.
autodoc_mock_imports = ["pytest", "prometheus_client", "opentelemetry"]
napoleon_google_docstring = False
# Types of parameters are words ("bytes-like"), not names to be linked.
napoleon_use_param = False
napoleon_use_rtype = False
napoleon_use_ivar = True

man_pages = [("man/fortuna-dump", "fortuna-dump", "write random bytes from Fortuna", [author], 1)]
