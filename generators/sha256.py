"""SHA-256 of the standard library, by its shortest way in.

``hashlib`` loads OpenSSL, which takes as long as everything else of a start together. Its own fallback, a small module
without dependencies, computes the same; pools and keys are hashed so seldom that its speed does not matter. The
standard library's ``random`` takes the same short cut.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hashlib import sha256
else:
    try:
        from _sha2 import sha256  # Python 3.12 and newer
    except ImportError:
        try:
            from _sha256 import sha256  # up to 3.11
        except ImportError:  # a build without it
            from hashlib import sha256

__all__ = ["sha256"]
