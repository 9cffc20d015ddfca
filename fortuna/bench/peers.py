"""What a Python program would use instead: each peer that is installed, set up as its users set it up.

Peers are held against fortuna, which rekeys on every request and survives forks; most of them do neither. What each
lacks is in docs/comparison.md.
"""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
from functools import partial

from Crypto.Cipher import AES
from Crypto.Cipher import ChaCha20 as CryptoChaCha20
from Crypto.Util import Counter

from .measure import Contender

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Final

MIB: Final = 1 << 20


def request_peers(n: int) -> Iterator[Contender]:
    """Yield what gives *n* random bytes; the first is the yardstick."""
    yield Contender("os.urandom", os.urandom, arguments=(n,))
    yield Contender("secrets.token_bytes", secrets.token_bytes, arguments=(n,))
    try:
        import numpy as np
    except ImportError:
        return
    pcg = np.random.default_rng()
    yield Contender("numpy PCG64 (statistics)", pcg.bytes, arguments=(n,))
    try:
        import randomgen  # pyright: ignore[reportMissingTypeStubs]
    except ImportError:
        return
    chacha = np.random.Generator(randomgen.ChaCha(rounds=20))  # pyright: ignore[reportArgumentType]
    yield Contender("randomgen ChaCha20 (statistics)", chacha.bytes, arguments=(n,))


def aes_peers() -> Iterator[Contender]:
    """Yield what makes 1 MiB of AES-256 keystream into a buffer; the first is the yardstick."""
    key, zeros, out = os.urandom(32), bytes(MIB), bytearray(MIB + 15)
    try:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
    except ImportError:
        pass
    else:
        openssl = Cipher(algorithms.AES256(key), modes.CTR(bytes(16))).encryptor()
        yield Contender("cryptography AES-256-CTR update_into", lambda: openssl.update_into(zeros, out), MIB)
    position = Counter.new(128, little_endian=True, initial_value=1)
    library = AES.new(key, AES.MODE_CTR, counter=position)
    view = memoryview(out)[:MIB]
    yield Contender("pycryptodome AES-256-CTR encrypt", lambda: library.encrypt(zeros), MIB)
    yield Contender("pycryptodome AES-256-CTR encrypt(output=)", lambda: library.encrypt(zeros, output=view), MIB)


def chacha_peers() -> Iterator[Contender]:
    """Yield what makes 1 MiB of ChaCha20 keystream into a buffer; the first is the yardstick."""
    key, zeros, out = os.urandom(32), bytes(MIB), bytearray(MIB + 15)
    try:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms
    except ImportError:
        pass
    else:
        openssl = Cipher(algorithms.ChaCha20(key, bytes(16)), None).encryptor()

        def update() -> None:
            # From the start each time: newer releases refuse to run past 2**32 blocks.
            openssl.reset_nonce(bytes(16))
            openssl.update_into(zeros, out)

        yield Contender("cryptography ChaCha20 update_into", update, MIB)
    library = CryptoChaCha20.new(key=key, nonce=bytes(8))
    yield Contender("pycryptodome ChaCha20 encrypt", lambda: library.encrypt(zeros), MIB)


def process_peers(size: int) -> Iterator[Contender]:
    """Yield commands that write *size* random bytes, those that are installed; the first is the yardstick."""
    for name, arguments in (("head", ("-c", str(size), "/dev/urandom")), ("openssl", ("rand", str(size)))):
        path = shutil.which(name)
        if path is not None:
            run = partial(subprocess.run, (path, *arguments), check=True, stdout=subprocess.DEVNULL)
            yield Contender(" ".join((name, *arguments)), run, size)
