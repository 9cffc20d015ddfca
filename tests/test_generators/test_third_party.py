"""Generators of third parties: found by name, held to the contract and to their known answers, never in our way."""

from __future__ import annotations

import multiprocessing
import sys
from typing import TYPE_CHECKING

import pytest

from fortuna.core import CONSTRUCTIONS, Generator
from fortuna.errors import ParameterError, ProviderUnavailableError, SelfTestError, TunableError
from fortuna.generators import Availability, available, create, registry
from fortuna.tunables import TUNABLES

from .keystream_support import KEY, stream
from .plugin_support import GROUP, SHA_GENERATOR, install, install_generator, output_of, run_python

if TYPE_CHECKING:
    from pathlib import Path

MODULE = "module_of_sha_plugin"


def rows() -> list[Availability]:
    """Return the rows of the matrix that are plug-ins."""
    return [row for row in available() if row.provider == "plug-in"]


@pytest.mark.parametrize("provider", ["auto", "plug-in"])
@pytest.mark.parametrize("kernel", ["auto", "hashlib"])
def test_create_by_name(site: Path, provider: str, kernel: str) -> None:
    """A plug-in is made by its name alone, and says what it is; its keystream is its own."""
    install_generator(site)
    made = create("sha-ctr", provider, kernel)
    assert ("sha-ctr", "plug-in", "hashlib", 32) == (made.name, made.provider, made.kernel, made.block_size)
    made.set_key(KEY)
    assert "a179d4f12e2042e5" == stream(made, 2**32 - 1, 8).hex()
    choice = registry.resolve("sha-ctr", provider, kernel)
    assert "sha-plugin 1.2" == choice.distribution
    assert registry.resolve("sha-ctr", provider, kernel) is choice
    assert "" == registry.resolve("chacha20", "reference").distribution


def test_the_core_takes_it(site: Path) -> None:
    """Fortuna's generator runs on a plug-in as on any other."""
    install_generator(site)
    made = Generator(registry.resolve("sha-ctr"), CONSTRUCTIONS["fsk2010"])
    made.reseed(b"seed")
    out = bytearray(100)
    made.readinto(out)
    assert 100 - out.count(0) > 80


@pytest.mark.parametrize("provider", ["native", "pycryptodome", "reference"])
def test_forced_provider(site: Path, provider: str) -> None:
    """A provider of ours does not run a plug-in: an error that says what does, and from where."""
    install_generator(site)
    message = f"provider '{provider}' has no generator 'sha-ctr'; it runs on: plug-in, of sha-plugin 1.2"
    with pytest.raises(ProviderUnavailableError, match=message):
        create("sha-ctr", provider)
    assert MODULE not in sys.modules


def test_plugin_as_provider_of_ours() -> None:
    """The provider ``plug-in`` has none of our generators, and the message lists who has."""
    with pytest.raises(ProviderUnavailableError, match=r"'plug-in' has no generator 'chacha20'; it runs on: native"):
        create("chacha20", "plug-in")


def test_unknown_name_lists_plugins(site: Path) -> None:
    """The message about an unknown name lists ours and the plug-ins, and imports none."""
    with pytest.raises(ParameterError, match=r"got 'rot13'; there is aes256-icm, .*; plug-ins offer no others$"):
        create("rot13")
    install_generator(site)
    install(site, "dist-b", entry_points=f"[{GROUP}]\nbeta = m:B\nchacha20 = m:C\n")
    with pytest.raises(ParameterError, match=r"got 'rot13'; there is aes256-icm, .*; plug-ins offer beta, sha-ctr$"):
        create("rot13")
    assert MODULE not in sys.modules


def test_unknown_name_on_a_provider() -> None:
    """An unknown name is told as such, whatever the provider."""
    for provider in ("auto", "plug-in", "native"):
        with pytest.raises(ParameterError, match="generator: got 'rot13'"):
            create("rot13", provider)


