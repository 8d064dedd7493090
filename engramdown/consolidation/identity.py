"""Facts about the user from what they wrote last: name, time zone, role, preferences, tools.

Promises: writes nothing; a fact reads ``Key: value``, is about the user everywhere, and points at
the message that tells it; what a model finds is inferred and at most of medium confidence; without
a model only what is stated outright is found. None passes the gate against what a person wrote.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from engramdown.consolidation.cells import Line
from engramdown.consolidation.extraction import extract
from engramdown.consolidation.learned import Learned, Lesson, learned, shortened
from engramdown.consolidation.model import learn_from
from engramdown.consolidation.prompts import OURS, render
from engramdown.engram import Engram, fact_key, fold

if TYPE_CHECKING:
    from engramdown.consolidation.lessons_form import Fact
    from engramdown.consolidation.model import LanguageModel

__all__ = [
    "MOST",
    "Message",
    "facts_of_model",
    "facts_without_model",
    "messages_of",
]

MOST: Final = 10
"""So many facts one look may bring."""

_LONGEST_VALUE: Final = 200
_SHOWN: Final = 1500


class Message(NamedTuple):
    """What the user wrote.

    Attributes:
        text: In these words.
        pointer: Where it stands, ``<session>#<seq>``, or ``""``.
    """

    text: str
    pointer: str = ""


class _Shown(NamedTuple):
    """A message as a prompt shows it."""

    number: int
    text: str


def messages_of(session: str, lines: Iterable[Line]) -> list[Message]:
    """Return the messages of the user in a session.

    Args:
        session: Its id, for the pointers.
        lines: Its lines, in order.
    """
    said = (line for line in lines if line.role == "user" and line.text.strip())
    return [Message(line.text, f"{session}#{line.seq}") for line in said]


def facts_without_model(messages: Iterable[Message]) -> Learned:
    """Return what the user states outright; of two facts with one key the later one.

    Who says so is this job, looking back: a fact that contradicts what a person wrote is for them.
    """
    found: dict[str, Engram] = {}
    for message in messages:
        for engram in extract(message.text, origin=message.pointer):
            if engram.kind == "profile":
                found[_key(engram)] = replace(engram, source="consolidation")
    return Learned(tuple(found.values()))


def facts_of_model(
    messages: Sequence[Message], model: LanguageModel, templates: Mapping[str, str] = OURS
) -> Learned:
    """Ask ``model`` which facts about the user are in messages. No lock may be held meanwhile.

    Raises:
        ModelError: If the model gives no answer of the form.
        StoreError: If a scope's own prompt is broken.
    """
    from engramdown.consolidation.lessons_form import Facts

    if not messages:
        return Learned()
    given = [_Shown(at, shortened(each.text, _SHOWN)) for at, each in enumerate(messages, 1)]
    prompt = render("identity", templates, messages=given, most=MOST)

    def read(answer: Facts) -> Learned:
        refusals = tuple(filter(None, map(_problem, answer.facts)))
        facts = [
            Lesson(f"{fact.key.strip()}: {fact.value.strip()}", fact.messages, "profile", "global")
            for fact in answer.facts
            if not _problem(fact)
        ]
        texts = [message.text for message in messages]
        found = learned(facts, [message.pointer for message in messages], MOST, texts)
        by_key = {_key(engram): engram for engram in found.engrams}
        return Learned(tuple(by_key.values()), refusals + found.refusals)

    return learn_from(model, Facts, prompt, read)


def _problem(fact: Fact) -> str:
    """Return why a fact of a model is none, or ``""``."""
    if not fact.value.strip():
        return "a fact is refused: it says nothing"
    if len(fact.value) > _LONGEST_VALUE:
        return f"a fact is refused: it has more than {_LONGEST_VALUE} characters"
    key = fact.key.strip()
    if not key or ":" in key or fact_key(f"{' '.join(key.split())}: x") != fold(key):
        return "a fact is refused: it has no key like Name or Time zone"
    return ""


def _key(engram: Engram) -> str:
    """Return what a fact is about; all of it, where it has no key."""
    return fact_key(engram.text) or fold(engram.text)
