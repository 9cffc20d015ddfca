"""The example through fortuna's conformance kit, and through its door."""

from __future__ import annotations

from fortuna_example_aes_ctr import AES256CTR

from fortuna.generators import create
from fortuna.generators.conformance import KeystreamConformance

#: NIST SP 800-38A F.5.5: key, initial counter block, and the four output blocks.
KEY = "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4"
COUNTER = "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff"
OUTPUT = (
    "0bdf7df1591716335e9a8b15c860c502"
    "5a6e699d536119065433863c8f657b94"
    "1bc12c9c01610d5d0d8bd6a3378eca62"
    "2956e1c8693536b1bee99c73a31576b6"
)


class TestAES256CTR(KeystreamConformance):
    """The contract, on this generator."""

    block_size = 16
    vectors = ((bytes.fromhex(KEY), int(COUNTER, 16), bytes.fromhex(OUTPUT)),)

    def make(self) -> AES256CTR:
        """Return an instance without a key."""
        return AES256CTR()


def test_found_by_name() -> None:
    """The installed distribution offers the generator under its name."""
    made = create("aes256-ctr")
    assert type(made) is AES256CTR
    assert (made.provider, made.kernel) == ("plug-in", "pycryptodome")
