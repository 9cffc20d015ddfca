"""Output formats: how bytes are shown."""

from __future__ import annotations

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


def encode_hex(view: memoryview) -> bytes:
    """Return two digits for each byte."""
    return view.hex().encode()


def encode_base64(view: memoryview) -> bytes:
    """Return base64 (RFC 4648 4) without line breaks."""
    from binascii import b2a_base64  # here, because the default format does without

    return b2a_base64(view, newline=False)


FORMATS: Final = {
    form.name: form
    for form in (
        Format("hex", encode_hex, is_text=True),
        Format("raw", lambda view: view, is_text=False),
        Format("base64", encode_base64, is_text=True, unit=3),
    )
}
