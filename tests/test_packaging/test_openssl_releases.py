"""The provider ``openssl`` on releases of ``cryptography`` that differ: the oldest that is allowed, one, the newest.

They have contexts that cannot be put at another counter, contexts that carry silently at 2**32 blocks, and contexts
that refuse to; and each its own OpenSSL.
"""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING, Final

import pytest

from .packaging_support import PROJECT, ROOT, Venv, run

if TYPE_CHECKING:
    from pathlib import Path

FLOOR: Final = re.search(r"cryptography>=(\d+)", " ".join(PROJECT["optional-dependencies"]["openssl"]))
#: What is installed -> releases that it may be, whether a context can be put at another counter, what a crossing does.
RELEASES: Final = {
    "cryptography==42.0.0": (range(42, 43), "False", "carries"),
    "cryptography==48.*": (range(48, 49), "True", "carries"),
    "cryptography": (range(49, 1000), "True", "refuses"),
}
#: Prints release, whether a context can be put elsewhere, and what it does at 2**32 and at 2**64.
SHOW: Final = """
import cryptography
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import ChaCha20
from fortuna.generators import create
from fortuna.generators.providers import openssl
def blocks(counter, count):
    return Cipher(ChaCha20(bytes(32), counter.to_bytes(16, "little")), None).encryptor().update(bytes(64 * count))
def crossing(counter):
    try:
        second = blocks(counter - 1, 2)[64:]
    except ValueError:
        return "refuses"
    return {blocks(counter, 1): "carries", blocks(0, 1): "wraps"}[second]
print(cryptography.__version__.partition(".")[0], openssl.CAN_RESET, crossing(2**32), crossing(2**64))
print(*[create(name, "openssl").provider for name in ("aes256-icm", "chacha20", "xchacha20")])
"""


@pytest.mark.slow
@pytest.mark.parametrize("requirement", RELEASES)
def test_release(requirement: str, wheel: Path, tmp_path: Path) -> None:
    """The provider passes every vector and its own tests on the release, which is the one asked for."""
    releases, can_reset, at_the_low_word = RELEASES[requirement]
    venv = Venv(tmp_path / "venv")
    venv.install(wheel, requirement, "pytest>=8", "hypothesis>=6.100")
    release, reset, low, half, *providers = venv.run("python", "-W", "error", "-c", SHOW).split()
    assert int(release) in releases
    assert (can_reset, at_the_low_word) == (reset, low)
    # A library that carries goes no further than 64 bits; no call of ours gets there.
    assert ("refuses" if low == "refuses" else "wraps") == half
    assert ["openssl"] * 3 == providers
    # Out of reach of the checkout, so that the wheel is what is tested.
    away = tmp_path / "away"
    shutil.copytree(ROOT / "tests", away / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", away)
    files = ("test_keystream_vectors", "test_keystream_properties", "test_openssl", "test_hchacha")
    tests = [f"tests/test_generators/{file}.py" for file in files]
    said = run(venv.python, "-m", "pytest", "-q", "-k", "openssl", "-p", "no:cacheprovider", *tests, cwd=away)
    assert re.search(r"\d{3,} passed", said)
    assert not re.search("failed|error|skipped", said)


def test_oldest_release_is_the_floor() -> None:
    """The oldest release that is tested is the oldest that the extra allows."""
    assert FLOOR is not None
    assert FLOOR[1] in next(iter(RELEASES))
