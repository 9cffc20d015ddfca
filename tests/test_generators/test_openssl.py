"""The provider ``openssl``: what it asks of the library, and which libraries it refuses.

The doubles stand in for the classes of ``cryptography`` that the provider uses. Their ChaCha20 is the oracle's, with
the counter laid out as one library or another does, and they write down each call.
"""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pytest

from fortuna.errors import ProviderUnavailableError, SelfTestError
from fortuna.generators import counter as counter_module
from fortuna.generators import create, registry
from fortuna.generators.base import COUNTER_MAX
from fortuna.generators.counter import LIBRARY_CALL_MAX
from fortuna.generators.layouts import narrow
from fortuna.generators.providers.reference_aes import encrypt_block, expand_key
from fortuna.generators.providers.reference_chacha import chacha_block
from fortuna.generators.registry import load
from fortuna.generators.selftest import KEY

from .keystream_support import CELLS, assert_hidden, keyed, stream

if TYPE_CHECKING:
    from collections.abc import Callable

    from fortuna.typing import Buffer

if not find_spec("cryptography"):
    pytest.skip("the library cryptography is not installed", allow_module_level=True)

from fortuna.generators.providers import openssl

CHACHAS: Final = ("chacha20", "xchacha20")
LIBRESSL: Final = "an 8-byte IV with a 64-bit counter from 0, as in LibreSSL before 3.1"
BORINGSSL: Final = "a 32-bit counter that wraps without a carry, as in BoringSSL"
NARROW: Final = "a 64-bit counter that wraps without a carry into word 14"
#: Name -> (counter of the IV, blocks since) -> the counter of the block.
LAYOUTS: Final[dict[str, Callable[[int, int], int]]] = {
    "true": lambda entry, step: (entry + step) & COUNTER_MAX,
    LIBRESSL: lambda entry, step: (entry % 2**64 << 64) + step,
    BORINGSSL: lambda entry, step: narrow(entry, step, 32),
    NARROW: lambda entry, step: narrow(entry, step, 64),
}


class Call(NamedTuple):
    """What the library was asked for: the counter at entry, blocks since then, and how many bytes."""

    entry: int
    step: int
    size: int


class Library:
    """What the doubles of one test share."""

    def __init__(self, layout: str = "true", *, refuses: bool = False, copies: bool = False) -> None:
        self.place = LAYOUTS[layout]
        self.refuses = refuses
        self.copies = copies
        self.contexts = 0
        self.calls: list[Call] = []

    def install(self, monkeypatch: pytest.MonkeyPatch) -> Library:
        """Put the doubles in the place of the library, and forget what the real one was found to be."""
        monkeypatch.setattr(openssl, "Cipher", lambda algorithm, mode: CipherDouble(self, algorithm))
        monkeypatch.setattr(openssl, "CryptoChaCha20", lambda key, nonce: ("ChaCha20", key, nonce))
        monkeypatch.setattr(openssl, "AES", lambda key: ("AES", key, b""))
        monkeypatch.setattr(registry, "_outcomes", {})
        return self


class CipherDouble:
    """The object that describes a cipher; it reads key and IV when it makes a context, or keeps copies."""

    def __init__(self, library: Library, algorithm: tuple[str, Buffer, Buffer]) -> None:
        self.library = library
        name, key, nonce = algorithm
        self.algorithm = (name, bytes(key), bytes(nonce)) if library.copies else algorithm

    def encryptor(self) -> ContextDouble | BlocksDouble:
        """Make a context."""
        name, key, nonce = self.algorithm
        self.library.contexts += 1
        if name == "AES":
            return BlocksDouble(self.library, bytes(key))
        return ContextDouble(self.library, bytes(key), bytes(nonce))


