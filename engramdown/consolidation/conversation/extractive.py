"""A summary of a conversation without a model, by rules.

Promises: pure, deterministic, linear time, any text; never more than the target. What is told are
words of the conversation, each once, on one line, without secrets. A summary that it is given is
taken in by its lines, so that it can be made shorter again and again; one that fits comes back as
it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from engramdown.consolidation.conversation.cues import names, tells
from engramdown.consolidation.conversation.noting import GOAL, OF_A_USER, Note, noted
from engramdown.consolidation.conversation.parts import Part
from engramdown.engram import fold
from engramdown.tokens import estimate_tokens

__all__ = ["HANDOFF", "HEADINGS", "NO_FILES", "extract", "hand_over"]

HEADINGS: Final = ("Asked", "Decisions", "Files", "Errors", "Questions", "Facts")
"""What lines stand under, in this order."""
HANDOFF: Final = (
    "Goal", "Progress", "Key Decisions", "Files Changed", "Current State", "Blockers and Gotchas",
    "Next Steps",
)  # fmt: skip
"""The same for somebody who goes on with the work and has not read any of it."""
NO_FILES: Final = "Files: none"
"""What stands there if no file is named."""


def extract(parts: Sequence[Part], target: int) -> str:
    """Return what was asked, decided, named, left open and told, the newest of it first to stay.

    Args:
        parts: What was said, in order; summaries among it.
        target: How many tokens that may cost, by :func:`engramdown.tokens.estimate_tokens`.

    >>> said = [Part("user", "Move it to src/app.py, please."), Part("assistant", "We use uv 0.5.")]
    >>> print(extract(said, 40))
    Asked:
    - Move it to src/app.py, please.
    Files:
    - src/app.py
    Facts:
    - We use uv 0.5.
    """
    notes = _once(noted(parts))
    return _written(notes, target) if notes else ""


def hand_over(parts: Sequence[Part], target: int) -> str:
    """Return the same under the headings of :data:`HANDOFF`: all seven, also what is empty.

    Where the target has no room for them, it is as :func:`extract` tells it.

    Args:
        parts: What was said, in order; summaries among it.
        target: How many tokens that may cost, by :func:`engramdown.tokens.estimate_tokens`.
    """
    notes = _once(noted(parts))
    room = target * _FINE - estimate_tokens(_skeleton({}) * _FINE)
    if not notes or room < target * _FINE // 2:
        return _written(notes, target) if notes else ""
    chosen: dict[str, list[int]] = {}
    sections = _sections(notes)
    for at in _ranked(notes, target):
        cost = estimate_tokens(f"- {notes[at].text}\n" * _FINE)
        if cost <= room:
            room -= cost
            chosen.setdefault(sections[at], []).append(at)
    told = {name: [notes[at].text for at in sorted(found)] for name, found in chosen.items()}
    return _skeleton(told).rstrip("\n")


def _skeleton(told: Mapping[str, Sequence[str]]) -> str:
    """Return the seven sections with what is told under each."""
    return "".join(
        f"## {name}\n" + "".join(f"- {text}\n" for text in told.get(name) or [_NOTHING])
        for name in HANDOFF
    )


def _sections(notes: Sequence[Note]) -> list[str]:
    """Return under which heading of a handoff each note stands."""
    facts = [at for at, note in enumerate(notes) if note.heading == "Facts"]
    now = set(facts[-_NOW:])
    return [
        "Goal"
        if note.worth >= GOAL
        else "Current State"
        if at in now
        else _SECTIONS.get(note.heading, "Progress")
        for at, note in enumerate(notes)
    ]


# ---- what is chosen ----

# Where in a handoff a line stands; what was asked later, and what was true before, is progress.
_SECTIONS: Final = {
    "Decisions": "Key Decisions", "Files": "Files Changed", "Errors": "Blockers and Gotchas",
    "Questions": "Next Steps",
}  # fmt: skip
_NOTHING: Final = "(none)"
# So many of the newest facts tell how things stand.
_NOW: Final = 3

# What a line is worth, by its heading and its words.
_WORTH: Final = {
    "Asked": 2.0, "Decisions": 3.0, "Files": 1.5, "Errors": 2.5, "Questions": 2.5, "Facts": 1.0,
}  # fmt: skip
_NUMBER, _NAME, _LATE = 1.5, 0.7, 1.0
# A goal that costs more than one part in so many of the summary goes before no other line.
_LEAST_ROOM: Final = 4
# Short lines are worth their room, but not to the last token.
_EASE: Final = 12
# A text of so many copies costs so many times as much, whatever is rounded.
_FINE: Final = 12
# What is no line of a summary, and what says that there is none.
_PASSED: Final = re.compile(r"\[cut here\b|expand for details\b|none\W*\Z|\(none\)", re.IGNORECASE)
# Words that stand under several headings stay under the first of these.
_TELLING: Final = ("Files", "Decisions", "Questions", "Errors", "Asked", "Facts")


def _once(notes: Iterable[Note]) -> list[Note]:
    """Return notes whose words stand only once, where they are newest, with all their weight."""
    found: dict[str, Note] = {}
    for note in notes:
        if _PASSED.match(note.text):
            continue
        key = note.text if note.heading == "Files" else fold(note.text)
        older = found.pop(key, note)
        heading = min(older.heading, note.heading, key=_TELLING.index)
        found[key] = Note(heading, note.text, max(older.worth, note.worth))
    return list(found.values())


def _written(notes: Sequence[Note], target: int) -> str:
    room = target * _FINE + estimate_tokens("\n" * _FINE)
    chosen: dict[str, list[int]] = {}
    tail = "" if any(note.heading == "Files" for note in notes) else f"{NO_FILES}\n"
    room -= estimate_tokens(tail * _FINE)
    for at in _ranked(notes, target):
        heading, text = notes[at].heading, notes[at].text
        head = "" if heading in chosen else f"{heading}:\n"
        cost = estimate_tokens(f"{head}- {text}\n" * _FINE)
        if cost <= room:
            room -= cost
            chosen.setdefault(heading, []).append(at)
    lines = []
    for heading in HEADINGS:
        if heading == "Files" and tail and chosen:
            lines.append(NO_FILES)
        if heading in chosen:
            lines.append(f"{heading}:")
            lines += [f"- {notes[at].text}" for at in sorted(chosen[heading])]
    return "\n".join(lines)


def _ranked(notes: Sequence[Note], target: int) -> list[int]:
    """Return which notes are taken first: the best of each heading, then what is worth its room."""
    worth = [_worth(note, at / len(notes), target) for at, note in enumerate(notes)]
    ranked = sorted(range(len(notes)), key=lambda at: (-worth[at], -at))
    best = {notes[at].heading: at for at in reversed(ranked)}
    firsts = set(best.values())
    return sorted(ranked, key=lambda at: at not in firsts)


def _worth(note: Note, late: float, target: int) -> float:
    """Return what a note is worth for each token that it costs."""
    cost = estimate_tokens(note.text * _FINE) / _FINE
    more = note.worth if cost * _LEAST_ROOM <= target else min(note.worth, OF_A_USER)
    worth = _WORTH[note.heading] + more + _LATE * late
    if note.heading != "Files":
        worth += _NUMBER * tells(note.text) + _NAME * names(note.text)
    return worth / (_EASE + cost)
