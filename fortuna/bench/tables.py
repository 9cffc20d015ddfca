"""The comparisons: each a table whose first contender is what the others are held against."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from Crypto.Cipher import AES
from Crypto.Cipher import ChaCha20 as CryptoChaCha20
from Crypto.Util import Counter

from .._boot import build, process
from ..tunables import Tunables
from .measure import Contender

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Final

    from ..rng import Fortuna

MIB: Final = 1 << 20
CIPHERS: Final = ("aes256-icm", "chacha20")


@dataclass(frozen=True, slots=True)
class Table:
    """One comparison.

    Attributes
    ----------
    title : str
        What is compared.
    contenders : tuple of Contender
        The first is the yardstick.
    """

    title: str
    contenders: tuple[Contender, ...]


def tables() -> tuple[Table, ...]:
    """Return all comparisons, with generators of their own that the process's default one does not notice."""
    aes, chacha = (build(Tunables({"generator.cipher": cipher}, {}), process.forks) for cipher in CIPHERS)
    zeros = bytes(MIB)
    aes_ctr, chacha20 = library_ciphers()
    return (
        Table("random_bytes(32), time against os.urandom(32)", requests(32, aes, chacha)),
        Table("random_bytes(4096), time against os.urandom(4096)", requests(4096, aes, chacha)),
        Table("random_bytes(1 MiB), time against os.urandom(1 MiB)", requests(MIB, aes, chacha)),
        Table(
            "1 MiB of AES-256, time against pycryptodome encrypting 1 MiB of zeros in counter mode",
            (
                Contender("pycryptodome AES-256-CTR encrypt", lambda: aes_ctr.encrypt(zeros)),
                Contender("fortuna aes256-icm random_bytes", lambda: aes.random_bytes(MIB)),
            ),
        ),
        Table(
            "1 MiB of ChaCha20, time against pycryptodome encrypting 1 MiB of zeros",
            (
                Contender("pycryptodome ChaCha20 encrypt", lambda: chacha20.encrypt(zeros)),
                Contender("fortuna chacha20 random_bytes", lambda: chacha.random_bytes(MIB)),
            ),
        ),
        Table(
            "start, whole processes, time against python -c pass",
            (
                Contender("python -c pass", start("-c", "pass")),
                Contender("python -c 'import fortuna'", start("-c", "import fortuna")),
                Contender("fortuna-dump -n 32", start(str(Path(sys.executable).with_name("fortuna-dump")), "-n", "32")),
            ),
        ),
    )


def requests(n: int, aes: Fortuna, chacha: Fortuna) -> tuple[Contender, ...]:
    """Return the contenders for *n* random bytes."""
    return (
        Contender("os.urandom", lambda: os.urandom(n)),
        Contender("secrets.token_bytes", lambda: secrets.token_bytes(n)),
        Contender("fortuna aes256-icm", lambda: aes.random_bytes(n)),
        Contender("fortuna chacha20", lambda: chacha.random_bytes(n)),
    )


def library_ciphers() -> tuple[Any, Any]:
    """Return pycryptodome's own objects, set up once, as a user of the library would hold them."""
    key = os.urandom(32)
    position = Counter.new(128, little_endian=True, initial_value=1)
    return AES.new(key, AES.MODE_CTR, counter=position), CryptoChaCha20.new(key=key, nonce=bytes(8))


def start(*arguments: str) -> Callable[[], object]:
    """Return a call that runs Python with *arguments*, its output dropped."""
    command = (sys.executable, *arguments)
    return lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
