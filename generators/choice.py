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
    distribution : str
        Name and version of the distribution whose plug-in it is; empty for our own.
    """

    __slots__ = ("_class", "block_size", "distribution", "kernel", "name", "provider")

    def __init__(self, chosen: type[KeystreamGenerator], kernel: str, distribution: str = "") -> None:
        self._class = chosen
        self.name = chosen.name
        self.provider = chosen.provider
        self.block_size = chosen.block_size
        self.kernel = kernel
        self.distribution = distribution

    @property
    def known_answers(self) -> tuple[tuple[int, str], ...]:
        """The known answers that a plug-in's class brings."""
        return self._class._known_answers

    def __call__(self) -> KeystreamGenerator:
        """Make an instance."""
        return self._class._make(self.kernel)

    def __repr__(self) -> str:
        return f"<{self.name} by {self.provider}, kernel {self.kernel}>"
