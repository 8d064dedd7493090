"""What an assistant does in the running turn, kept until the turn ends and is learned from.

Promises: no I/O and no model; what is kept has a limit, whatever a tool gives back.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from engramdown.conversation.tool_echo import quoted
from engramdown.engram import Engram
from engramdown.episodes.recorder import Said
from engramdown.transcripts.episode import Pointer, as_text

__all__ = ["DONE", "Doing"]

DONE: Final = frozenset({"tool_call", "tool_result", "scratchpad"})
"""The roles of lines that tell what was done."""

_LONGEST: Final = 20_000
_MOST: Final = 500
_BEFORE: Final = 50
# Nothing is noticed in fewer lines.
_FEWEST: Final = 3
_NOTHING: Final[Mapping[str, Any]] = {}


class _Line(NamedTuple):
    """A line of the transcript, cut; see :class:`engramdown.consolidation.actions.Line`."""

    seq: int
    role: str
    text: str
    name: str
    call: str
    error: bool | str
    meta: Mapping[str, Any]


class Doing:
    """What is done in one turn after the other."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._session = ""
        self._lines: deque[_Line] = deque(maxlen=_MOST)
        self._before: deque[str] = deque(maxlen=_BEFORE)

    def add(self, pointer: Pointer, role: str, text: object, said: Said) -> None:
        """Keep a line that was recorded; only what was done counts."""
        if role not in DONE:
            return
        self._session = pointer.session
        self._lines.append(
            _Line(
                pointer.seq,
                role,
                # What is cut is cut before it is looked at.
                as_text(text[:_LONGEST] if isinstance(text, str) else text)[:_LONGEST],
                said.get("name", ""),
                said.get("call", ""),
                said.get("error", False),
                said.get("meta", _NOTHING),
            )
        )

    def given_back(self) -> list[str]:
        """Return what tools gave back in the running turn, each cut.

        What our own looked up, too: a skill, or a line of a transcript, may be anybody's words.
        """
        results = (line for line in self._lines if line.role == "tool_result")
        return [said for line in results if (said := quoted(line.name, line.text))]

    def given_back_before(self) -> list[str]:
        """Return the same of the turns before, the newest of it."""
        return list(self._before)

    def lessons(self) -> list[Engram]:
        """Return what the turn teaches that ends now, and begin the next."""
        lines = list(self._lines)
        self._before.extend(self.given_back())
        self._lines.clear()
        if len(lines) < _FEWEST:
            return []
        from engramdown.consolidation.actions import cells_of
        from engramdown.consolidation.error_lessons import lessons_of_turn

        return lessons_of_turn(cells_of(self._session, lines))
