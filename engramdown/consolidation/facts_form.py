"""The form of a model's answer when it is asked for facts that are worth keeping.

Promises: what does not have this form is no answer; its size is bounded before anything is made of
it. Loads pydantic, so it is imported where a model is about to be asked.
"""

from __future__ import annotations

from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from engramdown.consolidation.lessons_form import OfItems

__all__ = ["MOST", "FoundFact", "FoundFacts"]

MOST: Final = 20
"""So many facts one answer may hold; more than are kept, so that a long one is not asked again."""

_LONGEST: Final = 20_000
_LONGEST_NAME: Final = 200
_MESSAGES: Final = 200


class FoundFact(BaseModel):
    """One thing that will hold next time as well; one without a text is passed over."""

    model_config = ConfigDict(extra="forbid")

    text: str = Field("", max_length=_LONGEST, description="In one sentence that stands alone.")
    kind: Literal["always", "never", "when", "lesson", "profile"] = Field(
        "lesson",
        description="A rule (always, never, when), a fact (lesson), or one about the user "
        "(profile), as Key: value.",
    )
    confidence: Literal["high", "medium", "low"] = Field(
        "medium", description="low unless the user said it outright."
    )
    scope: Literal["project", "global"] = Field(
        "project", description="global only if it holds in every project."
    )
    topic: str = Field("", max_length=_LONGEST_NAME, description="One or two words.")
    messages: list[int] = Field(
        default_factory=list,
        max_length=_MESSAGES,
        description="The numbers of the messages that say so.",
    )


class FoundFacts(OfItems):
    """What is worth keeping of a conversation; most hold nothing."""

    worth_persisting: bool = Field(description="Whether anything is: false, and no items count.")
    items: list[FoundFact] = Field(default_factory=list, max_length=MOST)