FAULTS = [
    ("SHA = 7", "its object is int; it must be a subclass of fortuna.generators.KeystreamGenerator"),
    ("class SHA: pass", "its object is type SHA; it must be a subclass"),
    (SHA_GENERATOR.replace('"sha-ctr"', '"sha"'), "its name is 'sha'; it must be 'sha-ctr'"),
    (SHA_GENERATOR.replace('    name = "sha-ctr"\n', ""), "its name is None; it must be 'sha-ctr'"),
    (SHA_GENERATOR.replace('"plug-in"', '"native"'), "its provider is 'native'; it must be 'plug-in'"),
    (SHA_GENERATOR.replace('"hashlib"', '"my own"'), "its kernel is 'my own'; it must be one word of ASCII"),
    (SHA_GENERATOR.replace('    kernel = "hashlib"\n', ""), "must be one word of ASCII that says what computes it"),
    (SHA_GENERATOR.replace("block_size = 32", "block_size = 0"), "its block_size is 0; it must be an integer in 1.."),
    (
        SHA_GENERATOR.replace("block_size = 32", "block_size = 65537"),
        "block_size is 65537; it must .* in 1..65536 bytes",
    ),
    (SHA_GENERATOR.replace("block_size = 32", "block_size = 32.0"), "its block_size is 32.0; it must be an integer"),
    (SHA_GENERATOR.replace("block_size = 32", "block_size = True"), "its block_size is True; it must be an integer"),
    (SHA_GENERATOR.replace("block_size = 32", "key_size = 16"), "its key_size is 16; it must be 32"),
    (SHA_GENERATOR.replace("block_size = 32", "counter_bits = 64"), "its counter_bits is 64; it must be 128"),
    (SHA_GENERATOR.replace("_erase", "_forget"), "it lacks the methods _erase"),
    *(
        (
            f"{SHA_GENERATOR}\nSHA._known_answers = {answers}",
            "its _known_answers are missing or malformed; they must be",
        )
        for answers in ("()", "None", "[(1, 'ab')]", "((1, ''),)", "((1, 'abc'),)", "((1, b'a'),)", "((1, 2, 3),)")
    ),
    *(
        (f"{SHA_GENERATOR}\nSHA._known_answers = (({counter}, 'ab'),)", "its _known_answers are missing or malformed")
        for counter in ("-1", "2**128", "1.0", "'1'")
    ),
]


@pytest.mark.parametrize(("source", "problem"), FAULTS)
def test_class_against_the_contract(site: Path, source: str, problem: str) -> None:
    """What the object of a plug-in has wrong is told with the distribution, what was got and what must be."""
    install_generator(site, source=source)
    with pytest.raises(ProviderUnavailableError, match=problem) as caught:
        create("sha-ctr")
    message = str(caught.value)
    assert message.startswith("plug-in 'sha-ctr' of sha-plugin 1.2: ")
    assert "fortuna.generators.conformance" in message
    with pytest.raises(ProviderUnavailableError) as again:
        create("sha-ctr")
    assert again.value is caught.value


@pytest.mark.parametrize("size", [1, 2, 65535, 65536])
def test_block_sizes_allowed(site: Path, size: int) -> None:
    """Blocks of 1..65536 bytes are allowed."""
    source = SHA_GENERATOR.replace("block_size = 32", f"block_size = {size}")
    install_generator(site, source=f"{source}\nSHA._known_answers = ((2**32 - 1, 'a1'),)")
    assert size == create("sha-ctr").block_size


@pytest.mark.parametrize(
    ("answers", "problem"),
    [
        ("(0, 'a1')", "sha-ctr at counter 0x0: known answer wrong"),
        ("(2**32 - 1, 'a1'), (2**128 - 1, 'a1')", f"at counter {2**128 - 1:#x}: known answer wrong"),
        ("(2**32 - 1, 'a0')", "at counter 0xffffffff: known answer wrong"),
    ],
)
def test_known_answers_are_computed(site: Path, answers: str, problem: str) -> None:
    """A plug-in whose keystream is not what it says itself is refused, as a provider of ours would be."""
    install_generator(site, source=f"{SHA_GENERATOR}\nSHA._known_answers = ({answers},)")
    with pytest.raises(SelfTestError, match=problem):
        create("sha-ctr")
    assert [(False, False, "")] == [(row.is_available, row.is_auto, row.kernel) for row in rows()]
    assert problem in rows()[0].reason


def test_forced_kernel_of_a_plugin(site: Path) -> None:
    """A plug-in has one kernel, and another is refused with its name."""
    install_generator(site)
    with pytest.raises(ProviderUnavailableError, match="'avx2' .* it has no such kernel; there is hashlib"):
        create("sha-ctr", "auto", "avx2")


def test_listing_imports_nothing(site: Path) -> None:
    """The matrix shows plug-ins from their metadata, after our own; what one does when imported is no matter."""
    install_generator(site, source="raise AssertionError('imported by the list')")
    install_generator(site, "also", distribution="dist-a")
    assert [
        Availability("also", "plug-in", "", None, False, "imported when its name is asked for", "dist-a 1.2"),
        Availability("sha-ctr", "plug-in", "", None, False, "imported when its name is asked for", "sha-plugin 1.2"),
    ] == rows()
    assert rows() == [*available()][-2:]
    assert {""} == {row.distribution for row in available() if row.provider != "plug-in"}
    assert MODULE not in sys.modules


def test_listing_after_the_name_was_asked_for(site: Path) -> None:
    """What was found out when the name was asked for is in the matrix from then on."""
    install_generator(site)
    create("sha-ctr")
    assert [Availability("sha-ctr", "plug-in", "hashlib", True, True, "", "sha-plugin 1.2")] == rows()


