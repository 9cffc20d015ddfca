"""Which provider runs which generator, and the one door to an instance.

The table names modules as text, so a provider's library is imported when it is first asked for and at no other time.
A choice goes out only after its known answers came out right (`.selftest`), once in a process. Nothing here chooses
for anybody else: a choice belongs to the instance it made.
"""

from __future__ import annotations

from ..errors import FortunaError, ParameterError, ProviderUnavailableError, SelfTestError
from .choice import Choice
from .log import logger
from .selftest import check_known_answers
from .undisturbed import Undisturbed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from .base import KeystreamGenerator

#: (generator, provider) -> module below this package, class.
FACTORIES: Final = {
    ("aes256-icm", "native"): ("providers.native", "NativeAES256ICM"),
    ("aes256-icm", "openssl"): ("providers.openssl", "OpenSSLAES256ICM"),
    ("aes256-icm", "pycryptodome"): ("providers.pycryptodome", "PyCryptodomeAES256ICM"),
    ("aes256-icm", "reference"): ("providers.reference_aes", "ReferenceAES256ICM"),
    ("chacha20", "native"): ("providers.native", "NativeChaCha20"),
    ("chacha20", "openssl"): ("providers.openssl", "OpenSSLChaCha20"),
    ("chacha20", "pycryptodome"): ("providers.pycryptodome", "PyCryptodomeChaCha20"),
    ("chacha20", "reference"): ("providers.reference_chacha", "ReferenceChaCha20"),
    ("chacha12", "native"): ("providers.native", "NativeChaCha12"),
    ("chacha12", "reference"): ("providers.reference_chacha", "ReferenceChaCha12"),
    ("chacha8", "native"): ("providers.native", "NativeChaCha8"),
    ("chacha8", "reference"): ("providers.reference_chacha", "ReferenceChaCha8"),
    ("xchacha20", "native"): ("providers.native", "NativeXChaCha20"),
    ("xchacha20", "openssl"): ("providers.openssl", "OpenSSLXChaCha20"),
    ("xchacha20", "pycryptodome"): ("providers.pycryptodome", "PyCryptodomeXChaCha20"),
    ("xchacha20", "reference"): ("providers.reference_chacha", "ReferenceXChaCha20"),
    ("xchacha12", "native"): ("providers.native", "NativeXChaCha12"),
    ("xchacha12", "reference"): ("providers.reference_chacha", "ReferenceXChaCha12"),
    ("xchacha8", "native"): ("providers.native", "NativeXChaCha8"),
    ("xchacha8", "reference"): ("providers.reference_chacha", "ReferenceXChaCha8"),
}
GENERATORS: Final = tuple(dict.fromkeys(generator for generator, _ in FACTORIES))
PROVIDERS: Final = tuple(dict.fromkeys(provider for _, provider in FACTORIES))
#: Every name of a kernel: our own, best first, then those of providers that choose for themselves.
KERNELS: Final = (
    "vaes512",
    "vaes",
    "aesni",
    "armv8",
    "avx512",
    "avx2",
    "ssse3",
    "neon",
    "portable",
    "library",
    "python",
)
#: What ``auto`` tries, in this order. ``reference`` is missing on purpose: slow, and its AES is not constant-time.
AUTO_ORDER: Final = ("native", "openssl", "pycryptodome")

#: The provider of each generator that is not in the table: a plug-in runs itself (`.third_party`).
PLUGIN: Final = "plug-in"

#: The outcome of each first use: what may be chosen, or the error that says why not. Facts about the machine.
_outcomes: dict[tuple[str, str, str], Choice | FortunaError] = {}


def load(generator: str, provider: str, kernel: str = "auto") -> Choice:
    """Import one provider's class for *generator*, pick its kernel and check the known answers, once.

    With ``auto``, a kernel that fails its tests is logged and the provider's next one taken.

    Raises
    ------
    ParameterError
        Unknown generator; the message lists what there is.
    ProviderUnavailableError
        The provider has no such generator or kernel, or its library cannot be imported.
    SelfTestError
        It computed a known answer wrongly; it stays refused for the life of the process.
    """
    outcome = _outcomes.get((generator, provider, kernel))
    if outcome is None:
        try:
            if generator in GENERATORS:
                outcome = _pick(import_class(generator, provider), kernel)
            else:
                outcome = _pick_plugin(generator, provider, kernel)
        except (ProviderUnavailableError, SelfTestError) as error:
            outcome = error
        _outcomes[generator, provider, kernel] = outcome
    if isinstance(outcome, FortunaError):
        # Without the traceback of the first failure, which would grow with every raise.
        raise outcome.with_traceback(None)
    return outcome


def outcome_of(generator: str, provider: str) -> Choice | FortunaError | None:
    """Return what `load` has found out so far, without loading anything."""
    return _outcomes.get((generator, provider, "auto"))


