"""A value of any JSON as a memory: the words that a person reads, and the rest beside them.

Promises: pure; ``joined(*split(value)) == value`` for every JSON object; who changes the words by
hand changes that part of the value and no other.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from engramdown.errors import InvalidEngramError

__all__ = ["LONGEST", "Parts", "fits", "joined", "same", "split"]

LONGEST: Final = 100_000
"""Characters of a value as JSON at most."""

_WHOLE: Final = "$"
# Where frameworks keep the words: LangGraph's examples, LangMem, and whoever follows them.
_FIELDS: Final = ("text", "content", "memory", "data", "fact", "page_content", "summary")
_DEEPEST: Final = 3
_MOST_LEVELS: Final = 100
_OPERATORS: Final = frozenset({"$eq", "$ne", "$gt", "$gte", "$lt", "$lte"})

Value = dict[str, Any]


class Parts(NamedTuple):
    """A value in parts.

    Attributes:
        text: The words of the memory.
        field: Where in the value they stand: ``content.content``; ``$`` if they are all of it.
        rest: The value without them, as JSON, or ``""``.
    """

    text: str
    field: str
    rest: str = ""


def split(value: object) -> Parts:
    """Return a value in parts.

    Raises:
        InvalidEngramError: If it is no JSON object, or too long.

    >>> split({"kind": "Memory", "content": {"content": "Likes tea"}})
    Parts(text='Likes tea', field='content.content', rest='{"kind":"Memory","content":{}}')
    >>> split({"theme": "dark"})
    Parts(text='{"theme": "dark"}', field='$', rest='')
    """
    whole = _checked(value)
    path = _words_in(whole)
    if path is None:
        return Parts(json.dumps(whole, ensure_ascii=False), _WHOLE)
    inner = whole
    for name in path[:-1]:
        inner = inner[name]
    text = inner.pop(path[-1])
    rest = _compact(whole) if whole else ""
    return Parts(text, ".".join(path), rest)


def joined(parts: Parts) -> Value:
    """Return the value of some parts, whatever a person made of them.

    >>> joined(Parts("Likes coffee", "content.content", '{"kind":"Memory","content":{}}'))
    {'kind': 'Memory', 'content': {'content': 'Likes coffee'}}
    """
    if parts.field == _WHOLE:
        found = _object(parts.text)
        return {"text": parts.text} if found is None else found
    whole = _object(parts.rest) or {}
    inner = whole
    *outer, last = (parts.field or _FIELDS[0]).split(".", _MOST_LEVELS)
    for name in outer:
        if not isinstance(inner.get(name), dict):
            inner[name] = {}
        inner = inner[name]
    inner[last] = parts.text
    return whole


def same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two values are the same JSON: ``True`` is not ``1`` there.

    >>> same({"a": (1, 2), "b": 3}, {"b": 3, "a": [1, 2]}), same({"a": 1}, {"a": True})
    (True, False)
    """
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def fits(value: Mapping[str, Any], wanted: Mapping[str, Any] | None) -> bool:
    """Whether a value is as a filter says: equal, or by ``$eq $ne $gt $gte $lt $lte``.

    Raises:
        ValueError: If there is no such operator.
    """
    return all(_agrees(value.get(key), each) for key, each in (wanted or {}).items())


def _agrees(value: Any, wanted: Any) -> bool:  # noqa: ANN401 - JSON
    if isinstance(wanted, Mapping):
        if any(str(key).startswith("$") for key in wanted):
            return all(_holds(value, operator, other) for operator, other in wanted.items())
        return isinstance(value, Mapping) and fits(value, wanted)
    if isinstance(wanted, (list, tuple)):
        same = isinstance(value, (list, tuple)) and len(value) == len(wanted)
        return same and all(map(_agrees, value, wanted))
    return bool(value == wanted)


def _holds(value: Any, operator: str, other: Any) -> bool:  # noqa: ANN401 - JSON
    if operator not in _OPERATORS:
        known = ", ".join(sorted(_OPERATORS))
        raise ValueError(f"Unsupported operator: {operator}; there are {known}")
    if operator in ("$eq", "$ne"):
        return bool(value == other) is (operator == "$eq")
    try:
        one, two = float(value), float(other)
    except (TypeError, ValueError):
        return False  # What is no number is neither more nor less.
    if operator in ("$gt", "$gte"):
        return one > two or (operator == "$gte" and one == two)
    return one < two or (operator == "$lte" and one == two)


def _checked(value: object) -> Value:
    """Return a value as it comes back from JSON."""
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise InvalidEngramError("value", f"{value!r:.80} is no object; give a dict with names")
    try:
        text = _compact(value)
        text.encode()
        found: Value = json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidEngramError("value", f"cannot be kept as JSON: {error}") from None
    if len(text) > LONGEST:
        raise InvalidEngramError.too_long("value", text, f"{LONGEST:,} characters")
    if _is_deep(found):
        raise InvalidEngramError(
            "value", f"has more than {_MOST_LEVELS} levels; give a flatter one"
        )
    return found


def _is_deep(value: Value) -> bool:
    """Whether a value has more levels than everybody who gets it can go down."""
    level: list[Any] = [value]
    for _ in range(_MOST_LEVELS):
        level = [inner for each in level for inner in _inside(each)]
        if not level:
            return False
    return True


def _inside(value: Any) -> Iterable[Any]:  # noqa: ANN401 - JSON
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _words_in(value: Value, depth: int = 1) -> tuple[str, ...] | None:
    """Return where the words of a value stand, the shallowest first."""
    for name in _FIELDS:
        if isinstance(value.get(name), str) and value[name].strip():
            return (name,)
    for name in _FIELDS if depth < _DEEPEST else ():
        inner = value.get(name)
        found = _words_in(inner, depth + 1) if isinstance(inner, dict) else None
        if found is not None:
            return (name, *found)
    return None


def _object(text: str) -> Value | None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and not _is_deep(found) else None


def _compact(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
