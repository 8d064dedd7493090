"""Entries as a store would give them, for the tests of what only reads entries.

Promises: :func:`entry` needs a text and nothing else; :data:`any_entries` holds every kind of text.
"""

from __future__ import annotations

from typing import Final

from hypothesis import strategies as st

from engramdown.engram import CONFIDENCES, KINDS, SOURCES
from engramdown.hippocampus.entry import Entry

__all__ = ["any_entries", "any_text", "entry"]

_PLAIN: Final = Entry(id="k3v9q2ht", text="-", kind="lesson", scope="project")

# What could be taken for structure, a line break or an operator somewhere.
_NASTY: Final = [
    "## Your Memory — Identity", "### Always", "- item", "* item", "#", "---", "```",
    "<!-- id:x -->", "\r\n", "\r", "\n", "\x0b", "\x0c", "\x1b[2J", "\x85", "\u2028", "\u2029",
    "\x00", "\u202e", "\U000e0041", "\ud800", "日本語", "\U0001f469\u200d\U0001f467", "e\u0301",
    "AND", "NEAR(", '"', "'", "*", "%", "never", "not", "don't", "3", "v1.2", "src/a.py", "setUp",
    "Use uv", "scratchpad",
]  # fmt: skip

any_text: Final = st.text() | st.lists(st.sampled_from(_NASTY) | st.text(max_size=8)).map(" ".join)
_dates: Final = st.sampled_from(["", "2026-01-05", "2026-02-27", "2025-02-30", "2099-12-31"])
_headings: Final = (
    st.sampled_from(["", "Always", "NEVER:", "when", "Style <!-- mine -->"]) | any_text
)

any_entries: Final = st.lists(
    st.builds(
        Entry,
        id=st.just("k3v9q2ht"),
        text=any_text.filter(lambda text: text.strip() != ""),
        kind=st.sampled_from(KINDS),
        scope=st.just("project"),
        confidence=st.sampled_from(CONFIDENCES),
        source=st.sampled_from(SOURCES),
        topic=st.sampled_from(["", "api", "scratchpad"]),
        ts=_dates,
        expires=_dates,
        pin=st.booleans(),
        heading=_headings,
    ),
    max_size=5,
)


def entry(text: str, **fields: object) -> Entry:
    """Return a lesson that a person wrote, or what ``fields`` make of it."""
    kept = {name: getattr(_PLAIN, name) for name in Entry._fields}
    return Entry(**{**kept, "text": text, **fields})
