"""What a model asks for: one of six commands, with what each needs.

Promises: pure; anything may come in; what is wrong is told in one sentence that names the argument,
and what is not asked for is not looked at.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from engramdown.errors import MemoryCommandError

__all__ = ["COMMANDS", "LONGEST", "Command", "command_from"]

_NEEDED: Final[Mapping[str, Mapping[str, type]]] = {
    "view": {"path": str},
    "create": {"path": str, "file_text": str},
    "str_replace": {"path": str, "old_str": str, "new_str": str},
    "insert": {"path": str, "insert_line": int, "insert_text": str},
    "delete": {"path": str},
    "rename": {"old_path": str, "new_path": str},
}
COMMANDS: Final = tuple(_NEEDED)
"""The names of the commands."""
LONGEST: Final = 100_000
"""Characters of a text at most."""

_NAMES: Final = {str: "a string", int: "a whole number"}
_RANGE: Final = 2
_MOST_LINES: Final = 1_000_000_000


class Command(NamedTuple):
    """A command; what it does not need is empty.

    Attributes:
        command: Its name.
        path: What it is about; of ``rename`` the old path.
        new_path: Of ``rename``.
        old: The text to replace.
        new: The text to put there: of ``create`` the whole, of ``insert`` what is inserted.
        line: Behind which line to insert, from 0.
        view_range: The first and the last line to see, the last -1 for all; or ``None``.
    """

    command: str
    path: str = ""
    new_path: str = ""
    old: str = ""
    new: str = ""
    line: int = 0
    view_range: tuple[int, int] | None = None


def command_from(arguments: object) -> Command:
    """Read what a model passed: an object, or a string with one in JSON.

    Raises:
        MemoryCommandError: If it is no command.

    >>> command_from({"command": "view", "path": "/memories"}).path
    '/memories'
    """
    given = _object(arguments)
    name = given.get("command")
    if not isinstance(name, str) or name not in _NEEDED:
        raise MemoryCommandError(
            f"Unknown command: {_shown(name)}. There are {', '.join(COMMANDS)}."
        )
    values: dict[str, Any] = {}
    for key, wanted in _NEEDED[name].items():
        # Some models leave the text out that puts nothing in the place of another one.
        value = given.get(key, "" if key == "new_str" else None)
        if not isinstance(value, wanted) or isinstance(value, bool):
            told = "is missing" if value is None else f"is {_shown(value)}"
            raise MemoryCommandError(f"`{key}` of {name} {told}; it must be {_NAMES[wanted]}.")
        values[key] = _checked(key, value)
    return Command(
        name,
        path=values.get("path") or values.get("old_path", ""),
        new_path=values.get("new_path", ""),
        old=values.get("old_str", ""),
        new=next(
            (values[key] for key in ("file_text", "new_str", "insert_text") if key in values), ""
        ),
        line=values.get("insert_line", 0),
        view_range=_range(given.get("view_range")) if name == "view" else None,
    )


def _object(arguments: object) -> Mapping[str, object]:
    found = arguments
    if isinstance(arguments, str):
        try:
            found = json.loads(arguments)
        except (ValueError, RecursionError):
            found = None
    if not isinstance(found, Mapping):
        raise MemoryCommandError(
            f"The arguments are {_shown(arguments)}; give an object with `command` and `path`."
        )
    return found


def _checked(key: str, value: Any) -> Any:  # noqa: ANN401 - a string or a number
    """Return a value that can be kept.

    Raises:
        MemoryCommandError: If it is too long, no text that a file can hold, or no line of one.
    """
    if isinstance(value, int) and abs(value) > _MOST_LINES:
        # Python refuses to write a number of thousands of digits.
        raise MemoryCommandError(f"Invalid `{key}` parameter: no file has so many lines.")
    if isinstance(value, str):
        if len(value) > LONGEST:
            raise MemoryCommandError(
                f"`{key}` has {len(value):,} characters, {LONGEST:,} are allowed. Write less."
            )
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise MemoryCommandError(
                f"`{key}` holds half of a surrogate pair at character {error.start}; give whole "
                f"characters."
            ) from None
    return value


def _range(value: object) -> tuple[int, int] | None:
    if value is None or value == []:
        return None
    if (
        not isinstance(value, (list, tuple))
        or len(value) != _RANGE
        or any(not isinstance(each, int) or isinstance(each, bool) for each in value)
        or max(map(abs, value)) > _MOST_LINES
    ):
        raise MemoryCommandError(
            f"Invalid `view_range`: {_shown(value)}. It must be two line numbers, such as [1, 20]; "
            f"-1 as the second one is the last line."
        )
    return value[0], value[1]


def _shown(value: object) -> str:
    try:
        text = json.dumps(value, default=repr)
    except (TypeError, ValueError, RecursionError):
        # It runs in a circle, is too deep, or a number of too many digits.
        text = f"a {type(value).__name__} that cannot be shown"
    return text if len(text) <= 60 else f"{text[:60]}…"  # noqa: PLR2004 - enough to know it by