def test_listing_of_a_plugin_that_failed(site: Path) -> None:
    """The reason why a plug-in could not be imported is in the matrix once it was tried."""
    install_generator(site, source="1 / 0")
    with pytest.raises(ProviderUnavailableError) as caught:
        create("sha-ctr")
    assert "ZeroDivisionError" in str(caught.value)
    assert [Availability("sha-ctr", "plug-in", "", False, False, str(caught.value), "sha-plugin 1.2")] == rows()


def test_name_offered_twice(site: Path) -> None:
    """A name that two distributions offer is an error and imports neither; the matrix shows both, and why."""
    install_generator(site)
    install_generator(site, distribution="another")
    message = "'sha-ctr' for fortuna.generators is offered by another 1.2 and by sha-plugin 1.2"
    with pytest.raises(ParameterError, match=message):
        create("sha-ctr")
    assert [("another 1.2", False), ("sha-plugin 1.2", False)] == [
        (row.distribution, row.is_available) for row in rows()
    ]
    assert all(message in row.reason for row in rows())
    with pytest.raises(TunableError, match=message):
        TUNABLES["generator.cipher"].check("sha-ctr")
    assert MODULE not in sys.modules


def test_name_of_ours(site: Path) -> None:
    """Our name is always ours. Who offers it too is named in the matrix, and no plug-in is used until it is gone."""
    install_generator(site, "chacha20", "raise AssertionError('imported')", distribution="impostor")
    install_generator(site)
    assert "plug-in" != create("chacha20").provider
    message = "impostor 1.2 offers 'chacha20', the name of a built-in generator; uninstall it"
    with pytest.raises(ProviderUnavailableError, match=f"'sha-ctr' of sha-plugin 1.2 is not used: {message}"):
        create("sha-ctr")
    impostor, other = rows()
    assert ("chacha20", "", False, message) == (
        impostor.generator,
        impostor.kernel,
        impostor.is_available,
        impostor.reason,
    )
    assert (False, True) == (other.is_available, message in other.reason)
    assert {MODULE, "module_of_impostor"}.isdisjoint(sys.modules)


def test_tunable(site: Path) -> None:
    """The tunable takes the name of an installed plug-in, and a refusal lists those there are."""
    cipher = TUNABLES["generator.cipher"]
    with pytest.raises(
        TunableError, match=r'got "sha-ctr"; allowed is .*, or the name of a plug-in \(installed: none\)'
    ):
        cipher.check("sha-ctr")
    install_generator(site)
    assert "sha-ctr" == cipher.check("sha-ctr")
    with pytest.raises(TunableError, match=r'got "sha"; allowed is .* a plug-in \(installed: "sha-ctr"\)$'):
        cipher.check("sha")
    assert MODULE not in sys.modules


BUILT_IN = """
import sys
sys.modules["importlib.metadata"] = None
import fortuna
from fortuna.generators import create
for name, provider in (("aes256-icm", "auto"), ("chacha20", "auto"), ("xchacha8", "reference")):
    create(name, provider)
live = fortuna.boot(overrides={"generator.cipher": "chacha20"})
print(len(live.random_bytes(3)), live.stats().distribution == "", "fortuna.generators.third_party" in sys.modules)
"""


def test_our_names_read_no_metadata(site: Path) -> None:
    """Our names are resolved, and booted, where metadata cannot be read: an application may be frozen without it."""
    install_generator(site, "chacha20", "raise AssertionError('imported')", distribution="impostor")
    assert "3 True False\n" == output_of(run_python(site, "-c", BUILT_IN))
    code = "import fortuna, sys; fortuna.random_bytes(1); print('importlib.metadata' in sys.modules)"
    assert "False\n" == output_of(run_python(site, "-c", code))


BOOT = """
import fortuna, sys
live = fortuna.boot(overrides={"generator.cipher": "sha-ctr"})
stats = live.stats()
print(stats.generator, stats.provider, stats.kernel, stats.distribution, len(live.random_bytes(3_000_000)))
print(len(fortuna.random_bytes(32)), len(live.child().random_bytes(5)), type(live).__name__)
print(live)
"""


def test_boot(site: Path) -> None:
    """A boot with the name of a plug-in runs on it, and its statistics say who supplied it."""
    install_generator(site)
    first, second, text = output_of(run_python(site, "-W", "error", "-c", BOOT)).splitlines()
    assert "sha-ctr plug-in hashlib sha-plugin 1.2 3000000" == first
    assert "32 5 Fortuna" == second
    assert text.startswith("<Fortuna sha-ctr/plug-in/hashlib fsk2010, seeded")


