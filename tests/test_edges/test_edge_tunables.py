"""Values of tunables: types, ranges at -1/0/+1, origins, and that nothing set once can be changed."""

from __future__ import annotations

import copy
import datetime
import math
import pickle
from typing import Any, Final

import pytest
import tomli

from fortuna.errors import FortunaError, TunableError
from fortuna.tunables import TUNABLES, Tunable, Tunables, as_toml, describe
from fortuna.tunables_file import load_tunables

MIN, MAX = -math.inf, math.inf
EPSILON: Final = 1e-9
CIPHERS: Final = ("aes256-icm", "chacha20", "chacha12", "chacha8", "xchacha20", "xchacha12", "xchacha8")
KERNELS: Final = (
    *("auto", "vaes512", "vaes", "aesni", "armv8", "avx512", "avx2", "ssse3", "neon", "portable"),
    *("library", "python"),
)


def load(key: str, value: object) -> Any:
    """Return the effective value of *key* when an override asks for *value*."""
    return load_tunables(None, {key: value}, environ={}, system_file="/nonexistent/fortuna.toml")[key]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("reseed.min_pool_size", 16),
        ("reseed.min_pool_size", 17),
        ("reseed.min_pool_size", 64),
        ("reseed.min_pool_size", 1048575),
        ("reseed.min_pool_size", 1048576),
        ("reseed.interval", 0.0),
        ("reseed.interval", EPSILON),
        ("reseed.interval", 3600.0 - EPSILON),
        ("reseed.interval", 3600.0),
        ("seed_file.path", ""),
        ("seed_file.path", "/var/lib/fortuna/seed"),
        ("seed_file.save_interval", 1.0),
        ("seed_file.save_interval", 1.0 + EPSILON),
        ("seed_file.save_interval", 86400.0 - 1e-6),
        ("seed_file.save_interval", 86400.0),
        ("boot.timeout", 0.0),
        ("boot.timeout", EPSILON),
        ("boot.timeout", 3600.0),
        ("boot.pretend_unseeded", True),
        ("boot.pretend_unseeded", False),
        ("entropy.sources", ("os",)),
        ("entropy.sources", ("proc", "jitter", "cpu", "os")),
        ("entropy.file", ""),
        ("entropy.file", "/dev/hwrng"),
        ("boot.allow_without_os", True),
        ("boot.allow_without_os", False),
        ("entropy.health_tests", True),
        ("entropy.health_tests", False),
        ("entropy.harvest_interval", 0.0),
        ("entropy.harvest_interval", 0.01),
        ("entropy.harvest_interval", 3600.0),
        ("entropy.per_request", ""),
        ("entropy.per_request", "os"),
        ("entropy.per_request", "cpu"),
        ("boot.generation_file", ""),
        ("boot.generation_file", "/run/generation"),
        *(("generator.cipher", name) for name in CIPHERS),
        *(
            ("generator.provider", name)
            for name in ("auto", "native", "openssl", "pycryptodome", "reference", "plug-in")
        ),
        *(("generator.kernel", name) for name in KERNELS),
        *(("generator.construction", name) for name in ("fsk2010", "fsk2003", "freebsd", "fast-key-erasure")),
    ],
)
def test_edge_tunables_allowed(key: str, value: object) -> None:
    """Each end of each range and each name is taken as it stands, in the type of the default."""
    loaded = load(key, value)
    assert value == loaded
    assert type(TUNABLES[key].default) is type(loaded)


@pytest.mark.parametrize(
    ("sources", "values"),
    [
        (["cpu"], {"boot.allow_without_os": True}),
        (["cpu", "os"], {"boot.allow_without_os": True}),
        (["file"], {"boot.allow_without_os": True, "entropy.file": "/a"}),
        (["os"], {"entropy.file": "/a"}),
    ],
)
def test_edge_tunables_allowed_together(sources: list[str], values: dict[str, object]) -> None:
    """The sources may lack ``os`` on purpose, have ``file`` with a path, and leave a path unused."""
    loaded = load_tunables(None, {"entropy.sources": sources, **values}, environ={})
    assert tuple(sources) == loaded["entropy.sources"]


