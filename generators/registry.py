"""Which provider runs which generator, and the one door to an instance.

The table names modules as text, so a provider's library is imported when it is first asked for and at no other time.
A class goes out only after its known answers came out right (`.selftest`), once in a process. Nothing here chooses
for anybody else: a choice belongs to the instance it made.
"""

from __future__ import annotations

from importlib import import_module

from ..errors import FortunaError, ParameterError, ProviderUnavailableError
from .selftest import check_known_answers
from .undisturbed import Undisturbed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from .base import KeystreamGenerator

#: (generator, provider) -> module below this package, class.
FACTORIES: Final = {
    ("aes256-icm", "pycryptodome"): ("providers.pycryptodome", "PyCryptodomeAES256ICM"),
    ("aes256-icm", "reference"): ("providers.reference_aes", "ReferenceAES256ICM"),
    ("chacha20", "pycryptodome"): ("providers.pycryptodome", "PyCryptodomeChaCha20"),
    ("chacha20", "reference"): ("providers.reference_chacha", "ReferenceChaCha20"),
}
GENERATORS: Final = tuple(dict.fromkeys(generator for generator, _ in FACTORIES))
PROVIDERS: Final = tuple(dict.fromkeys(provider for _, provider in FACTORIES))
#: What ``auto`` tries, in this order. ``reference`` is missing on purpose: slow, and its AES is not constant-time.
AUTO_ORDER: Final = ("pycryptodome",)

#: The outcome of each first use: a class, or the error that says why not. Facts about the machine, not choices.
_outcomes: dict[tuple[str, str], type[KeystreamGenerator] | FortunaError] = {}


def load(generator: str, provider: str) -> type[KeystreamGenerator]:
    """Import one provider's class for *generator* and check its known answers, once.

    Raises
    ------
    ProviderUnavailableError
        The provider has no such generator, or its library cannot be imported.
    SelfTestError
        It computed a known answer wrongly; it stays refused for the life of the process.
    """
    outcome = _outcomes.get((generator, provider))
    if outcome is None:
        try:
            outcome = _load(generator, provider)
        except FortunaError as error:
            outcome = error
        _outcomes[generator, provider] = outcome
    if isinstance(outcome, FortunaError):
        # Without the traceback of the first failure, which would grow with every raise.
        raise outcome.with_traceback(None)
    return outcome


def _load(generator: str, provider: str) -> type[KeystreamGenerator]:
    if (generator, provider) not in FACTORIES:
        offers = [p for g, p in FACTORIES if g == generator]
        raise ProviderUnavailableError(
            f"provider {provider!r} has no generator {generator!r}; it runs on: {', '.join(offers)}"
        )
    module, name = FACTORIES[generator, provider]
    try:
        with Undisturbed():
            found: type[KeystreamGenerator] = getattr(import_module(f".{module}", __package__), name)
    except ImportError as error:
        raise ProviderUnavailableError(f"provider {provider!r} cannot be imported: {error}") from error
    check_known_answers(found)
    return found


def resolve(generator: str, provider: str = "auto") -> type[KeystreamGenerator]:
    """Return the class that runs *generator*: that of *provider*, or for ``auto`` the first that works.

    There is no fallback from one generator to another, and none from a named provider to a second one.

    Raises
    ------
    ParameterError
        Unknown generator or provider; the message lists what there is.
    ProviderUnavailableError, SelfTestError
        As `load` for a named provider; for ``auto``, all failed and the message says why each.
    """
    _require_known("generator", generator, GENERATORS)
    if provider != "auto":
        _require_known("provider", provider, ("auto", *PROVIDERS))
        return load(generator, provider)
    reasons = []
    for candidate in AUTO_ORDER:
        try:
            return load(generator, candidate)
        except FortunaError as error:
            reasons.append(f"{candidate}: {error}")
    raise ProviderUnavailableError(
        f"no provider runs {generator!r} here ({'; '.join(reasons)}); install one, or force the slow oracle with "
        "provider 'reference'"
    )


def create(name: str, provider: str = "auto") -> KeystreamGenerator:
    """Make a keystream generator of your own, without a key.

    It has nothing to do with the live generator: that one keeps the cipher it was booted with.

    Parameters
    ----------
    name : str
        ``"aes256-icm"`` or ``"chacha20"``.
    provider : str
        ``"auto"``, ``"pycryptodome"`` or ``"reference"``.

    Returns
    -------
    KeystreamGenerator
        Call ``set_key(32 bytes)``, then ``keystream_into(counter, buffer)``.

    Raises
    ------
    ParameterError
        Unknown generator or provider; the message lists what there is.
    ProviderUnavailableError
        The provider cannot run it here.
    SelfTestError
        The provider computed a known answer wrongly.
    """
    return resolve(name, provider)()


def _require_known(what: str, got: str, allowed: tuple[str, ...]) -> None:
    if got not in allowed:
        raise ParameterError(f"{what}: got {got!r}; there is {', '.join(allowed)}")
