"""Mutable secret bytes that hide from ``repr`` and can be overwritten.

Error reporters print the local variables of every frame of a traceback. A key held in a plain ``bytearray`` would be
printed with them, so keys, seeds and scratch keystream live in a `Secret`. Python may still have made copies that no
code of ours can reach (hash states, a library's key schedule): docs/limitations.md lists them.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn, SupportsIndex


class Uncopyable:
    """Refuse ``copy``, ``deepcopy`` and ``pickle``, because two copies of one state give the same bytes twice."""

    __slots__ = ()

    def __reduce__(self) -> NoReturn:
        """Raise ``TypeError``."""
        raise TypeError(
            f"cannot copy or pickle {type(self).__name__}: a copy of its state would repeat the same bytes; "
            "make a new one instead"
        )

    def __reduce_ex__(self, protocol: SupportsIndex, /) -> NoReturn:
        """Raise ``TypeError``: the door through which copying and pickling go."""
        self.__reduce__()


class Secret(Uncopyable, bytearray):
    """A ``bytearray`` whose contents appear in no ``repr``, ``str`` or pickle."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<{len(self)} secret bytes>"

    __str__ = __repr__

    def wipe(self) -> None:
        """Overwrite every byte with zero, in place."""
        self[:] = bytes(len(self))


class SecretWords(list[int]):
    """A list of words whose contents appear in no ``repr``: the working state of the plain-Python ciphers."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<{len(self)} secret words>"
