"""`fortuna.secrets` and `fortuna.uuid4`: the standard library's names, signatures, results and errors."""

from __future__ import annotations

import hmac
import inspect
import random
import secrets
import string
import uuid
from base64 import urlsafe_b64decode
from typing import TYPE_CHECKING, Any

import pytest

import fortuna
from fortuna.errors import ParameterError

from .edge_doubles import lines_of, run_script

if TYPE_CHECKING:
    from collections.abc import Callable

SIZES = pytest.mark.parametrize("n", [0, 1, 2, 16, 32, 33, 1000])


def test_edge_secrets_every_name() -> None:
    """Each public name of the standard module is there, and no other, with the same parameters."""
    assert set(secrets.__all__) == set(fortuna.secrets.__all__)
    assert secrets.DEFAULT_ENTROPY == fortuna.secrets.DEFAULT_ENTROPY
    for name in secrets.__all__:
        mine, theirs = getattr(fortuna.secrets, name), getattr(secrets, name)
        if inspect.isfunction(theirs) or inspect.ismethod(theirs):
            assert list(inspect.signature(theirs).parameters) == list(inspect.signature(mine).parameters), name
    assert hmac.compare_digest is fortuna.secrets.compare_digest
    assert issubclass(fortuna.secrets.SystemRandom, random.Random)
    assert fortuna.Random is fortuna.secrets.SystemRandom
    for one in ("randbits", "choice", "_randbelow"):
        assert type(getattr(fortuna.secrets, one).__self__) is fortuna.Random