class ContextDouble:
    """A ChaCha20 context; only whole blocks are asked of it, but for the last call after each entry."""

    def __init__(self, library: Library, key: bytes, nonce: bytes) -> None:
        self.library, self.key = library, key
        self.reset_nonce(nonce)

    def reset_nonce(self, nonce: bytes) -> None:
        """Enter at another counter."""
        assert 16 == len(nonce)
        self.entry, self.step = int.from_bytes(nonce, "little"), 0

    def update_into(self, data: bytes, out: bytearray | memoryview) -> int:
        """Write the keystream over *out*; refuse to go past a full low word where the library does."""
        blocks = -(-len(data) // 64)
        assert len(data) == len(out)
        assert not any(data)
        if self.library.refuses and self.entry % 2**32 + self.step + blocks > 2**32:
            raise ValueError("The 32-bit counter portion of the nonce would overflow.")
        self.library.calls.append(Call(self.entry, self.step, len(data)))
        made = b"".join(
            chacha_block(self.key, self.library.place(self.entry, self.step + block), 20) for block in range(blocks)
        )
        out[:] = made[: len(data)]
        self.step += blocks
        return len(data)


class BlocksDouble:
    """An AES context in ECB mode, which wants room behind the last block as ``cryptography`` does."""

    def __init__(self, library: Library, key: bytes) -> None:
        self.library, self.round_keys = library, expand_key(key)

    def update_into(self, data: bytes | memoryview, out: memoryview) -> int:
        """Encrypt whole blocks."""
        plain = bytes(data)
        assert 0 == len(plain) % 16
        if len(out) < len(plain) + 15:
            raise ValueError(f"buffer must be at least {len(plain) + 15} bytes for this payload")
        self.library.calls.append(Call(int.from_bytes(plain[:16], "little"), 0, len(plain)))
        for start in range(0, len(plain), 16):
            out[start : start + 16] = encrypt_block(self.round_keys, plain[start : start + 16])
        return len(plain)


@pytest.mark.parametrize("name", CHACHAS)
@pytest.mark.parametrize("refuses", [False, True])
@pytest.mark.parametrize("layout", ["true", NARROW])
def test_right_library_is_accepted(monkeypatch: pytest.MonkeyPatch, name: str, layout: str, refuses: bool) -> None:
    """OpenSSL's own answers to a call across the low word, a carry and a refusal, pass the boot's tests."""
    library = Library(layout, refuses=refuses).install(monkeypatch)
    made = load(name, "openssl")()
    # The proof itself crosses, once, where the library lets it; nothing else does.
    crossing = [call for call in library.calls if call.entry % 2**32 + call.step + -(-call.size // 64) > 2**32]
    assert ([] if refuses else [Call(2**32 - 1, 0, 88)]) == [call._replace(size=88) for call in crossing]
    made.set_key(KEY)
    for power in (32, 64, 96, 128):
        start = 2**power - 2
        assert stream(keyed(name, "reference"), start, 300) == stream(made, start, 300)


@pytest.mark.parametrize("name", CHACHAS)
@pytest.mark.parametrize("layout", [LIBRESSL, BORINGSSL])
def test_other_layout_is_refused(monkeypatch: pytest.MonkeyPatch, name: str, layout: str) -> None:
    """A library with another layout is refused at boot, and the message names the layout found."""
    Library(layout).install(monkeypatch)
    for _ in range(2):
        with pytest.raises(SelfTestError, match="known answer wrong") as caught:
            create(name, "openssl")
        assert f"(it has {layout})" in str(caught.value)
        assert "openssl" in str(caught.value)
        assert "0xffffffff" in str(caught.value)
        assert_hidden(KEY, str(caught.value))


@pytest.mark.parametrize("name", CHACHAS)
@pytest.mark.parametrize(("layout", "counter"), [(BORINGSSL, 2**32 - 1), (NARROW, 2**64 - 1), (LIBRESSL, 2**32 - 1)])
def test_other_layout_is_named_where_calls_cross(
    monkeypatch: pytest.MonkeyPatch, name: str, layout: str, counter: int
) -> None:
    """Were calls not cut, the known answers would refuse each layout at the counter where it first differs, by name."""
    Library(layout).install(monkeypatch)
    monkeypatch.setattr(openssl, "fits_one_call", lambda *arguments: True)
    monkeypatch.setattr(openssl.OpenSSLChaCha, "_test_kernel", lambda kernel: None)
    with pytest.raises(SelfTestError) as caught:
        create(name, "openssl")
    assert f"{counter:#x}: known answer wrong (it has {layout})" in str(caught.value)


@pytest.mark.parametrize("refuses", [False, True])
def test_refused_library_stays_refused_where_it_refuses(monkeypatch: pytest.MonkeyPatch, refuses: bool) -> None:
    """LibreSSL's old IV is found by the known answers too, where the library does not let a call cross."""
    Library(LIBRESSL, refuses=refuses).install(monkeypatch)
    with pytest.raises(SelfTestError, match=r"\(it has an 8-byte IV"):
        create("chacha20", "openssl")


def test_wrong_without_a_known_layout(monkeypatch: pytest.MonkeyPatch) -> None:
    """A library that is wrong in a way nobody knows is refused without a name for it."""
    library = Library().install(monkeypatch)
    library.place = lambda entry, step: entry ^ 1
    with pytest.raises(SelfTestError, match="known answer wrong; this provider is not used") as caught:
        create("chacha20", "openssl")
    assert "it has" not in str(caught.value)


@pytest.mark.parametrize("name", ["aes256-icm", *CHACHAS])
def test_library_that_keeps_its_first_key_is_refused(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """A library that copies the key when a cipher is described, not when a context is made, is refused."""
    Library(copies=True, refuses=True).install(monkeypatch)
    with pytest.raises(SelfTestError, match="known answer wrong"):
        create(name, "openssl")
    Library(refuses=True).install(monkeypatch)
    assert "openssl" == create(name, "openssl").provider


def test_library_that_refuses_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the library runs no ChaCha20 at all, the error says what it said, and ``auto`` goes on."""
    Library().install(monkeypatch)

    def refuse(self: CipherDouble) -> ContextDouble:
        raise RuntimeError("not in this mode of operation")

    monkeypatch.setattr(CipherDouble, "encryptor", refuse)
    with pytest.raises(SelfTestError, match="could not be computed: not in this mode of operation"):
        create("chacha20", "openssl")
    monkeypatch.setattr(registry, "AUTO_ORDER", ("openssl", "pycryptodome"))
    assert "pycryptodome" == create("chacha20").provider


@pytest.mark.parametrize("can_reset", [False, True])
def test_one_context_for_a_key(monkeypatch: pytest.MonkeyPatch, can_reset: bool) -> None:
    """A key has one context that goes from counter to counter, or a new one for each entry where none can."""
    monkeypatch.setattr(openssl, "CAN_RESET", can_reset)
    library = Library(refuses=True).install(monkeypatch)
    made = create("chacha20", "openssl")
    expected = keyed("chacha20", "reference")
    made.set_key(KEY)
    library.contexts = 0
    for counter in (0, 7, 2**32 - 1, 2**128 - 1):
        assert stream(expected, counter, 200) == stream(made, counter, 200)
    assert (1 if can_reset else 6) == library.contexts
    made.set_key(bytes(32))
    assert stream(keyed("chacha20", "reference", key=bytes(32)), 5, 64) == stream(made, 5, 64)
    assert (2 if can_reset else 7) == library.contexts


@pytest.mark.parametrize("size", [1, 64, 1000, 4160])
def test_library_is_never_asked_to_cross(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    """Around every edge no call goes past a multiple of 2**32 blocks."""
    library = Library(refuses=True).install(monkeypatch)
    made = keyed("chacha20", "openssl")
    library.calls.clear()
    for power in (32, 64, 96, 128):
        for back in (1, 2, 3):
            start = 2**power - back
            assert stream(keyed("chacha20", "reference"), start, size) == stream(made, start, size)
    assert {2**power - 1 for power in (32, 64, 96, 128)} <= {call.entry for call in library.calls}
    for call in library.calls:
        assert 0 == call.step
        assert call.entry // 2**32 == (call.entry + (call.size - 1) // 64) // 2**32


@pytest.mark.parametrize("name", ["aes256-icm", "chacha20"])
@pytest.mark.parametrize("extra", [-1, 0, 1, 15, 16, 17])
def test_calls_are_capped(monkeypatch: pytest.MonkeyPatch, name: str, extra: int) -> None:
    """Around the cap of one call, and of the template, the bytes are those of another provider."""
    assert counter_module.LIBRARY_CALL_MAX <= 1 << 30
    for start in (0, 2**32 - 5, 2**128 - 40_000):
        size = LIBRARY_CALL_MAX + extra
        assert stream(keyed(name, "pycryptodome"), start, size) == stream(keyed(name, "openssl"), start, size)


@pytest.mark.parametrize("size", [*range(34), *range(4079, 4116), 4128, 4129])
def test_aes_sizes(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    """Around every size at which a request takes another road the AES bytes are right, and none behind them changes."""
    out = bytearray(b"\xa5" * (size + 32))
    made, expected = keyed("aes256-icm", "openssl"), keyed("aes256-icm", "pycryptodome")
    with memoryview(out) as view:
        made.keystream_into(2**64 - 3, view[:size])
    assert stream(expected, 2**64 - 3, size) == out[:size]
    assert b"\xa5" * 32 == out[size:]


@pytest.mark.parametrize("size", [1, 64, 4096, 4097, 100_000])
def test_aes_scratch_is_wiped(size: int) -> None:
    """The scratch buffer of AES holds zeros after every call."""
    made: Any = keyed("aes256-icm", "openssl")
    assert any(stream(made, 9, size))
    assert not any(made._scratch)


BROKEN_IMPORTS: Final = {
    "ImportError('libssl.so.3: cannot open shared object file')": "cannot be loaded (ImportError: libssl.so.3: cannot",
    "AttributeError('module has no attribute ciphers')": "cannot be loaded (AttributeError: module has no attribute",
    "RuntimeError('legacy provider failed to load')": "cannot be loaded (RuntimeError: legacy provider failed to load)",
    "ModuleNotFoundError('No module named _cffi_backend', name='_cffi_backend')": "cannot be loaded (ModuleNotFound",
    "type('PanicException', (BaseException,), {})('rust panicked')": "cannot be loaded (PanicException: rust panicked)",
    "ImportError('PyO3 modules do not yet support subinterpreters')": "refuses sub-interpreters (PyO3 modules do not",
    "ModuleNotFoundError('No module named cryptography', name='cryptography')": "is not installed; pip install",
}
BREAK: Final = """
import sys
class Broken:
    def find_spec(self, name, path, target=None):
        if name == "cryptography":
            raise {error}
sys.meta_path.insert(0, Broken())
sys.modules["fortuna.generators._native"] = None
from fortuna.errors import ProviderUnavailableError
from fortuna.generators import available, create
print(create("chacha20").provider)
for _ in range(2):
    try:
        create("chacha20", "openssl")
    except ProviderUnavailableError as error:
        print(error)
print(*[row.reason for row in available() if (row.generator, row.provider) == ("chacha20", "openssl")])
"""


@pytest.mark.parametrize("error", BROKEN_IMPORTS)
def test_broken_library_is_passed_over(error: str) -> None:
    """However the library fails to load, ``auto`` goes on, and its name brings a message that says what to do."""
    run = subprocess.run([sys.executable, "-c", BREAK.format(error=error)], capture_output=True, text=True, check=True)
    served, first, second, reason = run.stdout.splitlines()
    assert "pycryptodome" == served
    assert first == second == reason
    assert first.startswith("provider 'openssl' cannot be imported: the library cryptography ")
    assert BROKEN_IMPORTS[error] in first
    remedies = ("reinstall it", "use native or pycryptodome in them", "pip install 'fortuna-rng[openssl]'")
    assert 1 == sum(first.endswith(remedy) for remedy in remedies)


def test_interruption_of_the_import_is_no_reason() -> None:
    """What ends a program is not taken for a broken library."""
    code = BREAK.format(error="SystemExit(7)")
    assert 7 == subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode


def test_skipped_only_where_absent() -> None:
    """Where ``cryptography`` is installed, every generator of the provider runs and is among the tested cells."""
    ours = {cell for cell in registry.FACTORIES if cell[1] == "openssl"}
    assert {(name, "openssl") for name in ("aes256-icm", *CHACHAS)} == ours
    assert ours == {cell[:2] for cell in CELLS if cell[1] == "openssl"}


def test_no_cipher_that_it_lacks() -> None:
    """A cipher that the library does not have is refused by name, with the providers that run it."""
    for name in ("chacha12", "chacha8", "xchacha12", "xchacha8"):
        with pytest.raises(ProviderUnavailableError, match=f"'openssl' has no generator '{name}'; it runs on: native"):
            create(name, "openssl")
