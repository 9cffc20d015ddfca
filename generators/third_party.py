"""Keystream generators of third parties: who offers which name, and what is checked before one is used.

A plug-in is an entry point in the group ``fortuna.generators``: its name is the generator's, its object a subclass of
`KeystreamGenerator`. It is its own provider, so its ``provider`` is ``"plug-in"``, and ``kernel`` says what runs it. It
brings the known answers of its first use itself.

The names of our own generators are ours: they are looked up without reading any metadata, so nothing that is installed
can take one over. A distribution that offers such a name all the same is broken or means harm, and as long as it is
there no plug-in is used.
"""

from __future__ import annotations

from ..errors import ParameterError, ProviderUnavailableError
from .base import COUNTER_BITS, COUNTER_MAX, KEY_SIZE, KeystreamGenerator
from .plugins import Plugin, plugins, the_one
from .registry import GENERATORS, PLUGIN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

GROUP: Final = "fortuna.generators"
#: A rekey takes 32 bytes and drops the rest of its last block; a larger block would cost more than most requests.
BLOCK_SIZE_MAX: Final = 1 << 16


def find(name: str) -> Plugin:
    """Return the plug-in that offers the generator *name*, which is none of ours.

    Raises
    ------
    ParameterError
        Nobody offers it, or more than one distribution does; the message lists what there is.
    ProviderUnavailableError
        A distribution offers a name of ours.
    """
    offered = plugins(GROUP)
    plugin = the_one(offered, name)
    if plugin is None:
        foreign = list(dict.fromkeys(other.name for other in offered if other.name not in GENERATORS))
        raise ParameterError(
            f"generator: got {name!r}; there is {', '.join(GENERATORS)}; "
            f"plug-ins offer {', '.join(foreign) if foreign else 'no others'}"
        )
    for other in offered:
        if other.name in GENERATORS:
            raise ProviderUnavailableError(f"plug-in {name!r} of {plugin.supplier} is not used: {clash(other)}")
    return plugin


def clash(plugin: Plugin) -> str:
    """Return what is wrong with a plug-in whose name is one of ours."""
    return f"{plugin.supplier} offers {plugin.name!r}, the name of a built-in generator; uninstall it"


def import_generator(plugin: Plugin) -> type[KeystreamGenerator]:
    """Import *plugin* and return its class, or raise `ProviderUnavailableError` that says what it should be."""
    found = plugin.load()
    if not (isinstance(found, type) and issubclass(found, KeystreamGenerator)):
        problem = f"its object is {type(found).__name__} {getattr(found, '__name__', '')}".rstrip()
        problem += "; it must be a subclass of fortuna.generators.KeystreamGenerator"
    else:
        problem = problem_of(found, plugin.name)
        if not problem:
            return found
    raise ProviderUnavailableError(
        f"plug-in {plugin.name!r} of {plugin.supplier}: {problem}; its authors must mend that, "
        "fortuna.generators.conformance finds such faults"
    )


def problem_of(found: type[KeystreamGenerator], name: str) -> str:
    """Return which part of the contract the class breaks, got and needed, or an empty string."""
    if found.__abstractmethods__:
        return f"it lacks the methods {', '.join(sorted(found.__abstractmethods__))}"
    for attribute, needed in (
        ("name", name),
        ("provider", PLUGIN),
        ("key_size", KEY_SIZE),
        ("counter_bits", COUNTER_BITS),
    ):
        got = getattr(found, attribute, None)
        if got != needed:
            return f"its {attribute} is {got!r}; it must be {needed!r}"
    kernel = getattr(found, "kernel", None)
    if not (isinstance(kernel, str) and kernel and kernel.isascii() and kernel.isprintable() and " " not in kernel):
        return f"its kernel is {kernel!r}; it must be one word of ASCII that says what computes it"
    size = getattr(found, "block_size", None)
    if type(size) is not int or not 1 <= size <= BLOCK_SIZE_MAX:
        return f"its block_size is {size!r}; it must be an integer in 1..{BLOCK_SIZE_MAX} bytes"
    answers: object = found._known_answers
    if not (isinstance(answers, tuple) and answers and all(map(is_answer, answers))):
        return (
            "its _known_answers are missing or malformed; they must be a tuple of one or more "
            "(counter, keystream in hex) for the key 00 01 .. 1f"
        )
    return ""


def is_answer(answer: object) -> bool:
    """Tell whether *answer* is a pair of a counter and at least one byte in hex."""
    match answer:
        case (int(counter), str(text)) if 0 <= counter <= COUNTER_MAX:
            try:
                return bytes.fromhex(text) != b""
            except ValueError:
                return False
    return False
