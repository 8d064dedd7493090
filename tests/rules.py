"""The rules of this project that no linter knows; tests/test_habits.py applies them.

Promises: each rule is a pure function from the source of a module to complaints, in the form
``line: what is wrong``; no complaint means that the rule is kept.

A reason that lifts a limit is a comment that stands with the code it is about:

- ``# long file: <reason>`` on a line of its own, for a file over 400 lines;
- ``# long: <reason>`` for a function over 40 lines without its docstring;
- ``# wide: <reason>`` for a function with more than 5 parameters, ``self`` not counted.

The last two stand right above the function (above its decorators) or inside its head.
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
    "has_all_and_docstring",
    "is_not_long",
    "is_of_every_system",
    "keeps_functions_short",
    "reads_no_clock",
    "suppresses_with_reason",
    "third_party_imports",
]

_Function = ast.FunctionDef | ast.AsyncFunctionDef
Rule = Callable[[str], list[str]]

FILE_LINES: Final = 400
FUNCTION_LINES: Final = 40
PARAMETERS: Final = 5

_CLOCKS: Final = frozenset({"now", "today", "utcnow", "localtime", "time_ns", "monotonic"})
_SYSTEM: Final = frozenset(
    {"fcntl", "grp", "msvcrt", "nt", "posix", "pwd", "resource", "termios", "tty", "winreg"}
)
_IO: Final = frozenset({"open", "print", "input", "breakpoint"})
_LONG_FILE: Final = re.compile(r"^# long file: \w", re.MULTILINE)
_SUPPRESSION: Final = re.compile(r"# (?:noqa|type: ignore|pragma: no cover)(?P<rest>.*)$")


def has_all_and_docstring(source: str) -> list[str]:
    """Every module says what it promises and what it offers."""
    tree = ast.parse(source)
    complaints = [] if ast.get_docstring(tree) else ["1: no docstring"]
    offers = any("__all__" in _targets(node) for node in tree.body)
    return complaints if offers else [*complaints, "1: no __all__"]


def is_not_long(source: str) -> list[str]:
    """A file has at most 400 lines, or a reason."""
    count = source.count("\n")
    if count <= FILE_LINES or _LONG_FILE.search(source):
        return []
    return [f"{count}: more than {FILE_LINES} lines and no '# long file: reason'"]


def keeps_functions_short(source: str) -> list[str]:
    """A function has at most 40 lines without its docstring and 5 parameters, or a reason."""
    lines = source.split("\n")
    complaints = []
    for function in _functions(ast.parse(source)):
        head = _head(function, lines)
        where = f"{function.lineno}: {function.name}"
        if _length(function) > FUNCTION_LINES and not re.search(r"# long: \w", head):
            complaints.append(f"{where} is longer than {FUNCTION_LINES} lines, no '# long: reason'")
        if _width(function) > PARAMETERS and not re.search(r"# wide: \w", head):
            complaints.append(f"{where} has more than {PARAMETERS} parameters, no '# wide: reason'")
    return complaints


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
    has_all_and_docstring,
    is_not_long,
    keeps_functions_short,
    calls_no_splitlines,
    suppresses_with_reason,
)
"""For every module of the package."""

PURE_RULES: Final[tuple[Rule, ...]] = (reads_no_clock, does_no_io)
"""For the modules of the import contract "pure"."""


def _targets(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.Assign):
        return [target.id for target in node.targets if isinstance(target, ast.Name)]
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return [node.target.id]
    return []


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


def _functions(tree: ast.Module) -> Iterator[_Function]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def _head(function: _Function, lines: list[str]) -> str:
    """Return the line above the function, its decorators and its signature."""
    first = min([function.lineno, *(item.lineno for item in function.decorator_list)])
    return "\n".join(lines[max(first - 2, 0) : function.body[0].lineno - 1])


def _length(function: _Function) -> int:
    end = function.end_lineno or function.lineno
    total = end - function.lineno + 1
    if ast.get_docstring(function) is None:
        return total
    docstring = function.body[0]
    return total - ((docstring.end_lineno or docstring.lineno) - docstring.lineno + 1)


def _width(function: _Function) -> int:
    arguments = function.args
    names = [item.arg for item in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    return len(names) - (names[:1] in (["self"], ["cls"]))
