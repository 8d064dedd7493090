"""What a path of a model names: ``/memories/rules.md`` is the rules, and nothing else is anything.

Promises: pure; a path is a name in a closed list, never a piece of a file name: what climbs, is
encoded, hidden, absolute elsewhere or spelled otherwise is refused, with the path to use instead.
"""

from __future__ import annotations

import re
from typing import Final, Literal, NamedTuple

from engramdown.engram import Scope, slug
from engramdown.episodes.ids import is_session_id
from engramdown.errors import InvalidEngramError, MemoryCommandError
from engramdown.hippocampus.filing import ARCHIVE, LESSONS, PENDING, PROFILE, RULES, is_name
from engramdown.hippocampus.spelling import SOUL, meant

__all__ = ["NOTES", "ROOT", "TOPICS", "Place", "Sort", "hint", "place_of"]

ROOT: Final = "/memories"
"""The folder that a model sees."""
TOPICS: Final = "topics"
"""The folder of lessons by topic."""
NOTES: Final = "notes"
"""The folder of free notes."""

Sort = Literal["root", "folder", "memory", "page", "queue", "note"]

_SORTS: Final[dict[str, Sort]] = {
    RULES: "memory",
    LESSONS: "memory",
    PROFILE: "memory",
    SOUL: "page",
    PENDING: "queue",
}
_ENCODED: Final = re.compile(r"%[0-9A-Fa-f]{2}")
_SUFFIX: Final = re.compile(r"(?<=[^.])\.[A-Za-z]{1,5}\Z")
_LONGEST: Final = 300
_SHOWN: Final = 80


class Place(NamedTuple):
    """What a path names.

    Attributes:
        path: The path in the one way to write it.
        sort: ``root``; ``folder``, of topics or notes; ``memory``, a file of memories; ``page``,
            one that only a person writes; ``queue``, what waits for a person; ``note``, free text.
        scope: The scope it belongs to; for the root of both the project's.
        name: The name of the memory file, of the folder, or of the note; ``""`` for a root.
    """

    path: str
    sort: Sort
    scope: Scope
    name: str = ""


def place_of(path: object, scopes: tuple[Scope, ...]) -> Place:
    """Return what ``path`` names.

    Args:
        path: What the model passed.
        scopes: The scopes that can be reached; where it is one, its folder is the root, else each
            has a folder of its name.

    Raises:
        MemoryCommandError: If it names nothing, with a sentence for the model.

    >>> place_of("/memories/topics/ci.md", ("project",)).name
    'topics/ci.md'
    """
    parts = _parts(path)
    if not parts:
        return Place(ROOT, "root", scopes[-1])
    scope, base = scopes[0], ROOT
    if len(scopes) > 1:
        first = parts.pop(0)
        found = next((each for each in scopes if each == first), None)
        if found is None:
            raise MemoryCommandError(
                f"The path {_shown(path)} does not exist. There are "
                f"{' and '.join(f'{ROOT}/{each}' for each in scopes)}: put one of them first."
            )
        scope, base = found, f"{ROOT}/{found}"
        if not parts:
            return Place(base, "root", scope)
    return _named(parts, scope, base)


def _parts(path: object) -> list[str]:
    """Return the names behind the root.

    Raises:
        MemoryCommandError: If there is anything in the path that no name has.
    """
    if not isinstance(path, str):
        raise MemoryCommandError(
            f"The path is {_shown(path)}; give a string such as {ROOT}/rules.md"
        )
    if not path.isprintable() or len(path) > _LONGEST:
        raise MemoryCommandError(
            f"The path {_shown(path)} holds control characters or is longer than {_LONGEST} "
            f"characters. Use plain names."
        )
    if path != ROOT and not path.startswith(f"{ROOT}/"):
        raise MemoryCommandError(f"Path must start with {ROOT}, got: {_shown(path)}")
    parts = path[len(ROOT) :].removeprefix("/").removesuffix("/").split("/")
    if parts == [""]:
        return []
    climbs = any(part in ("", ".", "..") for part in parts)
    if climbs or "\\" in path or _ENCODED.search(path):
        raise MemoryCommandError(
            f"Path {_shown(path)} would escape {ROOT} directory. Write the path plainly, without "
            f"`..`, `\\`, `//` or `%` codes."
        )
    if any(part.startswith(".") for part in parts):
        raise MemoryCommandError(
            f"The path {_shown(path)} does not exist: no name begins with a dot."
        )
    return parts


def _named(parts: list[str], scope: Scope, base: str) -> Place:
    name = "/".join(parts)
    path = f"{base}/{name}"
    if name in (TOPICS, NOTES):
        return Place(path, "folder", scope, name)
    if name == ARCHIVE:
        raise MemoryCommandError(
            f"{path} holds what was forgotten; it is not shown and not changed."
        )
    if name == PROFILE and scope == "project":
        raise MemoryCommandError(
            f"{path} does not exist: facts about the user hold for all projects, and stand in the "
            f"global memory."
        )
    if name in _SORTS:
        return Place(path, _SORTS[name], scope, name)
    if parts[0] == TOPICS and is_name(name):
        return Place(path, "memory", scope, name)
    if parts[0] == NOTES and _is_note(parts):
        return Place(path, "note", scope, parts[1].removesuffix(".md"))
    raise MemoryCommandError(f"The path {path} does not exist, and cannot. {_instead(parts, base)}")


def _is_note(parts: list[str]) -> bool:
    file = parts[-1]
    return len(parts) == len((NOTES, file)) and file.endswith(".md") and is_session_id(file[:-3])


def _instead(parts: list[str], base: str) -> str:
    """Say which path to use for what somebody tried to call ``parts``."""
    known = meant(parts[0].lower())
    if len(parts) == 1 and known in _SORTS:
        return f"It is called {base}/{known}."
    stem = _SUFFIX.sub("", parts[-1])
    try:
        name = slug(stem)
    except InvalidEngramError:
        name = "name"
    note = name if is_session_id(name) else "name"
    return hint(base, name, note)


def hint(base: str, name: str = "name", note: str = "name") -> str:
    """Return a sentence about what belongs where.

    Args:
        base: The folder of a scope.
        name: Of a topic.
        note: Of notes.
    """
    return (
        f"Rules go into {base}/{RULES} under `## Always`, `## Never` or `## When`, lessons into "
        f"{base}/{LESSONS} or {base}/{TOPICS}/{name}.md, free notes into {base}/{NOTES}/{note}.md."
    )


def _shown(value: object) -> str:
    """Return a value for a sentence: printable, and not endless."""
    text = value if isinstance(value, str) else repr(value)
    text = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
