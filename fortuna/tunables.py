"""Tunables: the parameters of a boot, read once from a TOML file and frozen for the life of the process.

Each tunable is declared once, in `TUNABLES`, with its type, range, unit and default; loading, the command line's
table, ``configs/default.toml`` (by a test) and the documentation follow that table. A value is taken as it stands or
refused: nothing is converted, clipped or guessed. Every refusal reads ``path:line: key: ...``.
"""

from __future__ import annotations

from .core.constructions import CONSTRUCTIONS
from .errors import ParameterError, TunableError
from .generators.plugins import plugin_named, plugins
from .generators.registry import GENERATORS, KERNELS, PLUGIN, PROVIDERS
from .sources.registry import BUILT_IN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any, Final, NoReturn

    from .typing import Value

#: Characters of a refused value that a message shows, and bits from which on an integer is not written out: Python
#: refuses to convert very long ones.
SHOWN_MAX: Final = 60
LONG_BITS: Final = 190

#: What a string without choices takes.
PATH_ALLOWED: Final = 'the absolute path of a file, or "" for none'

#: What the origin of a value says when nobody set it.
DEFAULT_ORIGIN: Final = "default"


class Tunable:
    """The declaration of one tunable: what it means, and which values it takes.

    Attributes
    ----------
    key : str
        Dotted name: table and key of the TOML file.
    default : bool, int, float, str or tuple of str
        Its type is the tunable's type.
    choices : tuple of str
        The strings allowed; empty for numbers and booleans. A string without choices is the path of a file.
    group : str
        The entry-point group whose names are allowed as well; empty where there are no plug-ins.
    low, high : float
        The closed range of a number.
    zero_is_off : bool
        Whether 0 is allowed below the range, and switches the feature off.
    unit : str
        Of a number.
    meaning : str
        One line for people.
    """

    __slots__ = ("choices", "default", "group", "high", "key", "low", "meaning", "unit", "zero_is_off")

    def __init__(
        self,
        key: str,
        default: Value,
        meaning: str,
        *,
        choices: tuple[str, ...] = (),
        group: str = "",
        low: float = 0,
        high: float = 0,
        unit: str = "",
        zero_is_off: bool = False,
    ) -> None:
        self.key = key
        self.default = default
        self.meaning = meaning
        self.choices = choices
        self.group = group
        self.low = low
        self.high = high
        self.unit = unit
        self.zero_is_off = zero_is_off

    @property
    def allowed(self) -> str:
        """The values allowed, in words."""
        if isinstance(self.default, bool):
            return "true or false"
        if isinstance(self.default, tuple):
            return f"a list of one or more of {self._names()}"
        if isinstance(self.default, str):
            return self._names() or PATH_ALLOWED
        kind = "a number" if isinstance(self.default, float) else "an integer"
        off = "0 (off), or " if self.zero_is_off else ""
        return f"{off}{kind} in {self.low:g}..{self.high:.7g} {self.unit}"

    def check(self, value: Any) -> Value:
        """Return *value* in the tunable's type, or raise `TunableError` that says what was got and what is allowed."""
        problem = self._problem(value)
        if problem:
            raise TunableError(f"{problem}; allowed is {self.allowed}{self._installed()}")
        checked: Value = type(self.default)(value)
        return checked

    def _problem(self, value: Any) -> str:
        got = f"got {describe(value)}"
        if isinstance(self.default, bool):
            return "" if isinstance(value, bool) else got
        if isinstance(self.default, tuple):
            if not isinstance(value, list | tuple) or not value:
                return got
            wrong = [item for item in value if not (isinstance(item, str) and self._is_name(item))]
            if wrong:
                return f"got {describe(wrong[0])} in the list"
            return f"{got} with a repetition" if len(set(value)) != len(value) else ""
        if isinstance(self.default, str):
            fits = isinstance(value, str) and (self._is_name(value) if self.choices else is_path(value))
            return "" if fits else got
        # A boolean is an int to Python, not to us. An integer may stand for a float, nan is in no range.
        numbers = (int, float) if isinstance(self.default, float) else (int,)
        if not isinstance(value, numbers) or isinstance(value, bool):
            return got
        fits = self.low <= value <= self.high or (self.zero_is_off and value == 0)
        return "" if fits else got

    def _names(self) -> str:
        """Return the names allowed, in words."""
        names = ", ".join(f'"{choice}"' for choice in self.choices)
        return f"{names}, or the name of a plug-in" if self.group else names

    def _is_name(self, name: str) -> bool:
        """Tell whether *name* is a choice or a plug-in's; reads metadata, which a name of our own never needs."""
        if name in self.choices or not self.group:
            return name in self.choices
        try:
            return plugin_named(self.group, name) is not None
        except ParameterError as error:
            raise TunableError(str(error)) from error

    def _installed(self) -> str:
        """Return what a refusal says about plug-ins."""
        if not self.group:
            return ""
        names = ", ".join(f'"{name}"' for name in dict.fromkeys(plugin.name for plugin in plugins(self.group)))
        return f" (installed: {names or 'none'})"


def is_path(text: str) -> bool:
    """Tell whether *text* can be the absolute path of a file, or is empty, which means that there is none."""
    # A relative path would mean another file after each change of the working directory. No file's name holds NUL, and
    # what is not text (lone surrogates) cannot come from a TOML file.
    is_text = "\0" not in text and not any("\ud800" <= letter <= "\udfff" for letter in text)
    return not text or (is_text and text.startswith("/") and not text.endswith("/"))


