"""Plans: what a job proposes to change about memories, and what becomes of each operation.

Pure. A plan is a value that changes nothing by itself. An operation names memories by their ids
alone, so it is always about the memory as it stands in the store.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple, Protocol

from engramdown.engram import Basis, Confidence, Kind, Scope, Source

Verdict = Literal["apply", "propose", "refuse"]
Name = Literal["drop", "merge", "supersede", "move", "expire"]
"""What an operation is called, in pending.md and for programs."""


class Memory(Protocol):
    """What a plan needs to know of a memory; see :class:`engramdown.Entry`."""

    @property
    def id(self) -> str:
        """Its id, or the address of a line that a person wrote."""

    @property
    def text(self) -> str:
        """What is remembered."""

    @property
    def kind(self) -> Kind:
        """A rule of some kind, a lesson, or a fact about the user."""

    @property
    def scope(self) -> Scope:
        """Where it holds."""

    @property
    def confidence(self) -> Confidence:
        """How sure the source is."""

    @property
    def topic(self) -> str:
        """The slug of its topic, or ``""``."""

    @property
    def source(self) -> Source:
        """Who says so."""

    @property
    def basis(self) -> Basis:
        """How it is known."""

    @property
    def ts(self) -> str:
        """The day it was written, or ``""``."""

    @property
    def origin(self) -> str:
        """Where it was learned: pointers into transcripts with commas between, or ``""``."""

    @property
    def expires(self) -> str:
        """The last day on which it holds, or ``""``."""

    @property
    def pin(self) -> bool:
        """Whether a person pinned it."""

    @property
    def file(self) -> str:
        """The file that holds it, relative to the memory folder."""

    @property
    def heading(self) -> str:
        """The heading it stands under, or ``""``."""

    @property
    def by_person(self) -> bool:
        """Whether a person wrote, said, confirmed or pinned it."""


@dataclass(frozen=True, slots=True)
class _OfOne:
    """An operation that takes one memory."""

    name: ClassVar[Name]
    id: str

    @property
    def ids(self) -> tuple[str, ...]:
        """The memories that it takes."""
        return (self.id,)


@dataclass(frozen=True, slots=True)
class Drop(_OfOne):
    """A memory goes because another one says the same.

    Attributes:
        id: The memory that goes.
        stays: The one that stays.
        reason: Why, in words.
    """

    name: ClassVar[Name] = "drop"
    stays: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Merge:
    """Several memories become one; all that it says about itself follows from theirs.

    Attributes:
        ids: The memories that go; none that stands has to stay.
        text: What the new one says.
        reason: Why, in words.
    """

    name: ClassVar[Name] = "merge"
    stays: ClassVar[str] = ""
    ids: tuple[str, ...]
    text: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Supersede(_OfOne):
    """A memory goes because a newer one has replaced it.

    Attributes:
        id: The memory that goes.
        stays: The one that stays.
        reason: Why, in words.
    """

    name: ClassVar[Name] = "supersede"
    stays: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Move(_OfOne):
    """A lesson gets another topic.

    Attributes:
        id: The lesson.
        topic: Any words, filed under :func:`engramdown.engram.slug` of them.
        reason: Why, in words.
    """

    name: ClassVar[Name] = "move"
    stays: ClassVar[str] = ""
    topic: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Expire(_OfOne):
    """A memory goes because its last day has passed.

    Attributes:
        id: The memory that goes.
        reason: Why, in words.
    """

    name: ClassVar[Name] = "expire"
    stays: ClassVar[str] = ""
    reason: str = ""


Operation = Drop | Merge | Supersede | Move | Expire


@dataclass(frozen=True, slots=True)
class Plan:
    """What a job proposes.

    Attributes:
        operations: Each is judged, shown and carried out by itself.
    """

    operations: tuple[Operation, ...] = ()


class Ruling(NamedTuple):
    """What becomes of one operation.

    Attributes:
        operation: The operation.
        verdict: ``apply``, ``propose`` (a person decides) or ``refuse``.
        why: Why it is not simply applied, or ``""``.
    """

    operation: Operation
    verdict: Verdict
    why: str = ""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What becomes of a plan.

    Attributes:
        rulings: One for each operation, in the order of the plan.
        refusal: Why the plan is refused as a whole, or ``""``; then every ruling refuses.
    """

    rulings: tuple[Ruling, ...] = ()
    refusal: str = ""

    @property
    def apply(self) -> tuple[Operation, ...]:
        """What may be applied."""
        return tuple(each.operation for each in self.rulings if each.verdict == "apply")

    @property
    def propose(self) -> tuple[Ruling, ...]:
        """What only a person may decide."""
        return tuple(each for each in self.rulings if each.verdict == "propose")

    @property
    def refused(self) -> tuple[Ruling, ...]:
        """What must not be done."""
        return tuple(each for each in self.rulings if each.verdict == "refuse")
