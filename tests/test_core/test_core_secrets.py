"""Secrets of the core: hidden from texts, copies and the frames of a traceback, and gone after a wipe."""

from __future__ import annotations

import copy
import pickle
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fortuna.core import CONSTRUCTIONS, Accumulator, Generator, Pool, constructions
from fortuna.core import accumulator as accumulator_module
from fortuna.core import generator as generator_module
from fortuna.core.generator import ONE_CALL_MAX
from fortuna.errors import NotSeededError, ParameterError
from fortuna.generators import KeystreamGenerator, hchacha
from fortuna.generators.providers import pycryptodome, reference_aes, reference_chacha
from fortuna.generators.registry import resolve
from fortuna.generators.secret import Secret, Uncopyable

from .core_support import CELLS, assert_hidden, make_generator, state

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

#: Bytes that are unlikely to stand in any text by chance, in no spelling.
PRECIOUS = bytes((7 * i + 129) % 256 for i in range(32))
COUNTER = int.from_bytes(PRECIOUS[3:19], "little")
COPIES: list[Callable[[Any], object]] = [
    copy.copy,
    copy.deepcopy,
    lambda value: copy.deepcopy([{"nested": value}]),
    *[
        lambda value, protocol=protocol: pickle.dumps(value, protocol)
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1)
    ],
]
HERE = str(Path(__file__).resolve().parent)


class BoomError(Exception):
    """What the doubles raise, so that no other failure is taken for it."""


def boom(*args: object, **kwargs: object) -> Any:
    """Raise, whatever is asked."""
    raise BoomError("out of order")


@pytest.fixture(params=CELLS, ids="-".join)
def generator(request: pytest.FixtureRequest) -> Generator:
    """Give a generator of each cell whose K and C are the precious bytes."""
    return make_generator(request.param, key=PRECIOUS, counter=COUNTER)


def holders(generator: Generator) -> list[Uncopyable]:
    """Return one object of each class that holds secrets."""
    accumulator = Accumulator(generator, generator.construction)
    accumulator.add(1, PRECIOUS, pool=0)
    pool = Pool(b"")
    pool.add(PRECIOUS)
    twin = Generator(resolve(*CELLS[0]), generator.construction, key=PRECIOUS, counter=COUNTER)
    return [generator, accumulator, pool, twin.claim(64), Secret(PRECIOUS)]


@pytest.mark.parametrize("text", [repr, str, ascii, "{}".format, "{!r}".format])
def test_texts_show_no_secret(generator: Generator, text: Callable[[object], str]) -> None:
    """No text of generator, accumulator, pool, claim or secret shows key, counter or pool contents."""
    for holder in holders(generator):
        shown = text(holder)
        for secret in (PRECIOUS, PRECIOUS[3:19], sha256(PRECIOUS).digest()):
            assert_hidden(secret, shown)


def test_texts_are_useful(generator: Generator) -> None:
    """The texts say what a reader of a log needs: cipher, provider, construction, seeded, reseeds, length."""
    cipher = f"{generator._keystream.name}/{generator._keystream.provider}"
    _, accumulator, pool, _, _ = holders(generator)
    assert f"<generator {cipher} fsk2010, seeded>" == repr(generator)
    generator.wipe()
    assert f"<generator {cipher} fsk2010, not seeded>" == repr(generator)
    assert "<accumulator fsk2010, 0 reseeds>" == repr(accumulator)
    assert "<pool of 32 bytes>" == repr(pool)


@pytest.mark.parametrize("duplicate", COPIES)
def test_nothing_is_copied(generator: Generator, duplicate: Callable[[object], object]) -> None:
    """Copying or pickling any holder of secrets is a TypeError that names the class, says why, and shows nothing."""
    for holder in holders(generator):
        with pytest.raises(TypeError, match=f"cannot copy or pickle {type(holder).__name__}") as caught:
            duplicate(holder)
        assert "would repeat the same bytes" in str(caught.value)
        assert_hidden(PRECIOUS, str(caught.value))


