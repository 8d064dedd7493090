"""Strategies for what happens to memory files: engrams, steps, edits by hand.

Promises: few different texts, ids and topics, so that the parts of a story meet each other.
"""

from __future__ import annotations

from typing import Final

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from engramdown.engram import CONFIDENCES, KINDS, SOURCES, Engram, Kind
from engramdown.markdown.document import Document, parse
from engramdown.markdown.metadata import Metadata
from tests import strategies
from tests.hippocampus.shelf import Shelf
from tests.step_laws import FILES, Action

_TEXTS: Final = (
    "one",
    "One!",
    "two",
    "Name: Ada",
    "Name: Bob",
    "three\nlines",
    "- x",
    "[x] done",
    "item",
    "para text",
)
_KINDS: Final = ("", "always", "never", "when")
_HAND: Final = ("insert", "delete", "change", "copy", "swap", "cut", "crlf")

numbers: SearchStrategy[int] = st.integers(0, 20)
_texts: SearchStrategy[str] = st.sampled_from(_TEXTS) | strategies.memory_texts


@st.composite
def engrams(draw: st.DrawFn) -> Engram:
    """Return any memory."""
    kind: Kind = draw(st.sampled_from(KINDS))
    topic = draw(st.sampled_from(["", "ci", "Köln"])) if kind == "lesson" else ""
    confidence, source = draw(st.sampled_from(CONFIDENCES)), draw(st.sampled_from(SOURCES))
    return Engram(draw(_texts), kind, "global", confidence, topic, source)


shelves: SearchStrategy[Shelf] = st.dictionaries(
    st.sampled_from(FILES), strategies.markdown(), max_size=4
).map(Shelf)

actions: SearchStrategy[Action] = st.builds(
    Action, st.sampled_from(["encode", "forget", "update", "restore"]), numbers, engrams()
)


@st.composite
def machine_edited(draw: st.DrawFn, page: str) -> str:
    """Return ``page`` after some edits of assistants."""
    document = parse(page)
    for number in range(draw(st.integers(0, 4))):
        document = _edited(draw, document, number)
    return document.render()


def _edited(draw: st.DrawFn, document: Document, number: int) -> Document:
    name = draw(st.sampled_from(["add", "replace", "note", "remove"]))
    entries = document.placed()
    if name == "add" or not entries:
        meta = Metadata().update({"id": f"our{number:05}"})
        return document.add(draw(_texts), meta, draw(st.sampled_from(_KINDS)), "Title")
    block = draw(st.sampled_from(entries)).block
    if name == "replace":
        return document.replace(block, draw(_texts), block.meta)
    if name == "note":
        better = (block.meta or Metadata()).update({"confidence": "high"})
        return document.note(block, better)
    return document.remove(block)


@st.composite
def hand_edited(draw: st.DrawFn, page: str) -> str:
    """Return ``page`` as a person saves it after some edits, line by line."""
    lines = page.split("\n")
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(lines)))
        lines = _by_hand(draw, lines, at)
    return "\n".join(lines)


def _by_hand(draw: st.DrawFn, lines: list[str], at: int) -> list[str]:
    name = draw(st.sampled_from(_HAND))
    head, line, tail = lines[:at], lines[at : at + 1], lines[at + 1 :]
    if name == "insert":
        return [*head, draw(st.sampled_from(strategies.LINES)), *line, *tail]
    if name == "change":
        return [*head, *(each.replace(" ", " new ", 1) for each in line), *tail]
    if name == "crlf":
        return [each.removesuffix("\r") + "\r" for each in lines]
    return {
        "delete": [*head, *tail],
        "copy": [*line, *lines],
        "swap": [*tail, *line, *head],
        "cut": head,
    }[name]


@st.composite
def three_sides(draw: st.DrawFn) -> tuple[str, str, str]:
    """Return a page, what assistants made of it, and what a person made of it."""
    base = draw(strategies.markdown())
    return base, draw(machine_edited(base)), draw(hand_edited(base))


@st.composite
def saves(draw: st.DrawFn) -> tuple[str, tuple[str, ...], str]:
    """Return a file, the states that it went through, and what a person saved over the last."""
    file = draw(st.sampled_from(FILES))
    states = [draw(strategies.markdown())]
    for _ in range(draw(st.integers(0, 3))):
        states.append(draw(machine_edited(states[-1])))
    opened = draw(st.sampled_from(states))
    return file, tuple(states), draw(hand_edited(opened))
