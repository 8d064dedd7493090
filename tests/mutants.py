"""Modules with a deliberate bug, loaded beside the real ones.

Promises: one replacement in the source of one module; nothing outside is changed.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from types import CodeType, ModuleType, SimpleNamespace
from typing import Any, Final, NamedTuple

__all__ = ["Bug", "Core", "mutated"]

ROOT: Final = Path(__file__).resolve().parent.parent

# What a law is given: all names of the modules that were loaded.
Core = Any


class Bug(NamedTuple):
    """One deliberate bug.

    Attributes:
        what: What goes wrong.
        module: Where, below ``engramdown``.
        old: A piece of its source that stands there once.
        new: What stands there instead.
        law: An example of the law that sees it.
    """

    what: str
    module: str
    old: str
    new: str
    law: Callable[[Core], None]


@contextmanager
def mutated(names: Sequence[str], bug: Bug | None) -> Iterator[Core]:
    """Yield the names of modules that are loaded anew, one of them with a bug.

    Args:
        names: The modules, in the order of their imports; others are the real ones.
        bug: The bug, or ``None`` for none.
    """
    try:
        yield _load(names, bug)
    finally:
        for name in names:
            sys.modules.pop(f"mutant.{name}", None)


def _load(names: Sequence[str], bug: Bug | None) -> Core:
    """Load modules, in the order of their imports, one of them with a bug; return their names."""
    found: dict[str, object] = {}
    for name in names:
        module = ModuleType(f"mutant.{name}")
        sys.modules[module.__name__] = module
        source = (ROOT / f"{name.replace('.', '/')}.py").read_text(encoding="utf-8")
        if bug is not None and name == f"engramdown.{bug.module}":
            count = source.count(bug.old)
            assert count == 1, f"stands {count} times in {name}: {bug.old}"
            source = source.replace(bug.old, bug.new)
        exec(_code(name, source, tuple(names)), vars(module))
        found |= vars(module)
    return SimpleNamespace(**found)


@cache
def _code(name: str, source: str, names: Sequence[str]) -> CodeType:
    """Let a module import its fellows from beside the real ones."""
    for other in names:
        source = source.replace(f"from {other} import", f"from mutant.{other} import")
        room, _, module = other.rpartition(".")
        line = rf"(?m)^from {re.escape(room)} import {module}(?: as (\w+))?$"
        source = re.sub(line, partial(_fellow, module, other), source)
    return compile(source, f"mutant {name}", "exec")


def _fellow(module: str, name: str, line: re.Match[str]) -> str:
    """Return the line that binds a module from beside the real ones, as ``line`` binds it."""
    return f"{line[1] or module} = __import__('sys').modules['mutant.{name}']"
