"""The two paths a live generator's requests can take: the implementation in Python, and the one in C.

What any live generator owes is tested on both, as ``python`` and ``native``; the second is skipped where the C
extension is not in the installation. What belongs to one implementation alone names its path.
"""

from __future__ import annotations

from typing import Final

import pytest

try:
    from fortuna.generators import _native  # noqa: F401 - whether it is there is what counts
except ImportError as error:
    WHY_NO_NATIVE = f"the C extension is not in this installation: {error}"
else:
    WHY_NO_NATIVE = ""

needs_native = pytest.mark.skipif(bool(WHY_NO_NATIVE), reason=WHY_NO_NATIVE or "the C extension is there")
PATHS: Final = ("python", pytest.param("native", marks=needs_native))
#: A construction of each request rule.
RULES: Final = ("fsk2010", "fast-key-erasure")
#: For tests that want the path beside other parameters, rather than by the fixture of the same name.
both_paths = pytest.mark.parametrize("path", PATHS)