def as_toml(value: Value) -> str:
    """Return *value* as a TOML file writes it, on one line of ASCII."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return f"[{', '.join(map(as_toml, value))}]"
    if isinstance(value, str):
        quoted = value.replace("\\", r"\\").replace('"', r"\"")
        return '"' + "".join(c if c.isascii() and c.isprintable() else f"\\U{ord(c):08x}" for c in quoted) + '"'
    return str(value)


def describe(value: object) -> str:
    """Return *value* about as TOML would write it, cut to a length that a message bears."""
    if isinstance(value, int) and value.bit_length() > LONG_BITS:
        return f"an integer of {value.bit_length()} bits"
    text = as_toml(value) if isinstance(value, bool | str) else str(value)
    return text if len(text) <= SHOWN_MAX else f"{text[: SHOWN_MAX - 3]}..."


TUNABLES: Final = {
    tunable.key: tunable
    for tunable in (
        Tunable(
            "generator.cipher",
            "aes256-icm",
            "The keystream generator.",
            choices=GENERATORS,
            group="fortuna.generators",
        ),
        Tunable(
            "generator.provider",
            "auto",
            "The library that runs it; auto takes the first that works.",
            choices=("auto", *PROVIDERS, PLUGIN),
        ),
        Tunable(
            "generator.kernel",
            "auto",
            "The code inside the provider, which forces an instruction set; auto takes the best that works.",
            choices=("auto", *KERNELS),
        ),
        Tunable("generator.construction", "fsk2010", "The edition of Fortuna.", choices=tuple(CONSTRUCTIONS)),
        Tunable(
            "reseed.min_pool_size",
            64,
            "Bytes in pool 0 that make a reseed possible.",
            low=16,
            high=1048576,
            unit="bytes",
        ),
        Tunable(
            "reseed.interval", 0.1, "Time that must be exceeded between reseeds.", low=0, high=3600, unit="seconds"
        ),
        Tunable("entropy.sources", ("os", "cpu"), "What is harvested.", choices=BUILT_IN, group="fortuna.sources"),
        Tunable("entropy.file", "", 'The character device or FIFO that the source "file" reads.'),
        Tunable(
            "entropy.harvest_interval",
            0.0,
            "Pause of a thread that harvests every source.",
            low=0.01,
            high=3600,
            unit="seconds",
            zero_is_off=True,
        ),
        Tunable(
            "entropy.per_request",
            "",
            "Whose 32 fresh bytes are mixed into K before every call.",
            choices=("", "os", "cpu"),
        ),
        Tunable("entropy.health_tests", True, "Test what the sources give before it is used."),
        Tunable("seed_file.path", "", "The seed file: 64 secret bytes that are kept from one boot to the next."),
        Tunable(
            "seed_file.save_interval",
            600.0,
            "How often the seed file is replaced while the generator runs.",
            low=1,
            high=86400,
            unit="seconds",
        ),
        Tunable("boot.timeout", 30.0, "How long to wait for the first seed.", low=0, high=3600, unit="seconds"),
        Tunable("boot.allow_without_os", False, 'Boot though entropy.sources does not name "os".'),
        Tunable("boot.generation_file", "", "A number that the system changes when a snapshot was restored."),
        Tunable("boot.pretend_unseeded", False, "Refuse every request, to test what a service does then."),
    )
}


class Tunables:
    """The effective values of one boot, and where each came from. Frozen.

    Parameters
    ----------
    values : mapping
        Checked values by dotted name; those left out have their default.
    origins : mapping
        Where each of *values* came from, for people.

    Notes
    -----
    Two are equal when their values are, whatever the origins.
    """

    __slots__ = ("_origins", "_values")

    _values: dict[str, Any]  # each in the type of its default
    _origins: dict[str, str]

    def __init__(self, values: Mapping[str, Value], origins: Mapping[str, str]) -> None:
        object.__setattr__(self, "_values", {key: values.get(key, t.default) for key, t in TUNABLES.items()})
        object.__setattr__(self, "_origins", {key: origins.get(key, DEFAULT_ORIGIN) for key in TUNABLES})

    def __getitem__(self, key: str) -> Any:
        return self._values[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def origin(self, key: str) -> str:
        """Return where the value of *key* came from: ``default``, ``path:line`` or the name of an override."""
        return self._origins[key]

    def values(self) -> dict[str, Value]:
        """Return a copy of all values by dotted name."""
        return dict(self._values)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tunables) and self._values == other._values

    def __hash__(self) -> int:
        return hash(tuple(self._values.items()))

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"tunables are frozen at boot: cannot set {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"tunables are frozen at boot: cannot delete {name!r}")

    def __repr__(self) -> str:
        return f"Tunables({self._values!r})"


def check_together(tunables: Tunables) -> None:
    """Refuse values that are allowed one by one and make no sense together; the message has the origin in front.

    Raises
    ------
    TunableError
        ``entropy.sources`` lacks ``os`` and ``boot.allow_without_os`` is false, or has ``file`` and ``entropy.file`` is
        empty.
    """
    sources = tunables["entropy.sources"]
    problem = ""
    if "os" not in sources and not tunables["boot.allow_without_os"]:
        problem = 'without "os"; add it, or set boot.allow_without_os = true'
    elif "file" in sources and not tunables["entropy.file"]:
        problem = 'with "file", which needs a path; set entropy.file'
    if problem:
        raise TunableError(f"{tunables.origin('entropy.sources')}: entropy.sources: got {as_toml(sources)} {problem}")
