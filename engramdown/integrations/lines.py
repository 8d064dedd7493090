"""What another library keeps, as a line of a transcript, and back.

Promises: pure; what comes back equals what was given, as JSON sees it, but for the secrets that are
hidden, and for what stands deeper than anybody goes down; a text that the line shows stands there
once, not a second time beside it. Ids, and what only a provider can read, are never taken for
secrets.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

__all__ = [
    "JSON",
    "LEFT_OUT",
    "LEVELS",
    "Entry",
    "Line",
    "as_json",
    "as_line",
    "as_value",
    "copies",
    "cut_off",
    "lift",
    "readable",
    "without_secrets",
]

LEVELS: Final = 150
"""How deep a value is kept: readers of JSON give up from 200 on, each at another number."""
LEFT_OUT: Final = f"[left out: it stands more than {LEVELS} levels deep]"
"""What comes back in the place of what is deeper."""

# What is deeper, or has more parts, is kept as a text: a transcript ends at so many levels.
_MOST_PARTS: Final = 60
_OPAQUE: Final = frozenset(
    {
        "id",
        "approval_request_id",
        "call_id",
        "conversation_id",
        "encrypted_content",
        "file_id",
        "kind",
        "name",
        "namespace",
        "part_kind",
        "previous_response_id",
        "provider_response_id",
        "role",
        "run_id",
        "server_label",
        "signature",
        "status",
        "timestamp",
        "tool_call_id",
        "tool_name",
        "type",
    }
)

JSON = Any
"""A value as JSON has it."""

Place = tuple[str | int, ...]
"""The keys and numbers that lead to a text in a value; none lead to the whole."""


class Line(NamedTuple):
    """A line of a transcript that stands for a value.

    Attributes:
        role: See :class:`engramdown.episodes.episode.Episode`, as for the name and the call.
        text: What it shows.
        rest: The value, without the text if that is lifted out of it.
        place: Where in the value the text stands, or ``None`` if nothing was lifted.
        is_json: Whether what stands there is the text read as JSON.
        name: The tool.
        call: What a call and its result have in common.
        error: Whether it failed.
    """

    role: str
    text: str
    rest: Any = None
    place: Place | None = None
    is_json: bool = False
    name: str = ""
    call: str = ""
    error: bool = False


class Entry(NamedTuple):
    """A value that a session keeps.

    Attributes:
        value: The value, not to be changed.
        call: What a call and its result have in common, or ``""``.
        is_gone: Whether a person took it back: it is told so that what needs it goes, too.
        seq: The number of its line, or -1 if it waits to be written.
        json: The value as JSON.
    """

    value: JSON
    call: str = ""
    is_gone: bool = False
    seq: int = -1
    json: str = "null"


def copies(entries: Iterable[Entry]) -> list[Any]:
    """Return the values of entries, to be changed at will."""
    found: list[Any] = json.loads(f"[{','.join(entry.json for entry in entries)}]")
    return found


def as_json(value: object, other: Callable[[Any], str] | None = None) -> JSON:
    """Return a copy of a value as JSON has it, to :data:`LEVELS` levels.

    Args:
        value: The value.
        other: Returns a text for what JSON has no word for.

    Raises:
        TypeError: If it cannot be said as JSON.
        ValueError: If it runs in a circle.

    >>> as_json({1: ("a",)})
    {'1': ['a']}
    """
    try:
        text = json.dumps(value, default=other)
        if text.count("[") + text.count("{") <= LEVELS:
            return json.loads(text)
    except RecursionError:
        pass  # It is deeper than Python goes; that is cut off.
    return json.loads(json.dumps(cut_off(value), default=other))


def cut_off(value: object) -> Any:  # noqa: ANN401 - JSON, if the value is
    """Return a copy of a value to :data:`LEVELS` levels; never goes down itself."""
    found: list[Any] = [value]
    level: list[tuple[Any, Any]] = [(found, 0)]
    for _ in range(LEVELS):
        level = [each for holder, key in level for each in _opened(holder, key)]
    for holder, key in level:
        if isinstance(holder[key], (dict, list, tuple)):
            holder[key] = LEFT_OUT
    return found[0]


def _opened(holder: Any, key: object) -> Iterator[tuple[Any, Any]]:  # noqa: ANN401 - JSON
    """Put a copy at ``key`` of ``holder``, and yield where in it something stands."""
    inner = holder[key]
    if isinstance(inner, dict):
        holder[key] = named = dict(inner)
        yield from ((named, name) for name in inner)
    elif isinstance(inner, (list, tuple)):
        holder[key] = row = list(inner)
        yield from ((row, at) for at in range(len(inner)))


def lift(value: JSON, place: Place) -> tuple[Any, Any]:
    """Return what stands at ``place``, and the value without it.

    >>> lift({"content": [{"text": "Hello"}]}, ("content", 0, "text"))
    ('Hello', {'content': [{'text': None}]})
    """
    if not place:
        return value, None
    key, *deeper = place
    found, rest = lift(value[key], tuple(deeper))
    return found, _with(value, key, rest)


def readable(value: object) -> str:
    """Return a value as JSON that a person can read."""
    return json.dumps(value, ensure_ascii=False)


def as_line(line: Line, hide: Callable[[str], str]) -> dict[str, Any]:
    """Return what is kept beside the text of a line.

    Args:
        line: The line.
        hide: Returns a text without its secrets.
    """
    rest = without_secrets(line.rest, hide)
    made: dict[str, Any] = {}
    if rest is not None or line.place is None:
        text = json.dumps(rest)
        is_plain = text.count("[") + text.count("{") <= _MOST_PARTS and _is_json(text)
        made |= {"item": rest} if is_plain else {"json": text}
    if line.place is not None:
        made["text"] = list(line.place)
    if line.is_json:
        made["read"] = "json"
    return made


def as_value(kept: Mapping[str, Any], text: str, *, is_whole: bool = True) -> JSON:
    """Return the value of which ``kept`` is what :func:`as_line` returned.

    Args:
        kept: What is kept beside the text; bad JSON in it raises ``ValueError``.
        text: The whole text of the line.
        is_whole: Whether it is; what takes JSON gets an object with its beginning otherwise.
    """
    rest = _loaded(kept["json"]) if "json" in kept else kept.get("item")
    place = kept.get("text")
    if not isinstance(place, list):
        return rest
    found: Any = text
    if kept.get("read") == "json":
        found = _read(text)
    elif not is_whole and place[-1:] in (["arguments"], ["args"]):
        found = readable({"beginning": text})
    return _put(rest, place, found)


def without_secrets(value: JSON, hide: Callable[[str], str], key: object = "") -> JSON:
    """Return a value in which ``hide`` went over the texts, but for ids and encrypted ones.

    >>> without_secrets({"id": "a", "text": "a"}, str.upper)
    {'id': 'a', 'text': 'A'}
    """
    if isinstance(value, str):
        return value if key in _OPAQUE or value.startswith("data:") else hide(value)
    if isinstance(value, list):
        return [without_secrets(each, hide, key) for each in value]
    if isinstance(value, dict):
        return {name: without_secrets(each, hide, name) for name, each in value.items()}
    return value


def _with(value: JSON, key: JSON, new: object) -> JSON:
    """Return a copy of an object or a list with something else at ``key``."""
    if isinstance(value, list):
        return [*value[:key], new, *value[key + 1 :]]
    return {**value, key: new}


def _put(value: JSON, place: Sequence[Any], new: object) -> JSON:
    """Return ``value`` with ``new`` at ``place``; what leads nowhere raises ``ValueError``."""
    if not place:
        return new
    key, *deeper = place
    try:
        return _with(value, key, _put(value[key], deeper, new))
    except (TypeError, LookupError) as error:
        msg = f"nothing stands at {key!r}"
        raise ValueError(msg) from error


def _is_json(text: str) -> bool:
    """Whether a text of :func:`json.dumps` is JSON for everybody: ``NaN`` is not."""

    def refuse(constant: str) -> None:
        raise ValueError(constant)

    try:
        json.loads(text, parse_constant=refuse)
    except ValueError:
        return False
    return True


def _read(text: str) -> JSON:
    """Read JSON; what is none any more, because something was hidden in it, stays a text."""
    try:
        return _loaded(text)
    except ValueError:
        return text


def _loaded(text: Any) -> JSON:  # noqa: ANN401 - whoever edits a file puts anything there
    """Read JSON; what nobody can read raises ``ValueError``."""
    try:
        return json.loads(text)
    except (TypeError, RecursionError) as error:
        raise ValueError(str(error)) from error
