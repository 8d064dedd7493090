"""Hostile texts, made of the regular expressions of the package itself.

Promises: every pattern is found, compiled or not yet: a value of a module, or a literal in a call;
for each part of one that may repeat there is a text that repeats it for long and then lets it fail.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import engramdown

__all__ = ["WAYS", "Pump", "patterns", "pumps", "pumps_of"]

_parser: Final = importlib.import_module("re._parser")
_CATEGORIES: Final = {
    f"CATEGORY_{named}{name}": re.compile(rf"\{letter.upper() if named else letter}")
    for name, letter in (("DIGIT", "d"), ("SPACE", "s"), ("WORD", "w"))
    for named in ("", "NOT_")
}
_MANY: Final = 16
_CANDIDATES: Final = (
    "a0 _-.:,;\"'`/\\=<>()[]{}|@#*+&!?%~$^\t\n\rA\u00e9\u2028\u4e00\U0001f469\u200d"
)
WAYS: Final = 4
"""In how many ways a pump is used."""

# What is no pattern: one that may match everywhere says so with one of these.
_MARKS: Final = frozenset("\\[(|*+?{")


class Pump(NamedTuple):
    """What leads to a part of a pattern that repeats, and what it repeats.

    Attributes:
        before: What must stand in front of it.
        piece: What may stand there again and again.
        after: What would have to follow.
    """

    before: str
    piece: str
    after: str

    def texts(self, length: int) -> tuple[str, ...]:
        """Return :data:`WAYS` texts of about this length, in characters."""
        begun = self.before + self.piece
        whole = begun + self.piece + self.after
        many = self.piece * (length // len(self.piece))
        return (
            # For long from one start, with an end that does not fit; from many starts; many times.
            f"{self.before}{many}\0",
            f"{many}\0\n",
            begun * (length // len(begun)) + "\0",
            whole * (length // len(whole)),
        )


def pumps() -> list[Pump]:
    """Return the pumps of every pattern of the package, each once, in order."""
    found = {pump for text, flags in patterns() for pump in pumps_of(text, flags)}
    return sorted(found)


@cache
def patterns() -> frozenset[tuple[str, int]]:
    """Return every pattern of the package, with its flags."""
    found: set[tuple[str, int]] = set()
    for info in pkgutil.walk_packages(engramdown.__path__, "engramdown."):
        if info.name.endswith("__main__"):
            continue
        module = importlib.import_module(info.name)
        for name, value in vars(module).items():
            found.update(() if name.startswith("__") else _in_value(value, 3))
        source = Path(str(module.__file__)).read_text(encoding="utf-8")
        found.update(_in_calls(ast.parse(source)))
    return frozenset(found)


def _in_value(value: object, depth: int) -> Iterator[tuple[str, int]]:
    if isinstance(value, re.Pattern):
        text = value.pattern
        yield text if isinstance(text, str) else text.decode("latin-1"), value.flags & ~re.UNICODE
    elif isinstance(value, str | bytes):
        yield from _as_pattern(value)
    elif depth and isinstance(value, Mapping):
        for part in value.values():
            yield from _in_value(part, depth - 1)
    elif depth and isinstance(value, tuple | list | frozenset):
        for part in value:
            yield from _in_value(part, depth - 1)
    elif depth and type(value).__module__.startswith("engramdown."):
        for part in getattr(value, "__dict__", {}).values():
            yield from _in_value(part, depth - 1)


def _in_calls(tree: ast.AST) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            for part in node.args:
                if isinstance(part, ast.Constant) and isinstance(part.value, str | bytes):
                    yield from _as_pattern(part.value)


def _as_pattern(value: str | bytes) -> Iterator[tuple[str, int]]:
    text = value if isinstance(value, str) else value.decode("latin-1")
    if _MARKS.isdisjoint(text):
        return
    try:
        re.compile(text)
    except (re.error, OverflowError):
        return
    yield text, 0


def pumps_of(pattern: str, flags: int = 0) -> Iterator[Pump]:
    """Yield the pumps of one pattern."""
    yield from _walk(_parser.parse(pattern, flags), "", "")


def _walk(items: Iterable[tuple[Any, Any]], before: str, after: str) -> Iterator[Pump]:
    row = [(str(name), value) for name, value in items]
    said = [_step(*each) for each in row]
    for at, (name, value) in enumerate(row):
        repeated, inside = list(_repeats(name, value)), list(_inside(name, value))
        if not repeated and not inside:
            continue
        lead, rest = before + "".join(said[:at]), "".join(said[at + 1 :]) + after
        for least, most, inner in repeated:
            piece = _said(inner)
            if most > _MANY and piece:
                yield Pump(lead, piece, rest)
            yield from _walk(inner, lead, piece * max(least - 1, 0) + rest)
        for inner in inside:
            yield from _walk(inner, lead, rest)


def _repeats(name: str, value: Any) -> Iterator[tuple[int, int, Any]]:  # noqa: ANN401 - of re's parser
    if name in {"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"}:
        yield int(value[0]), int(value[1]), value[2]


def _inside(name: str, value: Any) -> Iterator[Any]:  # noqa: ANN401 - of re's parser
    if name == "BRANCH":
        yield from value[1]
    elif name == "SUBPATTERN":
        yield value[-1]
    elif name == "ATOMIC_GROUP":
        yield value
    elif name in {"ASSERT", "ASSERT_NOT"}:
        yield value[1]


def _said(items: Iterable[tuple[Any, Any]]) -> str:
    """Return a text that fits a part of a pattern, as far as each step of it says one."""
    return "".join(_step(str(name), value) for name, value in items)


def _step(name: str, value: Any) -> str:  # noqa: ANN401 - of re's parser
    if name == "LITERAL":
        return chr(value)
    if name in {"ANY", "NOT_LITERAL"}:
        return next(char for char in "ab" if ord(char) != value)
    if name == "IN":
        return _member(value)
    for least, _most, inner in _repeats(name, value):
        return _said(inner) * least
    if name.startswith("ASSERT"):
        return ""
    return next((_said(inner) for inner in _inside(name, value)), "")


def _member(items: list[tuple[Any, Any]]) -> str:
    """Return a character of a class, one that means something if it can be."""
    names = [(str(name), value) for name, value in items]
    excluded = names[0][0] == "NEGATE"
    fits = [char for char in _CANDIDATES if any(_holds(*each, char) for each in names) != excluded]
    first = names[0][1]
    return fits[0] if fits else chr(first[0] if isinstance(first, tuple) else first)


def _holds(name: str, value: Any, char: str) -> bool:  # noqa: ANN401 - of re's parser
    if name == "LITERAL":
        return ord(char) == int(value)
    if name == "RANGE":
        return int(value[0]) <= ord(char) <= int(value[1])
    return name == "CATEGORY" and _CATEGORIES[str(value)].match(char) is not None
