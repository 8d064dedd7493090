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