CHILDREN = """
import multiprocessing, sys, fortuna

def describe(queue):
    stats = fortuna.stats()
    queue.put((stats.generator, stats.distribution, "module_of_sha_plugin" in sys.modules, fortuna.random_bytes(16)))

if __name__ == "__main__":
    fortuna.boot(overrides={"generator.cipher": "sha-ctr"})
    context = multiprocessing.get_context(sys.argv[1])
    queue = context.Queue()
    process = context.Process(target=describe, args=(queue,))
    process.start()
    *described, drawn = queue.get(timeout=40)
    process.join()
    print(*described, drawn != fortuna.random_bytes(16))
"""


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_children_load_it_themselves(site: Path, method: str) -> None:
    """A process that multiprocessing starts runs on the same plug-in, by its name."""
    install_generator(site)
    assert "sha-ctr sha-plugin 1.2 True True\n" == output_of(run_python(site, method, program=CHILDREN))


def listed(site: Path, *arguments: str) -> list[str]:
    """Return the rows of ``--list`` that are about plug-ins."""
    shown = output_of(run_python(site, "-m", "fortuna", "--list", *arguments))
    assert shown.isascii()
    return [" ".join(line.split()) for line in shown.splitlines() if " plug-in " in line]


def test_command_lists_plugins(site: Path) -> None:
    """``--list`` shows plug-ins with their distribution: untried, active where asked for, or what is wrong."""
    install_generator(site)
    install_generator(site, "late", "while True: pass", distribution="slow")
    install_generator(site, "h\x1bé", "1 / 0", distribution="odd")
    odd = r"h\x1b\xe9 plug-in - untried odd 1.2; imported when its name is asked for"
    late = "late plug-in - untried slow 1.2; imported when its name is asked for"
    sha = "sha-ctr plug-in - untried sha-plugin 1.2; imported when its name is asked for"
    assert [odd, late, sha] == listed(site)
    active = "sha-ctr plug-in hashlib active sha-plugin 1.2"
    assert [odd, late, active] == listed(site, "--cipher", "sha-ctr")
    failed = listed(site, "--cipher", "h\x1bé")[0]
    assert failed.startswith(
        r"h\x1b\xe9 plug-in - absent odd 1.2; plug-in 'h\\x1b\xe9' of odd 1.2 cannot be imported: Zero"
    )
    install_generator(site, "chacha20", "1 / 0", distribution="impostor")
    clash = "impostor 1.2 offers 'chacha20', the name of a built-in generator; uninstall it"
    assert f"chacha20 plug-in - absent impostor 1.2; {clash}" == listed(site)[0]
    assert clash in listed(site, "--cipher", "sha-ctr")[-1]
    assert " absent " in listed(site, "--cipher", "sha-ctr")[-1]


def test_command_dumps(site: Path) -> None:
    """``--cipher NAME`` writes a plug-in's bytes; under the provider ``plug-in`` as well."""
    install_generator(site)
    for provider in ("auto", "plug-in"):
        shown = output_of(run_python(site, "-m", "fortuna", "--cipher", "sha-ctr", "--provider", provider, "-n", "64"))
        assert 129 == len(shown)


@pytest.mark.parametrize(
    ("cipher", "options", "status", "problem"),
    [
        ("rot13", (), 2, 'got "rot13"; allowed is "aes256-icm", .* (installed: "sha-ctr")'),
        ("sha-ctr", ("--provider", "native"), 78, "provider 'native' has no generator 'sha-ctr'; it runs on: plug-in"),
        ("sha-ctr", ("--kernel", "avx2"), 78, "it has no such kernel; there is hashlib"),
    ],
)
def test_command_refuses(site: Path, cipher: str, options: tuple[str, ...], status: int, problem: str) -> None:
    """An unknown name is a usage error that lists what there is; what cannot run is one of the configuration."""
    install_generator(site)
    done = run_python(site, "-m", "fortuna", "--cipher", cipher, *options)
    assert (status, "") == (done.returncode, done.stdout)
    start, _, end = problem.partition(".*")
    assert start in done.stderr
    assert end in done.stderr
    assert 1 == done.stderr.count("\n")


def test_an_impostor_ends_the_command(site: Path) -> None:
    """Where somebody offers a name of ours, a plug-in does not boot: exit code 78; ours does."""
    install_generator(site)
    install_generator(site, "chacha20", "1 / 0", distribution="impostor")
    done = run_python(site, "-m", "fortuna", "--cipher", "sha-ctr")
    assert (78, "") == (done.returncode, done.stdout)
    assert "impostor 1.2 offers 'chacha20'" in done.stderr
    assert 65 == len(output_of(run_python(site, "-m", "fortuna", "--cipher", "chacha20")))


def test_a_plugin_may_fail_at_use(site: Path) -> None:
    """An error while a key is set or bytes are made is a failed self-test, not a crash of the boot."""
    install_generator(site, source=SHA_GENERATOR.replace("self._key = Secret(key)", "raise OSError('no device')"))
    with pytest.raises(SelfTestError, match="the known answer could not be computed: no device"):
        create("sha-ctr")
