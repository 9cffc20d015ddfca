"""Distributions as an installer leaves them: a module and a folder of metadata beside it, made for one test."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def install(
    site: Path,
    distribution: str,
    version: str = "1.0",
    *,
    entry_points: str = "",
    modules: dict[str, str] | None = None,
    metadata: str | None = None,
) -> None:
    """Put a distribution into the folder *site*; *metadata* stands in for a well-formed METADATA file."""
    site.mkdir(exist_ok=True)
    info = site / f"{distribution.replace('-', '_')}-{version}.dist-info"
    info.mkdir()
    if metadata is None:
        metadata = f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n"
    (info / "METADATA").write_text(metadata, encoding="utf-8")
    (info / "entry_points.txt").write_text(entry_points, encoding="utf-8")
    for name, source in (modules or {}).items():
        (site / f"{name}.py").write_text(source, encoding="utf-8")
