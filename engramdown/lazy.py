"""What happens late: the doors of rooms, modules by their names of 0.1, texts and patterns.

A door imports a name when somebody first asks for it. An old module is the new one, not a copy of
it, and importing it warns; old names go with 0.3.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import import_module
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from importlib.abc import Loader
else:
    Loader = object  # importing it would cost every start

# A name in the stub of a package, and where it comes from.
_IMPORT: Final = re.compile(r"^from ([\w.]+) import (\w+)", re.MULTILINE)
# The name of a text and its lines.
_ENTRY: Final = re.compile(r"^([^\s#].*):\n((?:    .*\n)+)", re.MULTILINE)


def door(package: str) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` for the ``__init__`` of a package.

    Its names stand in the stub beside it, ``__init__.pyi``, one import a line; a type checker reads
    them there, too.

    Args:
        package: The name of the package.

    Example:
        >>> getattribute, _ = door("engramdown.recall")
        >>> getattribute("MemoryIndex").__name__
        'MemoryIndex'
    """

    @cache
    def homes() -> dict[str, str]:
        stub = Path(sys.modules[package].__path__[0], "__init__.pyi").read_text(encoding="utf-8")
        return {name: module for module, name in _IMPORT.findall(stub)}

    def find(name: str) -> object:
        if name not in homes():
            msg = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(msg)
        home = homes()[name]
        # A module of many names may itself be what a door shows.
        is_module = home == package
        value = import_module(f"{home}.{name}") if is_module else getattr(import_module(home), name)
        setattr(sys.modules[package], name, value)
        return value

    return find, lambda: sorted({*homes(), *vars(sys.modules[package])})


@cache
def compiled(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return a pattern, compiled at its first use: most texts need few of them."""
    return re.compile(pattern, flags)


def entries(table: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the entries of a table: a line that ends with a colon, and the indented lines below."""
    for name, lines in _ENTRY.findall(table.read_text(encoding="utf-8")):
        yield name, [line[4:] for line in lines.split("\n")]


@cache
def texts(file: str) -> Mapping[str, str]:
    """Return the texts beside a module, by name: those of ``prose.txt`` for ``prose.py``.

    The lines of an entry are put together as they stand. ``{NAME}`` stands for a text further up.

    Args:
        file: The path of the module.
    """
    found: dict[str, str] = {}
    for name, lines in entries(Path(file).with_suffix(".txt")):
        found[name] = re.sub(r"\{([A-Z][A-Z_]*)\}", lambda it: found[it[1]], "".join(lines))
    return found


def patterns(file: str) -> Callable[[str], re.Pattern[str]]:
    """Return a function from the names of the texts beside a module to their patterns.

    Each is compiled at its first use.
    """
    return cache(lambda name: re.compile(texts(file)[name]))


def find_spec(name: str) -> ModuleSpec | None:
    """Return how an old name is imported, or ``None`` if the name is not an old one.

    Args:
        name: The full name of a module.
    """
    short, moved = name.removeprefix("engramdown."), texts(__file__)
    is_package = any(old.startswith(f"{short}.") for old in moved)
    known = is_package or short in moved
    return ModuleSpec(name, _Loader(), is_package=is_package) if known else None


class _Loader(Loader):
    """Gives the new module for an old name."""

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Let Python make an empty module, which the new one replaces."""
        del spec
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Put the new module in the place of the old one."""
        old = module.__name__
        short = old.removeprefix("engramdown.")
        if short in texts(__file__):
            new = f"engramdown.{texts(__file__)[short]}"
            warnings.warn(f"{old} is now {new}", DeprecationWarning, stacklevel=2)
            sys.modules[old] = import_module(new)
