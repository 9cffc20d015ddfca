"""Output formats: how bytes are shown."""

from __future__ import annotations

from binascii import b2a_base64, hexlify

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Final

    from ..typing import Buffer


class Format:
    """One way to show bytes.

    Attributes
    ----------
    name : str
        The value of ``-f``.
    is_text : bool
        Whether the output is one line of text, ended by a newline.
    unit : int
        Bytes that must be encoded together for pieces to join without a seam.
    encode : callable
        Bytes in, output out.
    """

    __slots__ = ("encode", "is_text", "name", "unit")

    def __init__(self, name: str, encode: Callable[[memoryview], Buffer], *, is_text: bool, unit: int = 1) -> None:
        self.name = name
        self.encode = encode
        self.is_text = is_text
        self.unit = unit


FORMATS: Final = {
    form.name: form
    for form in (
        Format("hex", hexlify, is_text=True),
        Format("raw", lambda view: view, is_text=False),
        Format("base64", lambda view: b2a_base64(view, newline=False), is_text=True, unit=3),
    )
}
