"""Relative links in the Markdown files lead somewhere."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from .docs_support import DOCS, HEADING, LINK, ROOT, anchor, pages, prose

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("page", pages(), ids=lambda path: str(path.relative_to(ROOT)))
def test_relative_links(page: Path) -> None:
    """Each relative link names an existing file, and its anchor a heading there."""
    for match in LINK.finditer(prose(page)):
        target, _, fragment = match["target"].partition("#")
        if target.startswith(("https://", "http://")):
            continue
        file = page.parent / target if target else page
        # A page of docs/ that includes a file of the top is linked in its place.
        assert file.exists(), match[0]
        if fragment:
            text = file.read_text(encoding="utf-8")
            included = re.search(r"^```\{include\} (\S+)", text, re.MULTILINE)
            source = file.parent / included[1] if included else file
            headings = {anchor(heading["text"]) for heading in HEADING.finditer(prose(source))}
            assert fragment in headings, match[0]


def test_every_page_is_reached() -> None:
    """Each page of docs/ stands in the index, so the built pages have no orphan."""
    index = (DOCS / "index.md").read_text(encoding="utf-8").splitlines()
    for page in DOCS.rglob("*.md"):
        name = page.relative_to(DOCS).with_suffix("").as_posix()
        assert name.startswith(("_build/", "plugin-example/")) or name == "index" or name in index, name
