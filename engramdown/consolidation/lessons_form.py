"""The forms of a model's answers when it is asked what a session teaches.

Promises: what does not have such a form is no answer, but one item of another form costs only
itself; its size is bounded before anything is made of it. Loads pydantic, so it is imported where a
model is about to be asked.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, Literal, Self, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    PrivateAttr,
    ValidationError,
    model_validator,
)

__all__ = [
    "MOST",
    "Fact",
    "Facts",
    "Lesson",
    "Lessons",
    "OfItems",
    "ScratchpadLesson",
    "ScratchpadLessons",
    "carry_refusals",
]

MOST: Final = 20
"""So many things one answer may hold; more than are kept, so that a long one is not asked again."""

_LONGEST: Final = 20_000
_LONGEST_NAME: Final = 200
_Numbers = list[int]
Answer = TypeVar("Answer", bound=BaseModel)
"""Any form."""


class OfItems(BaseModel):
    """An answer that is a list of items, of which those of another form are left out.

    If none is left, the answer is of another form.
    """

    model_config = ConfigDict(extra="forbid")

    _wrong: tuple[str, ...] = PrivateAttr(())

    @property
    def wrong(self) -> tuple[str, ...]:
        """Why items were left out, in words."""
        return self._wrong

    @model_validator(mode="wrap")
    @classmethod
    def _without_wrong_items(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:  # noqa: ANN401 - JSON
        try:
            return handler(data)
        except ValidationError as error:
            found = {tuple(each["loc"][:2]): each["msg"] for each in error.errors()}
            kept = _left(data, found)
            if kept is None:
                raise
        answer = handler(kept)
        answer._wrong = tuple(f"item {at[1]} is refused: {why}" for at, why in found.items())  # noqa: SLF001 - its own
        return answer


def carry_refusals(answer: Answer, same: BaseModel) -> Answer:
    """Return ``answer``, a copy of ``same``, which tells what was left out of that one, too."""
    if isinstance(answer, OfItems) and isinstance(same, OfItems):
        answer._wrong = same.wrong  # noqa: SLF001 - of this module
    return answer


def _left(data: Any, wrong: Iterable[tuple[Any, ...]]) -> dict[str, Any] | None:  # noqa: ANN401 - JSON
    """Return an answer without some items, or ``None`` if it has none left or it is not theirs."""
    places = {at for at in wrong if len(at) == 2 and isinstance(at[1], int)}  # noqa: PLR2004 - a list, a place
    if not isinstance(data, dict) or places != set(wrong):
        return None
    left = {
        name: [each for at, each in enumerate(data[name]) if (name, at) not in places]
        for name in {name for name, _ in places}
    }
    return data | left if all(left.values()) else None


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


class Lessons(OfItems):
    """What the session teaches; nothing where it teaches nothing."""

    items: list[Lesson] = Field(max_length=MOST)


class ScratchpadLesson(BaseModel):
    """One thing that would have gone better."""

    model_config = ConfigDict(extra="forbid")

    text: str = Field(max_length=_LONGEST, description="In one sentence that stands on its own.")
    cells: _Numbers = Field(
        min_length=1, max_length=MOST, description="The numbers of the cells that taught it."
    )


class ScratchpadLessons(OfItems):
    """What to do another way; nothing where it was only bad luck."""

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


class Facts(OfItems):
    """What the user told of themselves; nothing where they told nothing."""

    facts: list[Fact] = Field(max_length=MOST)
