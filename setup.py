"""What pyproject.toml cannot say: where a checkout without symbolic links keeps ``fortuna.generators``.

``fortuna/generators`` is a relative link to ``generators/``. Where git could not make it (Windows without the right
to, some archives) it is a text file, and setuptools is told the folder's real place.
"""

from __future__ import annotations

from pathlib import Path

from setuptools import setup

ROOT = Path(__file__).resolve().parent

package_dir: dict[str, str] = {}
if not (ROOT / "fortuna" / "generators").is_dir():
    package_dir["fortuna.generators"] = "generators"
    package_dir["fortuna.generators.providers"] = "generators/providers"

setup(package_dir=package_dir)
