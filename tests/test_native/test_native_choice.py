"""The choice of a kernel: by the processor's features, by name, and past those that fail their self-test."""

from __future__ import annotations

import logging
import platform
from typing import Final

import pytest

from fortuna.errors import ProviderUnavailableError, SelfTestError
from fortuna.generators import _native, available, create, registry
from fortuna.generators.availability import kernels_of
from fortuna.generators.providers.native import Native
from fortuna.native import NativeFortuna

from .native_support import BEST, CELLS, LIBRARY, NATIVE, Cell, Stand, kernels, lines_of, run_script

NAMES: Final = tuple(dict.fromkeys(cell[0] for cell in CELLS))
CHACHAS: Final = tuple(name for name in NAMES if name != "aes256-icm")
#: Bits of what `cpu_features` returns, from generators/_kernels/cpu.h.
SSSE3, AVX2, AVX512, AESNI, VAES, NEON, ARMV8_AES = (1 << bit for bit in range(7))
#: Features of a processor -> the kernels that it runs, best first.
PROCESSORS: Final = {
    0: ([], ["portable"]),
    SSSE3: ([], ["ssse3", "portable"]),
    SSSE3 | AVX2: ([], ["avx2", "ssse3", "portable"]),
    SSSE3 | AVX2 | AVX512: ([], ["avx512", "avx2", "ssse3", "portable"]),
    SSSE3 | AESNI: (["aesni"], ["ssse3", "portable"]),
    SSSE3 | AVX2 | AESNI: (["aesni"], ["avx2", "ssse3", "portable"]),
    SSSE3 | AVX2 | AESNI | VAES: (["vaes", "aesni"], ["avx2", "ssse3", "portable"]),
    SSSE3 | AVX2 | AVX512 | AESNI | VAES: (["vaes512", "vaes", "aesni"], ["avx512", "avx2", "ssse3", "portable"]),
    AVX2: ([], ["avx2", "portable"]),
}
on_x86 = pytest.mark.skipif(
    not any("not in this build" not in reason for reason in [kernels("chacha20", 0)["avx2"]]),
    reason="the build has no x86 kernels",
)


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Give a registry that has tried nothing yet."""
    monkeypatch.setattr(registry, "_outcomes", {})
    return monkeypatch


@on_x86
@pytest.mark.parametrize("features", list(PROCESSORS), ids=bin)
def test_kernels_of_a_processor(features: int) -> None:
    """A processor's features alone decide which kernels it can run, in the order of the table."""
    aes, chacha = PROCESSORS[features]
    assert aes == [name for name, reason in _native.kernels("aes256-icm", features) if not reason]
    for generator in CHACHAS:
        assert chacha == [name for name, reason in _native.kernels(generator, features) if not reason]


@on_x86
@pytest.mark.parametrize("features", list(PROCESSORS), ids=bin)
def test_choice_of_a_processor(fresh: pytest.MonkeyPatch, features: int) -> None:
    """Posing as another processor, ``auto`` takes its best kernel; forcing a missing one raises with what it lacks."""
    # None of them needs more than this machine has, or the kernels would not run.
    if features & ~_native.cpu_features():
        pytest.skip("this processor cannot pose as that one")
    fresh.setattr(_native, "cpu_features", lambda: features)
    aes, chacha = PROCESSORS[features]
    for generator in NAMES:
        runs = aes if generator == "aes256-icm" else chacha
        if runs:
            assert runs[0] == create(generator, "native").kernel
            assert ("native", runs[0]) == (create(generator).provider, create(generator).kernel)
        else:
            with pytest.raises(ProviderUnavailableError, match=r"no kernel for 'aes256-icm' here: .*lacks AES"):
                create(generator, "native")
            assert LIBRARY == create(generator).provider
        for kernel, reason in _native.kernels(generator, features):
            if reason:
                with pytest.raises(ProviderUnavailableError) as caught:
                    create(generator, "native", kernel)
                assert reason in str(caught.value)
                assert repr(kernel) in str(caught.value)
            else:
                assert kernel == create(generator, "native", kernel).kernel


def test_reasons_are_told_apart() -> None:
    """A kernel of another processor family is not in this build; one that lacks features says which."""
    everything = (1 << 32) - 1
    for generator in NAMES:
        table, poor = kernels(generator, everything), kernels(generator, 0)
        assert list(table) == list(poor)
        for kernel, reason in table.items():
            assert not reason or reason.startswith("not in this build: ")
            assert poor[kernel] == reason or poor[kernel].startswith("this processor lacks ") or kernel == "portable"
        assert any(table.values()), "some kernel is for another family"
    assert {} == kernels("aes128", everything)
    assert {} == kernels("", 0)


@pytest.mark.parametrize("provider", ["native", "auto"])
def test_kernel_of_another_build(provider: str) -> None:
    """Forcing a kernel that this build lacks raises with the reason, and nothing steps in."""
    for generator in NAMES:
        missing = [
            k for k, reason in kernels(generator, _native.cpu_features()).items() if "not in this build" in reason
        ]
        assert missing
        for kernel in missing:
            with pytest.raises(ProviderUnavailableError, match="not in this build"):
                create(generator, provider, kernel)


def test_kernel_of_another_cipher() -> None:
    """A kernel that other ciphers have is unknown to this one."""
    for generator, kernel in (("chacha20", "vaes"), ("aes256-icm", "portable"), ("aes256-icm", "avx2")):
        with pytest.raises(ProviderUnavailableError, match="it has no such kernel"):
            create(generator, "native", kernel)


