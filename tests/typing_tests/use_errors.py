"""Uses of `fortuna.errors`: each is of the one tree, and of the builtin error that a plain handler expects."""

from __future__ import annotations

import fortuna
from fortuna import errors
from fortuna.errors import (
    AlreadyBootedError,
    ClosedError,
    FortunaError,
    HealthTestError,
    NotSeededError,
    ParameterError,
    ProviderUnavailableError,
    RequestTooLargeError,
    SeedFileCorruptError,
    SeedFileError,
    SeedFileLockedError,
    SeedFilePermissionError,
    SelfTestError,
    SourceError,
    TunableError,
)

OF_ONE_TREE: list[type[FortunaError]] = [HealthTestError]
VALUES: list[type[ValueError]] = [TunableError, ClosedError, ParameterError, RequestTooLargeError]
STATES: list[type[RuntimeError]] = [AlreadyBootedError, NotSeededError, SelfTestError]
IMPORTS: list[type[ImportError]] = [ProviderUnavailableError]
SYSTEM: list[type[OSError]] = [
    SourceError,
    SeedFileError,
    SeedFileCorruptError,
    SeedFileLockedError,
    SeedFilePermissionError,
]

#: The same classes are in `fortuna`.
ALSO: list[type[FortunaError]] = [
    fortuna.AlreadyBootedError,
    fortuna.ClosedError,
    fortuna.FortunaError,
    fortuna.HealthTestError,
    fortuna.NotSeededError,
    fortuna.ParameterError,
    fortuna.ProviderUnavailableError,
    fortuna.RequestTooLargeError,
    fortuna.SeedFileCorruptError,
    fortuna.SeedFileError,
    fortuna.SeedFileLockedError,
    fortuna.SeedFilePermissionError,
    fortuna.SelfTestError,
    fortuna.SourceError,
    fortuna.TunableError,
    errors.FortunaError,
]


def handle() -> str:
    """Catch as a service would."""
    try:
        return fortuna.random_bytes(16).hex()
    except SourceError as error:
        return error.strerror or ""
    except FortunaError as error:
        return str(error)