def import_class(generator: str, provider: str) -> type[KeystreamGenerator]:
    """Return one provider's class for *generator*, or raise `ProviderUnavailableError`."""
    if (generator, provider) not in FACTORIES:
        offers = [p for g, p in FACTORIES if g == generator]
        raise ProviderUnavailableError(
            f"provider {provider!r} has no generator {generator!r}; it runs on: {', '.join(offers)}"
        )
    module, name = FACTORIES[generator, provider]
    with Undisturbed():
        # The error is caught in here, because at the end of this block a signal handler may raise one of its own.
        try:
            # As importlib.import_module does, without importing importlib's Python half at every start.
            home = __import__(f"{__package__}.{module}", fromlist=[name])
            found: type[KeystreamGenerator] | Exception = getattr(home, name)
        except Exception as error:  # noqa: BLE001  # pycryptodome raises OSError where a file of its own does not load
            found = error
    if isinstance(found, Exception):
        raise ProviderUnavailableError(f"provider {provider!r} cannot be imported: {found}") from found
    return found


def _pick_plugin(generator: str, provider: str, kernel: str) -> Choice:
    """Return the choice of a generator that is not in the table, and so can only be a plug-in's."""
    # Imported here because the table's names must work where no metadata can be read, in frozen applications.
    with Undisturbed():
        from .third_party import find, import_generator
    plugin = find(generator)
    if provider != PLUGIN:
        raise ProviderUnavailableError(
            f"provider {provider!r} has no generator {generator!r}; it runs on: {PLUGIN}, of {plugin.supplier}"
        )
    return _pick(import_generator(plugin), kernel, plugin.supplier)


def _pick(found: type[KeystreamGenerator], kernel: str, distribution: str = "") -> Choice:
    """Return the best kernel of *found* that passes its tests, or the one that is asked for."""
    kernels = dict(found._kernels())
    if kernel == "auto":
        candidates = [name for name, reason in kernels.items() if not reason]
    elif kernel in kernels and not kernels[kernel]:
        candidates = [kernel]
    else:
        reason = kernels.get(kernel, "it has no such kernel")
        raise ProviderUnavailableError(
            f"kernel {kernel!r} of provider {found.provider!r} for {found.name!r}: {reason}; there is "
            f"{', '.join(name for name, why in kernels.items() if not why) or 'none here'}"
        )
    failure: FortunaError = ProviderUnavailableError(
        f"provider {found.provider!r} has no kernel for {found.name!r} here: "
        f"{'; '.join(f'{name}: {reason}' for name, reason in kernels.items())}"
    )
    for name in candidates:
        try:
            found._test_kernel(name)
            choice = Choice(found, name, distribution)
            check_known_answers(choice)
        except SelfTestError as error:
            logger().error("%s", error)  # what failed is known, its traceback says nothing
            failure = error
        else:
            return choice
    raise failure


def check_provider(provider: str) -> None:
    """Raise `ParameterError` unless *provider* is one that may be asked for."""
    if provider not in ("auto", *PROVIDERS, PLUGIN):
        raise ParameterError(f"provider: got {provider!r}; there is {', '.join(('auto', *PROVIDERS, PLUGIN))}")


def resolve(generator: str, provider: str = "auto", kernel: str = "auto") -> Choice:
    """Return what runs *generator*: *provider*, or for ``auto`` the first that works and has *kernel*.

    There is no fallback from one generator to another, none from a named provider to a second one, and none from a
    named kernel to a second one. For the name of a plug-in, ``auto`` is the plug-in.

    Raises
    ------
    ParameterError
        Unknown generator or provider; the message lists what there is.
    ProviderUnavailableError, SelfTestError
        As `load` for a named provider; for ``auto``, all failed and the message says why each.
    """
    check_provider(provider)
    if generator not in GENERATORS and provider == "auto":
        provider = PLUGIN
    if provider != "auto":
        return load(generator, provider, kernel)
    reasons = []
    for candidate in AUTO_ORDER:
        try:
            return load(generator, candidate, kernel)
        except FortunaError as error:
            reasons.append(f"{candidate}: {error}")
    remedy = (
        "install one, or force the slow oracle with provider 'reference'"
        if kernel == "auto"
        else "name a kernel that fortuna-dump --list shows as available, or auto"
    )
    raise ProviderUnavailableError(f"no provider runs {generator!r} here ({'; '.join(reasons)}); {remedy}")


def create(name: str, provider: str = "auto", kernel: str = "auto") -> KeystreamGenerator:
    """Make a keystream generator of your own, without a key.

    It has nothing to do with the live generator: that one keeps the cipher it was booted with.

    Parameters
    ----------
    name : str
        ``"aes256-icm"``, ``"chacha20"``, ``"chacha12"``, ``"chacha8"``, ``"xchacha20"``, ``"xchacha12"``,
        ``"xchacha8"``, or the name of a plug-in, which is then imported.
    provider : str
        ``"auto"``, ``"native"``, ``"openssl"``, ``"pycryptodome"``, ``"reference"``, or ``"plug-in"``.
    kernel : str
        ``"auto"``, or one that `available` lists: forces the instruction set.

    Returns
    -------
    KeystreamGenerator
        Call ``set_key(32 bytes)``, then ``keystream_into(counter, buffer)``.

    Raises
    ------
    ParameterError
        Unknown generator or provider; the message lists what there is.
    ProviderUnavailableError
        The provider cannot run it here, or not with that kernel.
    SelfTestError
        The provider computed a known answer wrongly.
    """
    return resolve(name, provider, kernel)()
