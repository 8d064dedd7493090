"""The forms of a model's answers when it is asked what a session teaches.

Promises: what does not have such a form is no answer; its size is bounded before anything is made
of it. Loads pydantic, so it is imported where a model is about to be asked.
"""

from __future__ import annotations

from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["MOST", "Fact", "Facts", "Lesson", "Lessons", "ScratchpadLesson", "ScratchpadLessons"]

MOST: Final = 20
"""So many things one answer may hold; more than are kept, so that a long one is not asked again."""

_LONGEST: Final = 20_000
_LONGEST_NAME: Final = 200
_Numbers = list[int]


class Lesson(BaseModel):
    """One thing that is worth remembering."""

    model_config = ConfigDict(extra="forbid")

    text: str = Field(max_length=_LONGEST, description="In one sentence that stands on its own.")
    cells: _Numbers = Field(
        min_length=1, max_length=MOST, description="The numbers of the cells that taught it."
    )
    kind: Literal["always", "never", "when", "lesson"] = Field(
        "lesson", description="A rule (always, never, when), or a fact that was learned."
    )
    scope: Literal["project", "global"] = Field(
        "project", description="global only if it holds in every project."
    )
    confidence: Literal["high", "medium", "low"] = Field(
        "medium", description="low unless a cell shows that it is so."
    )
    topic: str = Field("", max_length=_LONGEST_NAME, description="One or two words.")


class Lessons(BaseModel):
    """What the session teaches; nothing where it teaches nothing."""

    model_config = ConfigDict(extra="forbid")

    items: list[Lesson] = Field(max_length=MOST)


class ScratchpadLesson(BaseModel):
    """One thing that would have gone better."""

    model_config = ConfigDict(extra="forbid")

    text: str = Field(max_length=_LONGEST, description="In one sentence that stands on its own.")
    cells: _Numbers = Field(
        min_length=1, max_length=MOST, description="The numbers of the cells that taught it."
    )


class ScratchpadLessons(BaseModel):
    """What to do another way; nothing where it was only bad luck."""

    model_config = ConfigDict(extra="forbid")

    lessons: list[ScratchpadLesson] = Field(max_length=MOST)


class Fact(BaseModel):
    """One lasting fact about the user."""

    model_config = ConfigDict(extra="forbid")

    key: str = Field(
        max_length=_LONGEST_NAME,
        description="What it is about, once each: Name, Time zone, Role, Editor, …",
    )
    value: str = Field(max_length=_LONGEST, description="What the user said of it, in short.")
    messages: _Numbers = Field(
        min_length=1, max_length=MOST, description="The numbers of the messages that say so."
    )


class Facts(BaseModel):
    """What the user told of themselves; nothing where they told nothing."""

    model_config = ConfigDict(extra="forbid")

    facts: list[Fact] = Field(max_length=MOST)
