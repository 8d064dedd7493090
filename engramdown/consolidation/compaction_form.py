"""The form of a model's answer when it is asked to compact memories.

Promises: what does not have this form is no answer; its size is bounded before anything is made of
it. Loads pydantic, so it is imported where a model is about to be asked.
"""

from __future__ import annotations

from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

__all__ = ["MOST", "Change", "Compaction"]

MOST: Final = 200
"""So many changes one answer may propose."""

_LONGEST: Final = 20_000
_LONGEST_ID: Final = 40
_LONGEST_REASON: Final = 400
_PAIR: Final = 2


class Change(BaseModel):
    """One change to the memories that you were given."""

    model_config = ConfigDict(extra="forbid")

    operation: Literal["drop", "merge", "supersede", "move", "expire"] = Field(
        description=(
            "drop: says the same as the memory `stays`. merge: these become one that says `text`. "
            "supersede: the newer memory `stays` has replaced it. move: belongs under `topic`. "
            "expire: its last day has passed."
        )
    )
    ids: list[str] = Field(
        min_length=1, max_length=MOST, description="The memories that it is about, by id."
    )
    stays: str = Field("", max_length=_LONGEST_ID, description="The id of the memory that stays.")
    text: str = Field("", max_length=_LONGEST, description="The words of a merged memory.")
    topic: str = Field("", max_length=_LONGEST_ID * 3, description="The topic to move to.")
    reason: str = Field("", max_length=_LONGEST_REASON, description="Why, in a few words.")

    @model_validator(mode="after")
    def _is_whole(self) -> Change:
        """Ask for what the operation needs; the message is for the model."""
        if self.operation in ("drop", "supersede") and not self.stays:
            msg = f"{self.operation} needs `stays`, the id of the memory that stays"
            raise ValueError(msg)
        if self.operation == "merge" and (len(self.ids) < _PAIR or not self.text.strip()):
            msg = "merge needs two ids at least, and `text`"
            raise ValueError(msg)
        if self.operation == "move" and not self.topic.strip():
            msg = "move needs `topic`"
            raise ValueError(msg)
        return self


class Compaction(BaseModel):
    """What to change; nothing where nothing has to be."""

    model_config = ConfigDict(extra="forbid")

    operations: list[Change] = Field(max_length=MOST)
