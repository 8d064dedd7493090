r"""The page of notes on a session, and what is kept of its earlier versions.

Promises: pure; what is read equals what was written; another text changes the value of ``updated``
and the lines that are others in it, and leaves every other byte; any bytes may be read, and a
version that cannot be read is none. A version is a line of the log of summaries,
``gists/<session>.jsonl``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Final, NamedTuple

from engramdown.episodes.front import split
from engramdown.journal.page import normal

__all__ = [
    "Version",
    "is_own",
    "new_lines",
    "read_versions",
    "text_of",
    "updated_of",
    "with_text",
    "without_versions",
    "write_version",
]

_KIND: Final = "note"
_AGENT: Final = "agent"
_LINE: Final = re.compile(r"[^\n]*+\n|[^\n]++\Z")
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


def with_text(page: str, text: str, updated: str, *, own: bool = False) -> str:
    r"""Return a page with another text.

    Args:
        page: What stands there; ``""`` for nothing.
        text: What is to stand there.
        updated: When this is, UTC.
        own: Whether an agent wrote all of it.

    >>> with_text("", "Be brief.", "2026-02-27T10:15:00Z")
    '---\nupdated: 2026-02-27T10:15:00Z\n---\n\nBe brief.\n'
    """
    front = split(page)
    end = front.line_end
    changed = _changed(front.body, text, end)
    if not front.opening:
        if changed and not split(changed).opening:
            return changed  # What a person wrote without a front matter goes on without one.
        # It is text, and that is what is replaced.
        front, changed = split(_BLANK.replace("\n", end)), ""
    shown = normal(text).replace("\n", end)
    closing = front.closing if front.closing.endswith("\n") else f"{front.closing}{end}"
    body = changed or (f"{end}{shown}{end}" if shown else "")
    front = front._replace(closing=closing, body=body).with_value("updated", updated)
    return (front.with_value(_AGENT, _digest(text)) if own else front).render()


def is_own(page: str) -> bool:
    """Whether the text of a page is as an agent wrote it, all of it."""
    front = split(page)
    return front.get(_AGENT) == _digest(front.body)


def _digest(text: str) -> str:
    return sha256(normal(text).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _changed(old: str, text: str, end: str) -> str:
    """Return ``old`` with the lines of ``text``; those that stay keep their bytes.

    Args:
        old: What stands there.
        text: What is to stand there.
        end: How a line ends that is new.

    Returns:
        ``""`` if no line stays.
    """
    were, are = normal(old).split("\n"), normal(text).split("\n")
    before = _common(were, are)
    behind = _common(were[before:][::-1], are[before:][::-1])
    if not normal(old) or before + behind == 0:
        return ""
    lines = _LINE.findall(old)
    lead = next(at for at, line in enumerate(lines) if line.strip(" \t\r\n"))
    top, rest = lines[: lead + before], lines[lead + before :]
    gone, bottom = rest[: len(were) - before - behind], rest[len(were) - before - behind :]
    new = are[before : len(are) - behind]
    ends = [*map(_end, gone), *[end] * len(new)]
    if new and before == len(were):
        # It is not the last one any more: spaces behind it would be part of the text.
        top[-1] = f"{were[-1]}{_end(top[-1])}"
    rows = [*top, *(f"{line}{ends[at]}" for at, line in enumerate(new)), *bottom]
    rows[:-1] = [row if row.endswith("\n") else f"{row}{end}" for row in rows[:-1]]
    if not old.endswith("\n"):
        rows[-1] = rows[-1].removesuffix(_end(rows[-1]))
    return "".join(rows)


def new_lines(old: str, text: str) -> tuple[int, int]:
    r"""Return where in ``text`` the lines begin and end that are not those of ``old``.

    >>> new_lines("one\ntwo\nthree", "one\n2\nthree")
    (4, 5)
    """
    were, are = old.split("\n"), text.split("\n")
    before = _common(were, are)
    behind = _common(were[before:][::-1], are[before:][::-1])
    start = len("\n".join([*are[:before], ""]))
    end = len(text) - len("\n".join(["", *are[len(are) - behind :]]))
    return min(start, len(text)), max(min(start, len(text)), end)


def _common(some: Sequence[str], others: Sequence[str]) -> int:
    """Return how many lines are the same at the beginning."""
    pairs = zip(some, others, strict=False)
    least = min(len(some), len(others))
    return next((at for at, (one, other) in enumerate(pairs) if one != other), least)


def _end(line: str) -> str:
    """Return how a line ends."""
    return line[len(line.rstrip("\r\n")) :]


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
