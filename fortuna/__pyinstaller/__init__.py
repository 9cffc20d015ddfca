"""Where PyInstaller finds what it has to know about fortuna; it asks by the entry point ``pyinstaller40``."""

from __future__ import annotations

from pathlib import Path


def hook_folders() -> list[str]:
    """Return the folder of the hook."""
    return [str(Path(__file__).parent)]
