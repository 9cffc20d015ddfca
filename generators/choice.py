"""What was chosen: a generator, the provider that runs it, and the kernel inside the provider."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .base import KeystreamGenerator


class Choice:
    """A way to make keystream generators of one kind; calling it makes one, without a key.

    Attributes
    ----------
    name : str
        The generator's registered name.
    provider : str
        The library that executes it.
    kernel : str
        The code inside the provider.
    block_size : int
        Bytes that one counter value gives.
    """

    __slots__ = ("_class", "block_size", "kernel", "name", "provider")

    def __init__(self, chosen: type[KeystreamGenerator], kernel: str) -> None:
        self._class = chosen
        self.name = chosen.name
        self.provider = chosen.provider
        self.block_size = chosen.block_size
        self.kernel = kernel

    def __call__(self) -> KeystreamGenerator:
        """Make an instance."""
        return self._class._make(self.kernel)

    def __repr__(self) -> str:
        return f"<{self.name} by {self.provider}, kernel {self.kernel}>"
