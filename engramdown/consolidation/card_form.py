"""The form of a model's answer when it is asked what a session was about.

Promises: what does not have this form is no answer; its size is bounded before anything is made of
it. Loads pydantic, so it is imported where a model is about to be asked.
"""

from __future__ import annotations

from typing import Final

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["Card"]

_LONGEST: Final = 20_000
_MOST: Final = 40


class Card(BaseModel):
    """What the session was about; empty where it does not say."""

    model_config = ConfigDict(extra="forbid")

    title: str = Field("", max_length=_LONGEST, description="What to call it, in a few words.")
    one_liner: str = Field("", max_length=_LONGEST, description="What it was about, in a sentence.")
    paragraph: str = Field("", max_length=_LONGEST, description="The same in three to five.")
    decisions: list[str] = Field(
        default_factory=list, max_length=_MOST, description="What was decided, each in a sentence."
    )
    tags: list[str] = Field(
        default_factory=list,
        max_length=_MOST,
        description="Three to seven words under which somebody would look for it.",
    )
    detailed: str = Field(
        "",
        max_length=_LONGEST,
        description="What happened, in two to six short paragraphs: asked, tried, done, open.",
    )
