"""PyInstaller's hook: what is imported by a name that is made up as the program runs, and so is not seen in the source.

Those are providers and sources, which the tunables choose, and public names, which are loaded when they are used. The
hook lists all modules but those that nobody reaches without importing them himself.
"""

from __future__ import annotations

from pkgutil import walk_packages

import fortuna

#: Programs of their own, tests for authors of generators, and exporters, whose libraries may be absent.
LEFT_OUT = ("__main__", "__pyinstaller", "bench", "cli", "generators.conformance", "generators.trials", "metrics")

hiddenimports = [
    module.name
    for module in walk_packages(fortuna.__path__, "fortuna.")
    if not any(f"{module.name}.".startswith(f"fortuna.{left_out}.") for left_out in LEFT_OUT)
]