def frames_of(error: BaseException | None) -> list[FrameType]:
    """Return the frames of the product and its libraries in an error's traceback and in those it came from."""
    frames: list[FrameType] = []
    while error is not None:
        step = error.__traceback__
        while step is not None:
            if not step.tb_frame.f_code.co_filename.startswith(HERE):
                frames.append(step.tb_frame)
            step = step.tb_next
        error = error.__cause__ or error.__context__
    return frames


def assert_frames_hide(secrets: list[bytes], error: BaseException) -> None:
    """Assert that no local variable of any frame shows a secret, as an error reporter would print it."""
    frames = frames_of(error)
    assert frames
    for frame in frames:
        for name, value in frame.f_locals.items():
            for secret in secrets:
                shown = repr(value)
                for spelling in (secret.hex(), repr(secret)[2:-1], str(list(secret))[1:-1]):
                    assert spelling not in shown, f"{frame.f_code.co_name}: {name}"


class RaisingCipher:
    """A library object whose every call raises."""

    encrypt = seek = update_into = reset_nonce = staticmethod(boom)


def break_openssl(monkeypatch: pytest.MonkeyPatch, encryptor: Callable[..., object]) -> None:
    """Make *encryptor* stand in for the method of ``cryptography`` that makes a context, and make those that are."""
    if any(provider == "openssl" for _, provider, _ in CELLS):
        provider = "fortuna.generators.providers.openssl"
        monkeypatch.setattr(f"{provider}.Cipher.encryptor", encryptor)
        monkeypatch.setattr(f"{provider}.OpenSSLChaCha._enter", lambda self, counter: self._recipe.encryptor())


