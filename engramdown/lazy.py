"""The doors of rooms: a name is imported when somebody first asks for it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module


def door(
    package: str, homes: Mapping[str, Sequence[str]]
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` for the ``__init__`` of a package.

    A type checker does not see these names: the ``__init__`` also imports each of them as itself
    under ``TYPE_CHECKING``.

    Args:
        package: The name of the package.
        homes: The names that each of its modules defines.

    Example:
        >>> getattribute, _ = door("engramdown", {"engram": ["Engram"]})
        >>> getattribute("Engram").__name__
        'Engram'
    """
    home = {name: module for module, names in homes.items() for name in names}

    def find(name: str) -> object:
        if name not in home:
            msg = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(msg)
        module = import_module(f"{package}.{home[name]}")
        # A module of many names may itself be what a door shows.
        is_module = name == home[name] and not hasattr(module, name)
        value = module if is_module else getattr(module, name)
        setattr(sys.modules[package], name, value)
        return value

    return find, lambda: sorted({*home, *vars(sys.modules[package])})
