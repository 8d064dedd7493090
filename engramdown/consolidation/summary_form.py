"""The form of a model's answer when it is asked to summarise a part of a conversation.

Promises: what does not have this form is no answer; its size is bounded before anything is made of
it. Loads pydantic, so it is imported where a model is about to be asked.
"""

from __future__ import annotations

from typing import Final

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["Summary"]

_LONGEST: Final = 400_000


class Summary(BaseModel):
    """What somebody must know who has not read it."""

    model_config = ConfigDict(extra="forbid")

    text: str = Field(max_length=_LONGEST, description="The summary, as plain text.")
    left_out: str = Field(
        "", max_length=_LONGEST, description="In one line, which details it leaves out."
    )
