"""What a model gives a tool, held against the schema that it was shown.

Promises: pure; anything may come in: what is wrong is told in sentences that a model can act on,
never as an exception. ``null`` counts as left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from math import isfinite
from typing import Any, Final

__all__ = ["Schema", "read_arguments"]

Schema = Mapping[str, Any]
"""A JSON schema of type ``object``, whose properties are strings, integers and numbers."""

_NAMES: Final = {"string": "a string", "integer": "a whole number", "number": "a number"}
_SHOWN: Final = 60


def read_arguments(arguments: object, schema: Schema) -> tuple[dict[str, Any], list[str]]:
    """Return what was given, and what is wrong with it.

    Args:
        arguments: An object, or a string with one in JSON, as some models send it.
        schema: What it must be like.

    >>> schema = {"properties": {"limit": {"type": "integer", "minimum": 1}}}
    >>> read_arguments('{"limit": 5}', schema)
    ({'limit': 5}, [])
    >>> read_arguments({"limit": -1}, schema)
    ({'limit': -1}, ['"limit" is -1; it must be a whole number, at least 1'])
    """
    found = _parsed(arguments) if isinstance(arguments, str) else arguments
    if found is None:
        found = {}
    if not isinstance(found, Mapping):
        return {}, [f"the arguments are {_shown(arguments)}; give a JSON object"]
    given = {str(key): value for key, value in found.items() if value is not None}
    return given, list(_complaints(given, schema))


def _parsed(text: str) -> object:
    try:
        return json.loads(text or "{}")
    except (ValueError, RecursionError):
        return text


def _complaints(given: Mapping[str, object], schema: Schema) -> Iterator[str]:
    properties: Mapping[str, Schema] = schema["properties"]
    for name in schema.get("required", ()):
        if name not in given:
            yield f'"{name}" is missing'
    for name, value in given.items():
        if name not in properties:
            yield f"{_shown(name)} is no argument; there are {', '.join(properties)}"
        elif not _fits(value, properties[name]):
            yield f'"{name}" is {_shown(value)}; it must be {_wanted(properties[name])}'


def _fits(value: object, wanted: Schema) -> bool:
    if wanted["type"] == "string":
        return isinstance(value, str) and value in wanted.get("enum", (value,))
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    if isinstance(value, float) and not isfinite(value):
        return False
    if wanted["type"] == "integer" and not isinstance(value, int):
        return False
    return bool(wanted.get("minimum", value) <= value <= wanted.get("maximum", value))


def _wanted(wanted: Schema) -> str:
    """Say what a property must be."""
    if "enum" in wanted:
        return "one of " + ", ".join(wanted["enum"])
    limits = [
        f"{word} {wanted[key]}"
        for key, word in (("minimum", "at least"), ("maximum", "at most"))
        if key in wanted
    ]
    return ", ".join([_NAMES[wanted["type"]], *limits])


def _shown(value: object) -> str:
    text = json.dumps(value, default=repr)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
