"""Every error that fortuna raises on purpose, in one tree.

A leaf module: every layer may import it and it imports nothing of ours. Each class also derives from the
builtin exception that a plain handler expects, so ``except ValueError`` keeps its meaning. A message says what
was wrong, what was got, what is allowed and what to do; none ever holds key, counter or pool contents.
"""


class FortunaError(Exception):
    """Base class of every error that fortuna raises on purpose."""


class ParameterError(FortunaError, ValueError):
    """An argument is outside what the call allows. The state is unchanged."""


class RequestTooLargeError(FortunaError, ValueError):
    """One request to a (K, C) generator was longer than 2**20 bytes. The state is unchanged.

    Only `fortuna.core.Generator` raises it (Cryptography Engineering 9.4.4); the live generator splits a longer
    request instead.
    """


class TunableError(FortunaError, ValueError):
    """The configuration is refused; nothing was booted. The message reads ``path:line: key: ...``."""


class AlreadyBootedError(FortunaError, RuntimeError):
    """The process runs with other tunables; they are chosen once, at boot."""


class NotSeededError(FortunaError, RuntimeError):
    """No random data can be given yet: the entropy sources have not answered. No byte was given out."""


class ClosedError(FortunaError, ValueError):
    """The generator was closed and its key is wiped."""


class ProviderUnavailableError(FortunaError, ImportError):
    """The requested provider cannot run the generator on this machine."""


class SelfTestError(FortunaError, RuntimeError):
    """A provider's known answer came out wrong; it is not used."""


class SourceError(FortunaError, OSError):
    """An entropy source failed or gave unusable bytes. Nothing of them was used."""


class HealthTestError(FortunaError, RuntimeError):
    """A source gave bytes that it would hardly give if its claim of min-entropy were true. They were not used."""


class SeedFileError(FortunaError, OSError):
    """The seed file cannot be read or replaced. The generator goes on from its other sources.

    What the system said is the ``__cause__``.
    """


class SeedFileCorruptError(SeedFileError):
    """The seed file holds something else than 64 bytes, or zeros. What is there is mixed in and then replaced."""


class SeedFilePermissionError(SeedFileError):
    """Somebody else may have read, written or chosen the seed file or its directory. Nothing was booted.

    Either is a symbolic link, belongs to another user, is open to its group or to others, or is something else than a
    regular file in a directory. The message has the command that mends it.
    """


class SeedFileLockedError(SeedFileError):
    """The lock of the seed file was not free in time, or there are no locks where it lies. It is left alone."""
