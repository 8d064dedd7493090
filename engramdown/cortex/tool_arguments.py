"""What each tool for models is given.

Promises: pure; every argument is told to a model in as few words as it needs: the whole tool set
costs at most 1,500 tokens (``tests/cortex/test_tools.py``).
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field

from engramdown.cortex.arguments import Arguments
from engramdown.engram import Kind, Scope

__all__ = [
    "DescribeArguments",
    "ExpandArguments",
    "ForgetArguments",
    "GrepArguments",
    "JournalArguments",
    "JournalSearchArguments",
    "MemorizeArguments",
    "NotesArguments",
    "RecallArguments",
    "ReviewArguments",
    "SkillArguments",
    "TopicArguments",
]

_LONGEST: Final = 10_000

_Said = Literal[
    "user", "assistant", "tool_call", "tool_result", "scratchpad", "memory_read", "memory_write"
]
_Session = Annotated[str, Field(description="By default this one.")]
_Gist = Annotated[str, Field(description="Of a summary: g0123456789abcdef.")]


class MemorizeArguments(Arguments):
    """What ``memorize`` is given."""

    text: Annotated[str, Field(max_length=_LONGEST, description="One memory, true by itself.")]
    kind: Annotated[
        Kind,
        Field(description="Rules: always, never, when X do Y; lesson: fact; profile: the user."),
    ]
    scope: Annotated[Scope, Field(description="global: all projects.")] = "project"
    topic: Annotated[str, Field(description="Of a lesson: a few words.")] = ""


class ForgetArguments(Arguments):
    """What ``forget`` is given."""

    id: Annotated[str, Field(description="As recall shows it.")]
    why: str = ""


class ReviewArguments(Arguments):
    """What ``review`` is given: nothing."""


class TopicArguments(Arguments):
    """What ``recall_topic`` is given."""

    topic: Annotated[str, Field(description="Left out: lists the topics.")] = ""


class SkillArguments(Arguments):
    """What ``recall_skill`` is given."""

    label: str
    file: Annotated[str, Field(description="One of its files instead.")] = ""


class RecallArguments(Arguments):
    """What ``recall`` is given."""

    query: Annotated[str, Field(description="Words or a question.")] = ""
    pointer: Annotated[str, Field(description="A line to read in full, and around it.")] = ""
    mode: Annotated[
        Literal["best", "exact"], Field(description="exact: the very string, newest first.")
    ] = "best"
    limit: Annotated[int, Field(ge=1, le=50)] = 20
    days_back: Annotated[float | None, Field(ge=0)] = None
    session: Annotated[str, Field(description="Only this one: before the #.")] = ""
    role: _Said | None = None
    since: Annotated[str, Field(description="A day or time, UTC: 2026-02-27.")] = ""
    until: Annotated[str, Field(description="The same, included.")] = ""


class GrepArguments(Arguments):
    """What ``grep`` is given."""

    pattern: Annotated[str, Field(description="No wildcards.")]
    scope: Literal["both", "messages", "summaries"] = "both"
    limit: Annotated[int | None, Field(le=100, description="20 by default.")] = None
    session: _Session = ""


class DescribeArguments(Arguments):
    """What ``describe`` is given."""

    id: _Gist
    session: _Session = ""


class ExpandArguments(Arguments):
    """What ``expand`` is given."""

    id: _Gist
    tokens: Annotated[int | None, Field(le=20_000, description="4000 by default.")] = None
    cursor: Annotated[str, Field(description="From the last answer, to go on.")] = ""
    depth: Annotated[int, Field(ge=1)] = 1
    session: _Session = ""


class JournalArguments(Arguments):
    """What ``write_journal`` is given."""

    text: Annotated[str, Field(description="In markdown.")]
    themes: Annotated[str, Field(description="Words, with commas between.")] = ""
    date: Annotated[str, Field(description="A day that has passed: 2026-02-27.")] = ""


class JournalSearchArguments(Arguments):
    """What ``search_journals`` is given."""

    query: Annotated[str, Field(description="Words, or a day: 2026-02-27.")]
    limit: Annotated[int, Field(ge=1, le=20)] = 5


class NotesArguments(Arguments):
    """What ``write_notes`` is given."""

    text: Annotated[str, Field(description="In markdown.")]
    mode: Annotated[
        Literal["replace", "append"], Field(description="replace: these are all notes.")
    ] = "replace"
