"""The rules of this project that no linter knows; tests/test_habits.py applies them.

Promises: each rule is a pure function from the source of a module to complaints, in the form
``line: what is wrong``; no complaint means that the rule is kept.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterator
from typing import Final

__all__ = [
    "PURE_RULES",
    "RULES",
    "Rule",
    "calls_no_splitlines",
    "does_no_io",
    "has_docstring",
    "is_of_every_system",
    "locks_survive_a_fork",
    "reads_no_clock",
    "suppresses_with_reason",
    "third_party_imports",
]

Rule = Callable[[str], list[str]]

_CLOCKS: Final = frozenset({"now", "today", "utcnow", "localtime", "time_ns", "monotonic"})
_SYSTEM: Final = frozenset(
    {"fcntl", "grp", "msvcrt", "nt", "posix", "pwd", "resource", "termios", "tty", "winreg"}
)
# functools.cached_property holds a lock before Python 3.12.
_LOCKS: Final = frozenset(
    {"Lock", "RLock", "Condition", "Semaphore", "BoundedSemaphore", "Barrier", "Event"}
    | {"cached_property"}
)
_IO: Final = frozenset({"open", "print", "input", "breakpoint"})
_SUPPRESSION: Final = re.compile(r"# (?:noqa|type: ignore|pragma: no cover)(?P<rest>.*)$")


def has_docstring(source: str) -> list[str]:
    """Every module says what it promises."""
    return [] if ast.get_docstring(ast.parse(source)) else ["1: no docstring"]


def calls_no_splitlines(source: str) -> list[str]:
    r"""Only ``\n`` ends a line; ``splitlines`` also cuts at form feeds, U+2028 and a lone CR."""
    return [
        f'{node.lineno}: splitlines; use split("\\n")'
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Attribute) and node.attr == "splitlines"
    ]


def suppresses_with_reason(source: str) -> list[str]:
    """What silences a checker names the rule and then gives a reason: ``# noqa: S102 - why``."""
    complaints = []
    for number, line in enumerate(source.split("\n"), 1):
        found = _SUPPRESSION.search(line)
        if found and not re.search(r" (?:-|#) \w", found["rest"]):
            complaints.append(f"{number}: {found[0].strip()!r} gives no reason after ' - '")
    return complaints


def locks_survive_a_fork(source: str) -> list[str]:
    """A lock is free in a child process: locks are made by engramdown.forks, and by no other."""
    found = [
        (node.lineno, node.attr)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "threading"
    ]
    found += [
        (node.lineno, each.name)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ImportFrom) and node.module in ("threading", "functools")
        for each in node.names
    ]
    return [f"{line}: {name}; see engramdown.forks" for line, name in found if name in _LOCKS]


def is_of_every_system(source: str) -> list[str]:
    """What Python has on one system only is not imported: locks come from portalocker.

    Unless what is to be done without it stands below, in ``except ImportError``.
    """
    return [
        f"{line}: {name}; not every system has it"
        for line, name in _imports(source)
        if name in _SYSTEM and line not in _tried(source)
    ]


def reads_no_clock(source: str) -> list[str]:
    """A pure module is told what day it is."""
    return [
        f"{node.lineno}: {node.attr}; take the date as an argument"
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Attribute) and node.attr in _CLOCKS
    ]


def does_no_io(source: str) -> list[str]:
    """A pure module opens and prints nothing; the import contracts see the rest."""
    return [
        f"{node.lineno}: {node.id}; a pure module does no I/O"
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Name) and node.id in _IO
    ]


def third_party_imports(source: str) -> set[str]:
    """Return the top-level packages that a module imports and Python does not bring along."""
    return {name for _, name in _imports(source)} - sys.stdlib_module_names


RULES: Final[tuple[Rule, ...]] = (
    has_docstring,
    calls_no_splitlines,
    suppresses_with_reason,
)
"""For every module of the package."""

PURE_RULES: Final[tuple[Rule, ...]] = (reads_no_clock, does_no_io)
"""For the modules of the import contract "pure"."""


def _imports(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the top-level package of each import."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name.partition(".")[0]) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.lineno, node.module.partition(".")[0]


def _tried(source: str) -> set[int]:
    """Return the lines below a ``try`` that knows what to do if an import fails."""
    return {
        line
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Try)
        if any("ImportError" in ast.unparse(each.type or node) for each in node.handlers)
        for statement in node.body
        for line in range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)
    }
