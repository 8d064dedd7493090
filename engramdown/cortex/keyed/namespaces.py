"""Namespaces, and where in memory what is put into one stands.

Promises: pure; two namespaces never share a topic; ``project`` and ``global`` lead to the memories
that are there anyway; no namespace is a path.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Literal, NamedTuple

from engramdown.engram import SCOPES, Scope, slug
from engramdown.errors import InvalidEngramError
from engramdown.hippocampus.entry import Entry
from engramdown.hippocampus.filing import LESSONS, PROFILE, RULES, address, topic_file

__all__ = ["Home", "Namespace", "home_of", "matches", "named", "native", "written"]

Namespace = tuple[str, ...]
"""Labels from the outermost to the innermost one."""

_TOPICS: Final = "topics"
_FILES: Final = {"rules": RULES, "lessons": LESSONS, "profile": PROFILE}
_MOST_OF_NAME: Final = 60
_MOST_BYTES: Final = 100
_ANY: Final = "*"


class Home(NamedTuple):
    """Where the values of a namespace stand.

    Attributes:
        scope: The scope.
        file: The memory file.
        topic: Its topic, or ``""``.
        native: Whether the other memories of that file belong to the namespace, too.
    """

    scope: Scope
    file: str
    topic: str = ""
    native: bool = False


def home_of(namespace: Namespace, scope: Scope) -> Home:
    """Return where the values of a namespace stand.

    Args:
        namespace: The namespace.
        scope: The scope of namespaces that name none.

    >>> home_of(("project", "rules"), "project").file
    'rules.md'
    >>> home_of(("recipes",), "project").file
    'topics/recipes.md'
    """
    first, *rest = namespace or ("",)
    known = next((each for each in SCOPES if each == first), None)
    if known and rest == ["profile"] and known == "project":
        known = None  # Facts about the user are global; this is a namespace like any other.
    if known and len(rest) == 1 and rest[0] in _FILES:
        return Home(known, _FILES[rest[0]], native=True)
    if known and len(rest) == len((_TOPICS, "slug")) and rest[0] == _TOPICS and _is_slug(rest[1]):
        return Home(known, topic_file(rest[1]), rest[1], native=True)
    topic = _topic(namespace)
    return Home(known or scope, topic_file(topic), topic)


def native(entry: Entry) -> Namespace:
    """Return the namespace of a memory that was not put into one."""
    if entry.file.startswith(f"{_TOPICS}/"):
        return (entry.scope, _TOPICS, entry.file.removeprefix("topics/").removesuffix(".md"))
    return (entry.scope, entry.file.removesuffix(".md"))


def written(namespace: Namespace) -> str:
    """Return a namespace as it stands in metadata; no label has a dot."""
    return ".".join(namespace)


def named(text: str) -> Namespace:
    """Return what was written."""
    return tuple(text.split(".")) if text else ()


def matches(
    namespace: Namespace, conditions: Iterable[tuple[Literal["prefix", "suffix"], Sequence[str]]]
) -> bool:
    """Whether a namespace begins or ends as every condition says; ``*`` is any label.

    Raises:
        ValueError: If a condition says neither.
    """
    return all(_matches(namespace, how, path) for how, path in conditions)


def _matches(namespace: Namespace, how: str, path: Sequence[str]) -> bool:
    if how not in ("prefix", "suffix"):
        raise ValueError(f"Unsupported match type: {how!r:.80}; there are prefix, suffix")
    labels = namespace[: len(path)] if how == "prefix" else namespace[len(namespace) - len(path) :]
    short = len(namespace) < len(path)
    return not short and all(p in (_ANY, label) for p, label in zip(path, labels, strict=True))


def _is_slug(label: str) -> bool:
    try:
        return slug(label) == label
    except InvalidEngramError:
        return False


def _topic(namespace: Namespace) -> str:
    """Return the topic of a namespace: its name, and a digest where another one has that name."""
    name = "-".join(namespace)
    if len(namespace) == 1 and _is_slug(name):
        return name
    try:
        # To fold a letter may make two of it.
        readable = _cut(slug(_cut(name[:_MOST_OF_NAME]))).rstrip("-")
    except InvalidEngramError:
        readable = "store"
    return f"{readable}-{address(_unfolded(namespace))[1:]}"


def _cut(name: str) -> str:
    """Return as many whole characters as leave room for the digest."""
    return name.encode("utf-8", "surrogatepass")[:_MOST_BYTES].decode("utf-8", "ignore")


def _unfolded(namespace: Namespace) -> str:
    """Return a text that differs, by its fold too, from that of every other namespace."""
    return written(namespace).encode("utf-8", "surrogatepass").hex()
