"""Memories and plans for the tests of what is done offline.

Promises: :func:`known` needs an id and a text; :data:`any_plan` names memories of
:data:`any_memories` and, now and then, none of them.
"""

from __future__ import annotations

from typing import Any, Final

from hypothesis import strategies as st

from engramdown.consolidation.plan import Operation
from engramdown.engram import BASES, CONFIDENCES, KINDS, SOURCES
from engramdown.hippocampus.entry import Entry

FILES: Final = {"lesson": "lessons.md", "profile": "profile.md"}

_WORDS: Final = (
    "use uv", "Use uv.", "never use pip", "use pip", "CI is slow", "CI is slow on Mondays",
    "retry 3 times", "retry 5 times", "Editor: vim", "Editor: emacs", "see src/a.py", "x",
    "Alice reviews", "Bob reviews", "日本語", "\ud800", "two\nlines",
)  # fmt: skip
_IDS: Final = tuple("abcdef")


def known(name: str, text: str, **fields: object) -> Entry:
    """Return a lesson that an assistant learned, or what ``fields`` make of it."""
    plain: dict[str, Any] = {
        "id": name,
        "text": text,
        "kind": "lesson",
        "scope": "project",
        "confidence": "medium",
        "source": "llm",
        "basis": "inferred",
        "ts": "2026-02-27",
        "file": FILES.get(str(fields.get("kind", "lesson")), "rules.md"),
    }
    return Entry(**{**plain, **fields})


def learned(*texts: str, **fields: object) -> list[Entry]:
    """Return lessons called ``a``, ``b``, ``c``, … that say ``texts``."""
    return [known(chr(ord("a") + at), text, **fields) for at, text in enumerate(texts)]


def drop(name: str, stays: str, reason: str = "") -> Operation:
    """A memory goes because another one says the same."""
    return Operation("drop", (name,), stays, reason=reason)


def supersede(name: str, stays: str, reason: str = "") -> Operation:
    """A memory goes because a newer one has replaced it."""
    return Operation("supersede", (name,), stays, reason=reason)


def expire(name: str, reason: str = "") -> Operation:
    """A memory goes because its last day has passed."""
    return Operation("expire", (name,), reason=reason)


def merge(names: tuple[str, ...], text: str, reason: str = "") -> Operation:
    """Several memories become one."""
    return Operation("merge", names, text=text, reason=reason)


def move(name: str, topic: str, reason: str = "") -> Operation:
    """A lesson gets another topic."""
    return Operation("move", (name,), topic=topic, reason=reason)


_memory: Final = st.builds(
    known,
    name=st.sampled_from(_IDS),
    text=st.sampled_from(_WORDS) | st.text(min_size=1, max_size=12),
    kind=st.sampled_from(KINDS),
    scope=st.just("project"),
    confidence=st.sampled_from(CONFIDENCES),
    source=st.sampled_from(SOURCES),
    basis=st.sampled_from(BASES),
    topic=st.sampled_from(["", "ci", "api"]),
    ts=st.sampled_from(["", "2025-01-01", "2026-02-27"]),
    origin=st.sampled_from(["", "s1#1", "s2#2", "s1#1,s3#4"]),
    expires=st.sampled_from(["", "2025-12-31", "2099-01-01", "soon"]),
    pin=st.booleans(),
    heading=st.sampled_from(["", "Always", "Mine"]),
)
any_memories: Final = st.lists(_memory, max_size=8)

_id: Final = st.sampled_from((*_IDS, "gone"))
_reason: Final = st.sampled_from(["", "the same thing twice"])
any_operations: Final[st.SearchStrategy[Operation]] = st.one_of(
    st.builds(drop, _id, _id, _reason),
    st.builds(
        merge,
        st.lists(_id, max_size=4).map(tuple),
        st.sampled_from(_WORDS) | st.text(max_size=12),
        _reason,
    ),
    st.builds(supersede, _id, _id, _reason),
    st.builds(move, _id, st.sampled_from(["ci", "../x", "", "API notes"]), _reason),
    st.builds(expire, _id, _reason),
)
any_plan: Final = st.lists(any_operations, max_size=4)