def test_edge_tunables_refused_together() -> None:
    """Without a file, the origin in front is that of the sources."""
    with pytest.raises(TunableError, match=r'^overrides: entropy.sources: got \["jitter"\] without "os"; '):
        load_tunables(None, {"entropy.sources": ["jitter"]}, environ={})


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("reseed.min_pool_size", 15),
        ("reseed.min_pool_size", 1048577),
        ("reseed.min_pool_size", 0),
        ("reseed.min_pool_size", -64),
        ("reseed.min_pool_size", 2**31),
        ("reseed.min_pool_size", 64.0),
        ("reseed.min_pool_size", True),
        ("reseed.min_pool_size", "64"),
        ("reseed.min_pool_size", None),
        ("reseed.interval", -EPSILON),
        ("reseed.interval", 3600.0 + EPSILON),
        ("reseed.interval", 3601),
        ("reseed.interval", -1),
        ("reseed.interval", 10**400),
        ("reseed.interval", math.nan),
        ("reseed.interval", math.inf),
        ("reseed.interval", -math.inf),
        ("reseed.interval", "100"),
        ("reseed.interval", True),
        ("reseed.interval", False),
        ("reseed.interval", [0.1]),
        ("reseed.interval", datetime.date(1979, 5, 27)),
        ("seed_file.path", "seed"),
        ("seed_file.path", "/var/lib/fortuna/"),
        ("seed_file.path", False),
        ("seed_file.save_interval", 1.0 - EPSILON),
        ("seed_file.save_interval", 0),
        ("seed_file.save_interval", 86400.0 + 1e-6),
        ("seed_file.save_interval", "600"),
        ("boot.timeout", -EPSILON),
        ("boot.timeout", 3600.0 + EPSILON),
        ("boot.timeout", math.nan),
        ("boot.pretend_unseeded", 0),
        ("boot.pretend_unseeded", 1),
        ("boot.pretend_unseeded", "true"),
        ("boot.pretend_unseeded", None),
        ("entropy.health_tests", 1),
        ("entropy.health_tests", "true"),
        ("entropy.harvest_interval", 0.01 - EPSILON),
        ("entropy.harvest_interval", EPSILON),
        ("entropy.harvest_interval", -0.0 - EPSILON),
        ("entropy.harvest_interval", 3600.0 + EPSILON),
        ("entropy.harvest_interval", False),
        ("entropy.per_request", "jitter"),
        ("entropy.per_request", None),
        ("boot.generation_file", "run/generation"),
        ("boot.generation_file", None),
        ("entropy.sources", []),
        ("entropy.sources", ()),
        ("entropy.sources", "os"),
        ("entropy.sources", ["os", "os"]),
        ("entropy.sources", ["os", "OS"]),
        ("entropy.sources", [1]),
        ("entropy.sources", [["os"]]),
        ("entropy.sources", [{}]),
        ("entropy.sources", {"os": 1}),
        ("generator.cipher", "AES256-ICM"),
        ("generator.cipher", ""),
        ("generator.cipher", "aes256-icm "),
        ("generator.cipher", b"chacha20"),
        ("generator.cipher", ["chacha20"]),
        ("generator.cipher", 20),
        ("generator.cipher", None),
        ("generator.provider", "none"),
        ("generator.provider", "Native"),
        ("generator.provider", True),
        ("generator.kernel", ""),
        ("generator.kernel", "none"),
        ("generator.kernel", "AVX2"),
        ("generator.kernel", "avx"),
        ("generator.kernel", "aesni "),
        ("generator.kernel", 2),
        ("generator.kernel", True),
        ("generator.kernel", None),
        ("generator.kernel", ["aesni"]),
        ("generator.construction", "fsk2015"),
    ],
)
def test_edge_tunables_refused(key: str, value: object) -> None:
    """Whatever is not in range or not of the type is refused, and the message says what was got and is allowed."""
    with pytest.raises(TunableError) as caught:
        load(key, value)
    message = str(caught.value)
    assert message.startswith(f"overrides: {key}: got ")
    assert "; allowed is " in message
    assert TUNABLES[key].allowed in message


@pytest.mark.parametrize("key", ["reseed.interval", "boot.timeout"])
def test_edge_tunables_an_integer_may_stand_for_a_float(key: str) -> None:
    """An integer is taken for a float and becomes one."""
    loaded = load(key, 5)
    assert (5.0, float) == (loaded, type(loaded))


def test_edge_tunables_every_one_has_tests_of_its_ends() -> None:
    """A new tunable fails here until its range is tested above."""
    assert {
        "generator.cipher",
        "generator.provider",
        "generator.kernel",
        "generator.construction",
        "reseed.min_pool_size",
        "reseed.interval",
        "entropy.sources",
        "entropy.file",
        "entropy.harvest_interval",
        "entropy.per_request",
        "entropy.health_tests",
        "seed_file.path",
        "seed_file.save_interval",
        "boot.timeout",
        "boot.allow_without_os",
        "boot.generation_file",
        "boot.pretend_unseeded",
    } == set(TUNABLES)


