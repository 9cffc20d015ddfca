"""Keystream generators: AES-256-ICM and the ChaCha family on interchangeable providers.

``create(name, provider)`` makes one, ``available()`` tells what there is, `KeystreamGenerator` is the contract. The
names are loaded when they are first used.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .availability import Availability, available
    from .base import KeystreamGenerator
    from .registry import create
    from .secret import Secret

__all__ = ["Availability", "KeystreamGenerator", "Secret", "available", "create"]

_HOME = {
    "Availability": ".availability",
    "KeystreamGenerator": ".base",
    "Secret": ".secret",
    "available": ".availability",
    "create": ".registry",
}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOME[name], __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
