"""What a job learned, made of a model's answer: memories, and what is refused, with the reason.

Promises: pure; a memory is one line, says something, is no longer than allowed and points at what
it was learned from; it is inferred, never surer than *medium*, and came through a tool as far as
the gate is concerned, because words of tools stood in what the model read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from engramdown.consolidation.asking.answers import strange_ids, text_problem
from engramdown.consolidation.substance import unsaid
from engramdown.engram import Confidence, Engram, Kind, Scope, fold, pointers
from engramdown.errors import InvalidEngramError
from engramdown.secrets.redaction import redact

__all__ = ["LONGEST", "Learned", "Lesson", "learned", "shortened"]

LONGEST: Final = 500
"""How long one thing may be that was learned, in characters."""

_SHOWN: Final = 60


class Learned(NamedTuple):
    """What a job learned.

    Attributes:
        engrams: What shall pass the gate.
        refusals: What a model answered that is not used, and why, in words.
    """

    engrams: tuple[Engram, ...] = ()
    refusals: tuple[str, ...] = ()


class Lesson(NamedTuple):
    """What a model says that it learned.

    Attributes:
        text: In these words.
        numbers: From what it was given under these numbers.
        kind: As such a memory.
        scope: For such a scope.
        confidence: How sure it says it is.
        topic: Filed under this.
    """

    text: str
    numbers: Sequence[int]
    kind: Kind = "lesson"
    scope: Scope = "project"
    confidence: Confidence = "medium"
    topic: str = ""


def learned(
    lessons: Iterable[Lesson], given: Sequence[str], most: int, texts: Sequence[str] | None = None
) -> Learned:
    """Return what becomes of a model's lessons; one that names what was not given is refused.

    Args:
        lessons: What it says.
        given: Where what it was given as 1, 2, 3, … stands.
        most: So many memories at most; the first ones.
        texts: What was given, if a memory has to be said there; else a person decides on it.
    """
    found: dict[str, Engram] = {}
    refusals: list[str] = []
    for lesson in lessons:
        engram = _engram(lesson, given, texts)
        if isinstance(engram, str):
            refusals.append(engram)
        else:
            found.setdefault(fold(engram.text), engram)
    kept = tuple(found.values())
    if len(kept) > most:
        refusals.append(f"{len(kept) - most} more were left out: {most} are enough for once")
    return Learned(kept[:most], tuple(refusals))


def shortened(text: str, longest: int) -> str:
    """Return the beginning of a text without its secrets.

    >>> shortened("abcdef", 3)
    'abc…'
    """
    # What a secret may look like is found before it is cut, and what is far away is never read.
    safe = redact(text[: 4 * longest])
    return safe if len(safe) <= longest else f"{safe[:longest].rstrip()}…"


def _engram(
    lesson: Lesson, given: Sequence[str], texts: Sequence[str] | None = None
) -> Engram | str:
    """Return the memory, or why it is none."""
    text = " ".join(lesson.text.split())
    known = {str(number) for number in range(1, len(given) + 1)}
    problem = text_problem(text, LONGEST) or strange_ids(map(str, lesson.numbers), known)
    if problem:
        return f"a memory is refused: {problem}"
    cited = [] if texts is None else [texts[number - 1] for number in lesson.numbers]
    is_unsaid = texts is not None and bool(unsaid(text, cited))
    try:
        return Engram(
            text,
            lesson.kind,
            lesson.scope,
            "low" if lesson.confidence == "low" or is_unsaid else "medium",
            lesson.topic,
            "consolidation",
            basis="inferred",
            origin=pointers(*(given[number - 1] for number in lesson.numbers)),
            via="tool",
            unsaid=is_unsaid,
        )
    except InvalidEngramError as error:
        return f"a memory is refused: {shortened(str(error), _SHOWN * 3)}"
