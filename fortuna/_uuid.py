"""`uuid4`: the standard library's function on the generator of the process."""

from __future__ import annotations

from uuid import UUID, SafeUUID

from . import random_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

#: The bits of version and variant (RFC 9562 4.1, 4.2), and what they are in version 4.
FIXED_BITS: Final = 0xF000 << 64 | 0xC000 << 48
VERSION_4: Final = 0x4000 << 64 | 0x8000 << 48
RANDOM_BITS: Final = (1 << 128) - 1 - FIXED_BITS

# The two slots of a UUID. Its constructor takes them apart and checks each part, which takes longer than the bytes.
_slots: Any = UUID
_set_int = _slots.int.__set__
_set_is_safe = _slots.is_safe.__set__
_new = object.__new__
_unknown = SafeUUID.unknown


def uuid4() -> UUID:
    """Return a random UUID, version 4 (RFC 9562 5.4), of 122 random bits.

    Raises
    ------
    FortunaError
        As `fortuna.random_bytes` and its first call raise it.
    """
    found = _new(UUID)
    _set_int(found, int.from_bytes(random_bytes(16), "big") & RANDOM_BITS | VERSION_4)
    _set_is_safe(found, _unknown)
    return found