@SIZES
def test_edge_secrets_tokens(n: int) -> None:
    """So many bytes: as they are, as two digits each, as base64 for URLs without padding; each token is another."""
    assert n == len(fortuna.secrets.token_bytes(n))
    assert 2 * n == len(fortuna.secrets.token_hex(n))
    assert set(fortuna.secrets.token_hex(n)) <= set(string.hexdigits.lower())
    text = fortuna.secrets.token_urlsafe(n)
    assert n == len(urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    assert set(text) <= set(string.ascii_letters + string.digits + "-_")
    assert len(secrets.token_urlsafe(n)) == len(text)
    if n >= 16:
        for token in (fortuna.secrets.token_bytes, fortuna.secrets.token_hex, fortuna.secrets.token_urlsafe):
            assert 100 == len({token(n) for _ in range(100)})


@pytest.mark.parametrize("arguments", [(), (None,)])
def test_edge_secrets_default_size(arguments: tuple[None, ...]) -> None:
    """Without a size, or with None, a token has 32 bytes."""
    assert 32 == len(fortuna.secrets.token_bytes(*arguments))
    assert 64 == len(fortuna.secrets.token_hex(*arguments))
    assert 43 == len(fortuna.secrets.token_urlsafe(*arguments))
    assert 3 == len(fortuna.secrets.token_bytes(nbytes=3))


@pytest.mark.parametrize(
    "call",
    [
        lambda module: module.token_bytes(-1),
        lambda module: module.token_hex(-1),
        lambda module: module.token_urlsafe(-1),
        lambda module: module.token_bytes(1.5),
        lambda module: module.token_hex("1"),
        lambda module: module.randbelow(0),
        lambda module: module.randbelow(-1),
        lambda module: module.randbelow("1"),
        lambda module: module.randbits(),
        lambda module: module.randbits(1, 2),
        lambda module: module.randbits(-1),
        lambda module: module.randbits(1.5),
        lambda module: module.choice([]),
        lambda module: module.choice(5),
        lambda module: module.compare_digest("a", 1),
        lambda module: module.compare_digest("a", b"a"),
        lambda module: module.compare_digest(b"a", "a"),
        lambda module: module.compare_digest("\xe4", "a"),
    ],
)
def test_edge_secrets_errors(call: Callable[[Any], object]) -> None:
    """What the standard module refuses is refused with the same built-in class of error."""
    with pytest.raises((TypeError, ValueError, IndexError, AttributeError)) as theirs:
        call(secrets)
    with pytest.raises(theirs.type):
        call(fortuna.secrets)
    with pytest.raises(ParameterError, match="n: got -1 bytes"):
        fortuna.secrets.token_bytes(-1)


@pytest.mark.parametrize("bits", [0, 1, 7, 8, 9, 64, 65, 256])
def test_edge_secrets_randbits(bits: int) -> None:
    """Every bit of the number is used."""
    found = 0
    for _ in range(200):
        drawn = fortuna.secrets.randbits(bits)
        assert 0 <= drawn < 2**bits or (drawn, bits) == (0, 0)
        found |= drawn
    assert 2**bits - 1 == found


@pytest.mark.parametrize("bound", [1, 2, 3, 10, 1025])
def test_edge_secrets_randbelow(bound: int) -> None:
    """Every number below the bound comes up, and no other."""
    assert set(range(bound)) == {fortuna.secrets.randbelow(bound) for _ in range(60 * bound)}


def test_edge_secrets_choice() -> None:
    """Every item is chosen at times."""
    assert set("abc") == {fortuna.secrets.choice("abc") for _ in range(200)}


def test_edge_secrets_arguments_by_name() -> None:
    """Arguments have the names of the standard module's."""
    for module in (secrets, fortuna.secrets):
        assert 0 <= module.randbits(k=8) < 256
        assert 5 == module.choice(seq=[5])
        assert 0 == module.randbelow(exclusive_upper_bound=1)
        assert 4 == len(module.token_hex(nbytes=2)) > len(module.token_urlsafe(nbytes=2))


def test_edge_secrets_compare_digest() -> None:
    """Equal bytes and equal ASCII texts are True, all others False."""
    for a, b in (("abc", "abc"), ("abc", "abd"), ("abc", "abcd"), ("", "")):
        assert (
            (a == b) is fortuna.secrets.compare_digest(a, b) is fortuna.secrets.compare_digest(a.encode(), b.encode())
        )


def test_edge_secrets_types() -> None:
    """Results are of the standard module's types."""
    calls: list[Callable[[Any], object]] = [
        lambda module: module.token_bytes(5),
        lambda module: module.token_hex(5),
        lambda module: module.token_urlsafe(5),
        lambda module: module.randbits(5),
        lambda module: module.randbelow(5),
        lambda module: module.compare_digest("a", "a"),
    ]
    for call in calls:
        assert type(call(secrets)) is type(call(fortuna.secrets))


def test_edge_secrets_uuid4() -> None:
    """A UUID of version 4 like the standard library's, whatever is asked of it; 122 bits vary."""
    found = fortuna.uuid4()
    assert type(found) is uuid.UUID
    assert (4, uuid.RFC_4122, uuid.SafeUUID.unknown) == (found.version, found.variant, found.is_safe)
    assert uuid.UUID(str(found)) == uuid.UUID(int=found.int) == found
    assert hash(uuid.UUID(str(found))) == hash(found)
    many = [fortuna.uuid4() for _ in range(400)]
    assert 400 == len(set(many))
    ones, zeros = 0, 0
    for one in many:
        ones |= one.int
        zeros |= ~one.int & (1 << 128) - 1
    # The 6 bits that do not vary are those of version and variant.
    fixed = (1 << 128) - 1 - (ones & zeros)
    assert 0xF << 76 | 0x3 << 62 == fixed
    assert 0x4 << 76 | 0x2 << 62 == many[0].int & fixed
    with pytest.raises(TypeError):
        found.int = 5  # type: ignore[misc]


def test_edge_secrets_uuid4_of_known_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """From the same 16 bytes, it is the UUID that the standard constructor makes."""
    from fortuna import _uuid

    for fill in (b"\x00", b"\xff", b"\x5a"):
        monkeypatch.setattr(_uuid, "random_bytes", lambda n, fill=fill: fill * n)
        assert uuid.UUID(bytes=fill * 16, version=4) == fortuna.uuid4()


def test_edge_secrets_names_are_loaded_once() -> None:
    """The names load when they are first used, `import fortuna` loads none of it, and nothing boots."""
    body = """
import sys
before = set(sys.modules)  # what measures coverage has imported some of it
import fortuna
loaded = set(sys.modules) - before
assert not {"fortuna.secrets", "fortuna._random", "fortuna._uuid", "uuid", "random"} & loaded
first = fortuna.uuid4
assert first is fortuna.uuid4 is vars(fortuna)["uuid4"]
assert "fortuna.secrets" not in sys.modules
fortuna.secrets
assert "fortuna.secrets" in sys.modules
assert fortuna._process is None
print("done")
"""
    assert ["done"] == lines_of(run_script(body))
