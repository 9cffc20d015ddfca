"""Read the repository's Markdown: fenced blocks, links and headings."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).resolve().parents[2]
README: Final = ROOT / "README.md"
DOCS: Final = ROOT / "docs"
FENCE: Final = re.compile(r"^```(?P<info>[^\n]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
LINK: Final = re.compile(r"\[[^\]]*\]\((?P<target>[^)\s]+)\)")
HEADING: Final = re.compile(r"^#+ (?P<text>.+)$", re.MULTILINE)
#: Whether the C extension is built: pages speak of it, and run and are tested without it as well.
HAS_EXTENSION: Final = find_spec("fortuna.generators._native") is not None


class Block(NamedTuple):
    """A fenced block, with the line it starts on for readable test ids."""

    path: Path
    line: int
    info: str
    body: str

    def __str__(self) -> str:
        return f"{self.path.name}:{self.line}"


def blocks(path: Path, info: str) -> list[Block]:
    """Return the fenced blocks of *path* whose language is *info*."""
    text = path.read_text(encoding="utf-8")
    return [
        Block(path, text.count("\n", 0, match.start()) + 1, info, match["body"])
        for match in FENCE.finditer(text)
        if match["info"] == info
    ]


def prose(path: Path) -> str:
    """Return the text of *path* without its fenced blocks."""
    return FENCE.sub("", path.read_text(encoding="utf-8"))


def pages() -> list[Path]:
    """Return every Markdown file that is ours: at the top, in docs/ and beside the vectors."""
    return [
        *sorted(ROOT.glob("*.md")),
        *sorted(path for path in DOCS.rglob("*.md") if "_build" not in path.parts),
        *sorted(ROOT.glob("tests/vectors/*.md")),
    ]


def anchor(heading: str) -> str:
    """Return what GitHub and MyST make of a heading: lower case, hyphens for spaces, no punctuation."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
