"""The forms of a model's answers, one for each job.

An answer of another form is refused, but one wrong item of a list costs only itself. Its size is
bounded before anything is made of it. This loads pydantic, so it is imported where a model is about
to be asked.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Final, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    PrivateAttr,
    ValidationError,
    model_validator,
)

# So many things one answer may hold; more than are kept, so that a long one is not asked again.
MOST: Final = 20

_LONGEST: Final = 20_000
_LONGEST_NAME: Final = 200
_Scope = Annotated[
    Literal["project", "global"], Field(description="global only if it holds in every project.")
]
_Topic = Annotated[str, Field(max_length=_LONGEST_NAME, description="One or two words.")]
_Certainty = Literal["high", "medium", "low"]


class _Form(BaseModel):
    """A form that has no other fields than these."""

    model_config = ConfigDict(extra="forbid")


class OfItems(_Form):
    """An answer that is a list of items, of which those of another form are left out.

    If none is left, the answer is of another form.
    """

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


class ScratchpadLesson(_Form):
    """One thing that would have gone better."""

    text: str = Field(max_length=_LONGEST, description="In one sentence that stands on its own.")
    cells: list[int] = Field(
        min_length=1, max_length=MOST, description="The numbers of the cells that taught it."
    )


class Lesson(ScratchpadLesson):
    """One thing that is worth remembering."""

    kind: Literal["always", "never", "when", "lesson"] = Field(
        "lesson", description="A rule (always, never, when), or a fact that was learned."
    )
    scope: _Scope = "project"
    confidence: _Certainty = Field("medium", description="low unless a cell shows that it is so.")
    topic: _Topic = ""


class Lessons(OfItems):
    """What the session teaches; nothing where it teaches nothing."""

    items: list[Lesson] = Field(max_length=MOST)


class ScratchpadLessons(OfItems):
    """What to do another way; nothing where it was only bad luck."""

    lessons: list[ScratchpadLesson] = Field(max_length=MOST)


class Fact(_Form):
    """One lasting fact about the user."""

    key: str = Field(
        max_length=_LONGEST_NAME,
        description="What it is about, once each: Name, Time zone, Role, Editor, …",
    )
    value: str = Field(max_length=_LONGEST, description="What the user said of it, in short.")
    messages: list[int] = Field(
        min_length=1, max_length=MOST, description="The numbers of the messages that say so."
    )


class Facts(OfItems):
    """What the user told of themselves; nothing where they told nothing."""

    facts: list[Fact] = Field(max_length=MOST)


# ---- session cards ----

_MOST: Final = 40


class Card(_Form):
    """What the session was about; empty where it does not say."""

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


# ---- compaction ----

# So many changes one answer may propose.
MOST_CHANGES: Final = 200

_LONGEST_ID: Final = 40
_LONGEST_REASON: Final = 400
_PAIR: Final = 2


class Change(_Form):
    """One change to the memories that you were given."""

    operation: Literal["drop", "merge", "supersede", "move", "expire"] = Field(
        description=(
            "drop: says the same as the memory `stays`. merge: these become one that says `text`. "
            "supersede: the newer memory `stays` has replaced it. move: belongs under `topic`. "
            "expire: its last day has passed."
        )
    )
    ids: list[str] = Field(
        min_length=1, max_length=MOST_CHANGES, description="The memories that it is about, by id."
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


class Compaction(_Form):
    """What to change; nothing where nothing has to be."""

    operations: list[Change] = Field(max_length=MOST_CHANGES)


# ---- facts of a conversation ----

_MESSAGES: Final = 200


class FoundFact(_Form):
    """One thing that will hold next time as well; one without a text is passed over."""

    text: str = Field("", max_length=_LONGEST, description="In one sentence that stands alone.")
    kind: Literal["always", "never", "when", "lesson", "profile"] = Field(
        "lesson",
        description="A rule (always, never, when), a fact (lesson), or one about the user "
        "(profile), as Key: value.",
    )
    confidence: _Certainty = Field("medium", description="low unless the user said it outright.")
    scope: _Scope = "project"
    topic: _Topic = ""
    messages: list[int] = Field(
        default_factory=list,
        max_length=_MESSAGES,
        description="The numbers of the messages that say so.",
    )


class FoundFacts(OfItems):
    """What is worth keeping of a conversation; most hold nothing."""

    worth_persisting: bool = Field(description="Whether anything is: false, and no items count.")
    items: list[FoundFact] = Field(default_factory=list, max_length=MOST)


# ---- procedures ----

_LABEL: Final = 200


class WrittenSkill(_Form):
    """A procedure, if it is one."""

    worth_keeping: bool = Field(description="Whether somebody would follow this again.")
    label: str = Field("", max_length=_LABEL, description="Two or three words, a verb first.")
    description: str = Field(
        "", max_length=_LONGEST, description="What it does, and: Use when ... In 150 characters."
    )
    body: str = Field("", max_length=_LONGEST, description="Numbered steps, in markdown.")


# ---- summaries ----

_LONGEST_SUMMARY: Final = 400_000


class Summary(_Form):
    """What somebody must know who has not read it."""

    text: str = Field(max_length=_LONGEST_SUMMARY, description="The summary, as plain text.")
    left_out: str = Field(
        "", max_length=_LONGEST_SUMMARY, description="In one line, which details it leaves out."
    )
