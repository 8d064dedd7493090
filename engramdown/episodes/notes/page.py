r"""The page of notes on a session, and what is kept of its earlier versions.

Promises: pure; what is read equals what was written; another text changes the value of ``updated``
and the text, and leaves the rest of the front matter as it is; any bytes may be read, and a version
that cannot be read is none. A version is a line of the log of summaries, ``gists/<session>.jsonl``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final, NamedTuple

from engramdown.episodes.front import split
from engramdown.episodes.journal.page import normal

__all__ = [
    "Version",
    "read_versions",
    "text_of",
    "updated_of",
    "with_text",
    "without_versions",
    "write_version",
]

_KIND: Final = "note"
_BLANK: Final = "---\nupdated:\n---\n"


class Version(NamedTuple):
    """Notes as they were before somebody replaced them.

    Attributes:
        ts: When they were replaced.
        by: By whom: ``person`` or ``agent``.
        text: What they said.
    """

    ts: str
    by: str
    text: str


def text_of(page: str) -> str:
    r"""Return the text of a page.

    >>> text_of("---\nupdated: 2026-02-27T10:15:00Z\n---\n\nThe user is tired.\n")
    'The user is tired.'
    """
    return normal(split(page).body)


def updated_of(page: str) -> str:
    """Return when a page says that it was written last, or ``""``."""
    return split(page).get("updated")


def with_text(page: str, text: str, updated: str) -> str:
    r"""Return a page with another text.

    Args:
        page: What stands there; ``""`` for nothing.
        text: What is to stand there.
        updated: When this is, UTC.

    >>> with_text("", "Be brief.", "2026-02-27T10:15:00Z")
    '---\nupdated: 2026-02-27T10:15:00Z\n---\n\nBe brief.\n'
    """
    front = split(page)
    if not front.opening:
        # What a person wrote without a front matter is text, and that is what is replaced.
        front = split(_BLANK)
    end = front.line_end
    shown = normal(text).replace("\n", end)
    closing = front.closing if front.closing.endswith("\n") else f"{front.closing}{end}"
    body = f"{end}{shown}{end}" if shown else ""
    return front._replace(closing=closing, body=body).with_value("updated", updated).render()


def write_version(version: Version) -> bytes:
    """Return the line of a version."""
    return json.dumps({"kind": _KIND, **version._asdict()}).encode() + b"\n"


def read_versions(log: bytes) -> list[Version]:
    r"""Return the versions in a log, the newest first.

    >>> line = write_version(Version("2026-02-27T10:15:00Z", "agent", "Be brief."))
    >>> [version.text for version in read_versions(b'torn\n{"kind":"gist"}\n' + line)]
    ['Be brief.']
    """
    return list(_versions(log))[::-1]


def without_versions(log: bytes) -> bytes:
    """Return what stands in a log besides versions of notes."""
    return b"\n".join(line for line in log.split(b"\n") if _read(line) is None)


def _versions(log: bytes) -> Iterator[Version]:
    for line in log.split(b"\n"):
        version = _read(line)
        if version is not None:
            yield version


def _read(line: bytes) -> Version | None:
    if _KIND.encode() not in line:
        return None
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or value.get("kind") != _KIND:
        return None
    fields = [value.get(name, "") for name in Version._fields]
    return Version(*fields) if all(isinstance(field, str) for field in fields) else None
