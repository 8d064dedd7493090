"""What the metadata of a line says of a value under a key.

Promises: pure; a proposal of a value carries the same marks as the memory that it becomes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from engramdown.hippocampus.filing import address

__all__ = [
    "DUPLICATE",
    "FIELD",
    "HIDDEN",
    "KEY",
    "MADE",
    "NAMESPACE",
    "REST",
    "WHEN",
    "digest_of",
    "key_of",
    "proposed",
    "told_beside",
]

NAMESPACE: Final = "ns"
KEY: Final = "key"
FIELD: Final = "field"
REST: Final = "rest"
MADE: Final = "made"
WHEN: Final = "when"
HIDDEN: Final = "hidden"
DUPLICATE: Final = "duplicate"
"""Why tidying archived a value: another one has the same words. Under its key it stands."""

_MOST_TOLD: Final = 400
_PROPOSED: Final = (NAMESPACE, KEY, FIELD, REST, HIDDEN)


def proposed(values: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Return the marks of a proposal, or none if it is not of a value under a key.

    >>> proposed({"id": "k3v9q2ht", "key": "food", "ns": "users"})
    (('ns', 'users'), ('key', 'food'))
    """
    if not values.get(KEY):
        return ()
    return tuple((name, values[name]) for name in _PROPOSED if values.get(name))


def key_of(marks: Sequence[tuple[str, str]]) -> tuple[str, str]:
    """Return the namespace and the key that marks name."""
    told = dict(marks)
    return told.get(NAMESPACE, ""), told.get(KEY, "")


def digest_of(text: str) -> str:
    """Return by what is known whether somebody changed a text, if only in case or spaces."""
    return address(text.encode("utf-8", "surrogatepass").hex())[1:]


def told_beside(marks: Sequence[tuple[str, str]]) -> str:
    """Return what a person is told who decides on a value: its key, and what is not in its words.

    >>> told_beside((("ns", "users.42"), ("key", "food"), ("rest", "{}")))
    "a program keeps it as users/42 'food', with {}"
    """
    if not marks:
        return ""
    place, key = key_of(marks)
    told = f"a program keeps it as {place.replace('.', '/')} {key!r:.80}"
    rest = dict(marks).get(REST, "")
    if len(rest) > _MOST_TOLD:
        rest = f"{rest[:_MOST_TOLD]}… ({len(rest):,} characters)"
    return f"{told}, with {rest}" if rest else told