def test_edge_tunables_defaults_are_allowed_and_complete() -> None:
    """The built-in defaults pass their own checks, and say what they mean."""
    tunables = load_tunables(None, None, environ={}, system_file="/nonexistent/fortuna.toml")
    assert list(TUNABLES) == list(tunables)
    for key, tunable in TUNABLES.items():
        assert tunable.default == tunables[key] == tunable.check(tunable.default)
        assert "default" == tunables.origin(key)
        assert tunable.meaning.endswith(".")


def test_edge_tunables_allowed_in_words() -> None:
    """What a message says is allowed, for each kind of tunable."""
    assert {
        "generator.cipher": ", ".join(f'"{name}"' for name in CIPHERS) + ", or the name of a plug-in",
        "generator.provider": '"auto", "native", "openssl", "pycryptodome", "reference", "plug-in"',
        "generator.kernel": ", ".join(f'"{name}"' for name in KERNELS),
        "reseed.min_pool_size": "an integer in 16..1048576 bytes",
        "reseed.interval": "a number in 0..3600 seconds",
        "entropy.sources": ('a list of one or more of "os", "cpu", "jitter", "proc", "file", or the name of a plug-in'),
        "seed_file.path": 'the absolute path of a file, or "" for none',
        "seed_file.save_interval": "a number in 1..86400 seconds",
        "boot.pretend_unseeded": "true or false",
    } == {
        key: TUNABLES[key].allowed
        for key in (
            "generator.cipher",
            "generator.provider",
            "generator.kernel",
            "reseed.min_pool_size",
            "reseed.interval",
            "entropy.sources",
            "seed_file.path",
            "seed_file.save_interval",
            "boot.pretend_unseeded",
        )
    }


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"),
        (False, "false"),
        ("a", '"a"'),
        ("", '""'),
        ('a"b\\', r'"a\"b\\"'),
        ("a\nb\0", r'"a\U0000000ab\U00000000"'),
        (1, "1"),
        (0.5, "0.5"),
        ("x" * 58, '"' + "x" * 58 + '"'),
        ("x" * 59, '"' + "x" * 56 + "..."),
    ],
)
def test_edge_tunables_values_in_messages(value: object, text: str) -> None:
    """A value is written as TOML would, and cut at 60 characters."""
    assert text == describe(value)
    assert len(describe(value)) <= 60


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"),
        (0.5, "0.5"),
        (64, "64"),
        (("os", "cpu"), '["os", "cpu"]'),
        ("/" + "x" * 100, '"/' + "x" * 100 + '"'),
        ('/a "b" \\ c\td é', '"/a \\"b\\" \\\\ c\\U00000009d \\U000000e9"'),
    ],
)
def test_edge_tunables_values_as_toml(value: Any, text: str) -> None:
    """A value is written in full, on one line of ASCII, and a TOML parser reads the same value from it."""
    assert text == as_toml(value)
    parsed = tomli.loads(f"value = {text}")["value"]
    assert value == (tuple(parsed) if isinstance(value, tuple) else parsed)


@pytest.mark.parametrize("value", ["", "/a", "/var/lib/fortuna/seed", "/a b/ü", "//a", "/a\n", "/.", "/" + "x" * 5000])
def test_edge_tunables_paths_allowed(value: str) -> None:
    """A string without choices takes any absolute path of a file, and nothing at all."""
    assert value == Tunable("some.path", "", "A path.").check(value)


@pytest.mark.parametrize(
    "value",
    ["a", "./a", "~/a", " /a", "a/", "/", "/a/", "\0", "/a\0b", "/a\ud800b", "/\udfff", b"/a", 1, True, None, ["/a"]],
)
def test_edge_tunables_paths_refused(value: object) -> None:
    """What is relative, names a directory or cannot be the name of a file is refused, on one line."""
    with pytest.raises(TunableError, match=r'^got .*; allowed is the absolute path of a file, or "" for none$'):
        Tunable("some.path", "", "A path.").check(value)


def test_edge_tunables_a_huge_integer_is_refused_like_any_other() -> None:
    """An integer with more digits than Python converts is a `TunableError` too."""
    for value in (10**5000, -(10**5000)):
        with pytest.raises(TunableError, match=r"reseed\.min_pool_size"):
            load("reseed.min_pool_size", value)


