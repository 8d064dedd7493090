"""The form of a model's answer when it is asked to write down a procedure.

Promises: what does not have this form is no answer; its size is bounded before anything is made of
it. Loads pydantic, so it is imported where a model is about to be asked.
"""

from __future__ import annotations

from typing import Final

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["WrittenSkill"]

_LONGEST: Final = 20_000
_LABEL: Final = 200


class WrittenSkill(BaseModel):
    """A procedure, if it is one."""

    model_config = ConfigDict(extra="forbid")

    worth_keeping: bool = Field(description="Whether somebody would follow this again.")
    label: str = Field("", max_length=_LABEL, description="Two or three words, a verb first.")
    description: str = Field(
        "", max_length=_LONGEST, description="What it does, and: Use when ... In 150 characters."
    )
    body: str = Field("", max_length=_LONGEST, description="Numbered steps, in markdown.")