def test_auto_with_a_library_kernel() -> None:
    """``auto`` with the kernel name of a library goes to that library, past our own."""
    for generator in ("aes256-icm", "chacha20"):
        made = create(generator, "auto", "library")
        assert (LIBRARY, "library") == (made.provider, made.kernel)
        with pytest.raises(ProviderUnavailableError, match="python"):
            create(generator, "auto", "python")
        assert "python" == create(generator, "reference", "python").kernel


def test_choice_is_per_instance() -> None:
    """Forcing a kernel for one instance changes nothing for any other, made before or after."""
    before = create("chacha20")
    forced = create("chacha20", "native", "portable")
    after = create("chacha20")
    assert "portable" == forced.kernel
    assert before.kernel == after.kernel == BEST[[cell[0] for cell in BEST].index("chacha20")][2]
    live, other = Stand(NATIVE[-1]), Stand(BEST[-1])
    assert (NATIVE[-1][2], BEST[-1][2]) == (live.fortuna.stats().kernel, other.fortuna.stats().kernel)


def test_kernel_is_frozen(cell: Cell) -> None:
    """The kernel of a choice and of the C objects is what it says, and the live text names it."""
    stand = Stand(cell)
    assert isinstance(stand.fortuna, NativeFortuna)
    assert f"<Fortuna {cell[0]}/native/{cell[2]} fsk2010, seeded" in repr(stand.fortuna)
    assert cell == (stand.fortuna.stats().generator, stand.fortuna.stats().provider, stand.fortuna.stats().kernel)


def test_self_test_passes(cell: Cell) -> None:
    """Each kernel passes its own known answers."""
    assert "" == _native.self_test(cell[0], cell[2])


@pytest.mark.parametrize("broken", [1, 2, 99])
def test_failing_kernels_are_passed_over(
    fresh: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, broken: int
) -> None:
    """Kernels that fail their self-test are logged once, and ``auto`` goes to the next, then to the next provider."""
    names = [cell[2] for cell in NATIVE if cell[0] == "chacha20"]
    real = _native.self_test
    tested = []

    def self_test(cipher: str, kernel: str) -> str:
        tested.append(kernel)
        return "its keystream is wrong" if kernel in names[:broken] else real(cipher, kernel)

    fresh.setattr(_native, "self_test", self_test)
    with caplog.at_level(logging.ERROR, logger="fortuna"):
        made = [create("chacha20") for _ in range(3)]
    good = names[broken:]
    expected = ("native", good[0]) if good else (LIBRARY, "library")
    assert {expected} == {(one.provider, one.kernel) for one in made}
    assert names[: broken + 1] == tested
    failed = names[:broken]
    assert [f"native: kernel {k} for chacha20: its keystream is wrong; it is not used" for k in failed] == [
        record.getMessage() for record in caplog.records
    ]
    for kernel in failed:
        with pytest.raises(SelfTestError, match=f"kernel {kernel} for chacha20: its keystream is wrong"):
            create("chacha20", "native", kernel)
        with pytest.raises(ProviderUnavailableError, match="its keystream is wrong"):
            create("chacha20", "auto", kernel)
    rows = {row.kernel: row for row in available() if (row.generator, row.provider) == ("chacha20", "native")}
    for kernel in names:
        assert (kernel not in failed) == rows[kernel].is_available
    if not good:
        with pytest.raises(SelfTestError):
            create("chacha20", "native")


def test_python_side_of_the_self_test(fresh: pytest.MonkeyPatch) -> None:
    """A kernel that passes its own test and fails the answers of all providers is not used either."""
    original = Native._fill
    worst = NATIVE[0][2]

    def fill(self: Native, counter: int, out: bytearray) -> None:
        original(self, counter, out)
        if self.kernel == worst:
            out[-1] ^= 1

    fresh.setattr(Native, "_fill", fill)
    with pytest.raises(SelfTestError, match="known answer wrong"):
        create(NATIVE[0][0], "native", worst)
    assert worst != create(NATIVE[0][0]).kernel


def test_tunable_kernel() -> None:
    """The tunable forces the kernel of the process's generator; the command lists what can be named."""
    body = """
import sys
import fortuna
from fortuna.errors import ProviderUnavailableError, TunableError
absent = "armv8" if sys.argv[1] == "x86" else "vaes"
for kernel, error in (("nonsense", TunableError), (absent, ProviderUnavailableError)):
    try:
        fortuna.boot(overrides={"generator.kernel": kernel, "generator.cipher": "aes256-icm"})
    except error as caught:
        print(type(caught).__name__)
fortuna.boot(overrides={"generator.kernel": "portable", "generator.cipher": "chacha12"})
print(fortuna.stats().provider, fortuna.stats().kernel, len(fortuna.random_bytes(9)))
"""
    machine = "x86" if platform.machine() in ("x86_64", "AMD64", "i686") else "arm"
    expected = ["TunableError", "ProviderUnavailableError", "native portable 9"]
    assert expected == lines_of(run_script(body, machine))


def test_listing_has_every_kernel() -> None:
    """The matrix names every kernel of the tree, also those that cannot run here, each with its reason."""
    for generator in NAMES:
        rows = {row.kernel: row for row in available() if (row.generator, row.provider) == (generator, "native")}
        assert list(kernels(generator, _native.cpu_features())) == list(rows)
        for kernel, reason in kernels_of(generator, "native"):
            assert (reason == "") == rows[kernel].is_available
            assert reason in rows[kernel].reason