@pytest.mark.parametrize(
    ("key", "near"),
    [
        ("generator.cypher", "generator.cipher"),
        ("generator.ciphers", "generator.cipher"),
        ("reseed.intervall", "reseed.interval"),
        ("reseed.minpoolsize", "reseed.min_pool_size"),
        ("entropy.source", "entropy.sources"),
        ("boot.time_out", "boot.timeout"),
        ("cipher", "generator.cipher"),
        ("Generator.Cipher", "generator.cipher"),
        ("generator.kernels", "generator.kernel"),
        ("kernel", "generator.kernel"),
    ],
)
def test_edge_tunables_a_misspelt_key_names_the_nearest(key: str, near: str) -> None:
    """An unknown key is refused with the right one beside it."""
    with pytest.raises(TunableError, match=f"overrides: {key}: no such tunable; the nearest is {near}$"):
        load(key, 1)


@pytest.mark.parametrize("key", ["", ".", "x", "generator.", "generator.cipher.x", "\n", "seed_file.size"])
def test_edge_tunables_nonsense_keys(key: str) -> None:
    """Any other text is refused as well."""
    with pytest.raises(TunableError, match="no such tunable"):
        load(key, 1)


def test_edge_tunables_a_table_is_no_tunable() -> None:
    """A value in the place of a table says how a table is written."""
    with pytest.raises(
        TunableError, match=r"overrides: reseed: got 3; it is a table: write \[reseed\] in a file, or dotted names$"
    ):
        load("reseed", 3)


def test_edge_tunables_are_frozen() -> None:
    """No attribute, item or default can be set, and what is handed out is a copy."""
    tunables = Tunables({"generator.cipher": "chacha20"}, {})
    for name in ("_values", "generator", "values"):
        with pytest.raises(AttributeError, match="frozen at boot: cannot set"):
            setattr(tunables, name, {})
        with pytest.raises(AttributeError, match="frozen at boot: cannot delete"):
            delattr(tunables, name)
    with pytest.raises(TypeError):
        tunables["generator.cipher"] = "aes256-icm"  # type: ignore[index]
    tunables.values()["generator.cipher"] = "aes256-icm"
    assert "chacha20" == tunables["generator.cipher"]


def test_edge_tunables_equality_is_that_of_values() -> None:
    """Two sets of tunables are equal, and hash alike, when their values are, whatever the origins."""
    one = Tunables({"boot.timeout": 1.0}, {"boot.timeout": "here"})
    same = Tunables({"boot.timeout": 1.0}, {"boot.timeout": "there"})
    other = Tunables({"boot.timeout": 2.0}, {})
    assert one == same
    assert hash(one) == hash(same)
    assert one != other
    assert one != one.values()
    assert ("here", "default") == (one.origin("boot.timeout"), one.origin("reseed.interval"))
    assert "'boot.timeout': 1.0" in repr(one)


@pytest.mark.parametrize(
    "error",
    [
        "AlreadyBootedError",
        "ClosedError",
        "NotSeededError",
        "ParameterError",
        "ProviderUnavailableError",
        "RequestTooLargeError",
        "SeedFileCorruptError",
        "SeedFileError",
        "SeedFileLockedError",
        "SeedFilePermissionError",
        "SelfTestError",
        "SourceError",
        "TunableError",
    ],
)
def test_edge_tunables_errors_have_the_builtin_parent(error: str) -> None:
    """Each error is a `FortunaError` and what a plain handler expects, and survives a pickle."""
    import fortuna

    parents = {
        "AlreadyBootedError": RuntimeError,
        "ClosedError": ValueError,
        "NotSeededError": RuntimeError,
        "ParameterError": ValueError,
        "ProviderUnavailableError": ImportError,
        "RequestTooLargeError": ValueError,
        "SeedFileCorruptError": OSError,
        "SeedFileError": OSError,
        "SeedFileLockedError": OSError,
        "SeedFilePermissionError": OSError,
        "SelfTestError": RuntimeError,
        "SourceError": OSError,
        "TunableError": ValueError,
    }
    kind = getattr(fortuna, error)
    assert issubclass(kind, FortunaError)
    assert issubclass(kind, parents[error])
    instance = kind("why")
    assert ("why",) == instance.args == copy.copy(instance).args == pickle.loads(pickle.dumps(instance)).args  # noqa: S301