def break_native(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the last call before the C extension raise; what is in C has no frames."""
    if any(provider == "native" for _, provider, _ in CELLS):
        monkeypatch.setattr("fortuna.generators.providers.native.counter_block", boom)


def break_new(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the library's constructors raise."""
    monkeypatch.setattr(pycryptodome.AES, "new", boom)  # type: ignore[attr-defined]
    monkeypatch.setattr(pycryptodome.CryptoChaCha20, "new", boom)  # type: ignore[attr-defined]
    break_openssl(monkeypatch, boom)
    monkeypatch.setattr(reference_aes, "encrypt_block", boom)
    monkeypatch.setattr(reference_chacha, "chacha_block", boom)
    break_native(monkeypatch)


def break_encrypt(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the library's objects raise at the first use."""
    monkeypatch.setattr(pycryptodome.AES, "new", lambda *args: RaisingCipher())  # type: ignore[attr-defined]
    monkeypatch.setattr(pycryptodome.CryptoChaCha20, "new", lambda **kwargs: RaisingCipher())  # type: ignore[attr-defined]
    break_openssl(monkeypatch, lambda *args: RaisingCipher())
    monkeypatch.setattr(reference_aes, "counter_block", boom)
    monkeypatch.setattr(reference_chacha, "chacha_block", boom)
    break_native(monkeypatch)


def break_deep_in_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the library raise below its own Python code, so that its frames are on the traceback too."""
    from Crypto.Cipher import AES, ChaCha20

    monkeypatch.setattr(AES, "_create_cipher", boom)
    monkeypatch.setattr(ChaCha20, "create_string_buffer", boom, raising=False)
    monkeypatch.setattr(ChaCha20, "_raw_chacha20_lib", None)
    if any(provider == "openssl" for _, provider, _ in CELLS):
        from cryptography.hazmat.primitives.ciphers import base

        monkeypatch.setattr(base, "rust_openssl", None)
        # With a context that is made already there would be nothing below.
        break_openssl(monkeypatch, base.Cipher.encryptor)
    monkeypatch.setattr(reference_aes, "encrypt_block", boom)
    monkeypatch.setattr(reference_chacha, "chacha_block", boom)
    break_native(monkeypatch)


def break_keystream(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make keystream_into itself raise."""
    monkeypatch.setattr(KeystreamGenerator, "keystream_into", boom)


BREAKS = [break_new, break_encrypt, break_deep_in_the_library, break_keystream]
READS: list[Callable[[Generator], object]] = [
    lambda g: g.random_bytes(50),
    lambda g: g.readinto(bytearray(50)),
    lambda g: g.readinto(bytearray(ONE_CALL_MAX + 1)),
    lambda g: g.claim(50),
    lambda g: Accumulator(g, g.construction).random_data(50, 0),
]


@pytest.mark.parametrize("breaking", BREAKS)
@pytest.mark.parametrize("number", range(len(READS)))
def test_frames_of_a_failed_read(
    generator: Generator, monkeypatch: pytest.MonkeyPatch, breaking: Callable[[pytest.MonkeyPatch], None], number: int
) -> None:
    """When the innermost call fails during a read or a claim, no frame's locals show K, and K and C have not moved."""
    before = state(generator)
    breaking(monkeypatch)
    with pytest.raises((BoomError, AttributeError)) as caught:
        READS[number](generator)
    assert_frames_hide([PRECIOUS], caught.value)
    assert before == state(generator)


@pytest.mark.parametrize("breaking", BREAKS)
def test_frames_of_a_failed_fill(
    generator: Generator, monkeypatch: pytest.MonkeyPatch, breaking: Callable[[pytest.MonkeyPatch], None]
) -> None:
    """When filling a claim fails, no frame's locals show the claimed key or the next, and the claim is spent."""
    claim = generator.claim(50)
    keystream = claim._keystream
    assert keystream is not None
    keystream.set_key(PRECIOUS)
    after = state(generator)
    breaking(monkeypatch)
    with pytest.raises((BoomError, AttributeError)) as caught:
        claim.fill(bytearray(50))
    assert_frames_hide([PRECIOUS, bytes.fromhex(after.key)], caught.value)
    monkeypatch.undo()
    with pytest.raises(ParameterError, match="no key is set"):
        keystream.keystream_into(1, bytearray(1))
    with pytest.raises(ParameterError, match="filled before"):
        claim.fill(bytearray(50))
    assert after == state(generator)
    assert 10 == len(generator.random_bytes(10))


@pytest.mark.parametrize("forced", [False, True])
@pytest.mark.parametrize("target", ["hash", "set_key"])
def test_frames_of_a_failed_reseed(
    generator: Generator, monkeypatch: pytest.MonkeyPatch, target: str, forced: bool
) -> None:
    """When a reseed fails in the hash or in the cipher, no frame's locals show the old key, the seed or the new key."""
    accumulator = Accumulator(generator, generator.construction, min_pool_size=34)
    accumulator.add(1, bytes(32), pool=0)
    digest = sha256(sha256(bytes(64) + b"\x01\x20" + bytes(32)).digest()).digest()
    fresh = bytes(range(60, 92)) if forced else b""
    new_key = sha256(sha256(bytes(64) + PRECIOUS + fresh + digest).digest()).digest()
    if target == "hash":
        monkeypatch.setattr(constructions, "sha256", boom)
    else:
        monkeypatch.setattr(type(generator._keystream), "_rekey", boom)
    due = (lambda: accumulator.reseed(0, Secret(fresh))) if forced else (lambda: accumulator.reseed_if_due(0))
    with pytest.raises(BoomError) as caught:
        due()
    assert_frames_hide([PRECIOUS, digest, new_key, *([fresh] if forced else [])], caught.value)


def test_frames_of_a_failed_set_key(generator: Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    """When taking a key fails, no frame's locals show it."""
    monkeypatch.setattr(type(generator._keystream), "_rekey", boom)
    with pytest.raises(BoomError) as caught:
        generator._keystream.set_key(Secret(PRECIOUS))
    assert_frames_hide([PRECIOUS], caught.value)
    with pytest.raises(ParameterError) as refused:
        generator._keystream.set_key(Secret(PRECIOUS[:31]))
    assert_frames_hide([PRECIOUS[:31]], refused.value)


def test_frames_bite(monkeypatch: pytest.MonkeyPatch) -> None:
    """The walk over the frames finds a key that a plain object holds: here, the caller's own bytes."""
    generator = resolve(*CELLS[0])()
    with pytest.raises(ParameterError) as caught:
        generator.set_key(PRECIOUS + b"x")
    with pytest.raises(AssertionError, match="set_key"):
        assert_frames_hide([PRECIOUS], caught.value)


@pytest.mark.parametrize("construction", list(CONSTRUCTIONS))
def test_wipe_leaves_it_unseeded(construction: str) -> None:
    """After wipe() K and C are zero, nothing is given, and a reseed starts over as from a new generator."""
    for cell in CELLS:
        generator = make_generator(cell, construction, key=PRECIOUS, counter=COUNTER)
        key = generator._key
        generator.wipe()
        assert bytes(32) == bytes(key)
        assert not generator.is_seeded
        assert state(make_generator(cell, construction)) == state(generator)
        with pytest.raises(NotSeededError):
            generator.random_bytes(1)
        generator.reseed(b"anew")
        fresh = make_generator(cell, construction)
        fresh.reseed(b"anew")
        assert fresh.random_bytes(100) == generator.random_bytes(100)


def test_claim_wipes_its_key(generator: Generator) -> None:
    """A filled claim has wiped its key, and the generator takes the wiped cipher back for a later claim."""
    claim = generator.claim(20)
    keystream = claim._keystream
    assert keystream is not None
    claim.fill(bytearray(20))
    with pytest.raises(ParameterError, match="no key is set"):
        keystream.keystream_into(1, bytearray(1))
    generator.claim(20)
    assert keystream is generator._keystream


def test_old_key_is_overwritten_in_place(generator: Generator) -> None:
    """K lives in one secret all the time: reads and reseeds overwrite it and leave no second one behind."""
    key = generator._key
    generator.random_bytes(5)
    assert generator._key is key
    assert PRECIOUS != bytes(key)
    middle = bytes(key)
    generator.reseed(b"s")
    assert generator._key is key
    assert middle != bytes(key)
    generator.claim(5)
    assert generator._key is key


def test_key_is_copied_from_the_caller() -> None:
    """Changing the caller's key buffer changes nothing, and the generator wipes its own copy only."""
    buffer = bytearray(PRECIOUS)
    generator = Generator(resolve(*CELLS[0]), CONSTRUCTIONS["fsk2010"], key=buffer, counter=1)
    expected = make_generator(CELLS[0], key=PRECIOUS, counter=1).random_bytes(50)
    buffer[:] = bytes(32)
    assert expected == generator.random_bytes(50)
    buffer[:] = PRECIOUS
    generator.wipe()
    assert PRECIOUS == bytes(buffer)


@pytest.fixture
def secrets_made(generator: Generator, monkeypatch: pytest.MonkeyPatch) -> list[Secret]:
    """Collect every secret that is made after the generator, which keeps its own K."""
    made: list[Secret] = []

    class RecordedSecret(Secret):
        __slots__ = ()

        def __init__(self, *args: Any) -> None:
            super().__init__(*args)
            made.append(self)

    for module in (generator_module, accumulator_module, constructions, pycryptodome, hchacha):
        monkeypatch.setattr(module, "Secret", RecordedSecret)
    if generator._keystream.provider == "openssl":
        monkeypatch.setattr("fortuna.generators.providers.openssl.Secret", RecordedSecret)
    return made


@pytest.mark.parametrize("n", [1, 16, 50, 64, ONE_CALL_MAX, ONE_CALL_MAX + 1])
def test_scratch_of_a_read_is_wiped(generator: Generator, secrets_made: list[Secret], n: int) -> None:
    """After a read nothing but K itself holds key or keystream: every scratch secret is zero."""
    generator.random_bytes(n)
    assert secrets_made
    keys = {id(generator._key), id(getattr(generator._keystream, "_key", None))}
    for secret in secrets_made:
        if id(secret) not in keys:
            assert bytes(len(secret)) == bytes(secret)


def test_seed_of_a_reseed_is_wiped(generator: Generator, secrets_made: list[Secret]) -> None:
    """After a reseed the seed that was put together is zero."""
    accumulator = Accumulator(generator, generator.construction)
    accumulator.add(1, PRECIOUS, pool=0)
    accumulator.reseed(0, PRECIOUS)
    seeds = [secret for secret in secrets_made if len(secret) == 64]
    assert seeds
    for seed in seeds:
        assert bytes(64) == bytes(seed)


def test_new_key_of_a_reseed_is_wiped(generator: Generator, secrets_made: list[Secret]) -> None:
    """After a reseed only K itself holds the new key."""
    generator.reseed(b"seed")
    assert secrets_made
    for secret in secrets_made:
        assert bytes(len(secret)) == bytes(secret)
