"""What a library wants to keep and no disk has yet, for all who have the session open.

Promises: of one session all in a process have the same, while anybody has it open or something
waits; what waits in many sessions has a limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final
from weakref import WeakKeyDictionary, WeakValueDictionary

from engramdown.episodes.episode import Episode
from engramdown.episodes.memory import EpisodicMemory
from engramdown.forks import Lock
from engramdown.integrations.lines import Entry

__all__ = ["Unwritten", "Waits", "unwritten_of"]

_MOST_SESSIONS: Final = 1_000
_GUARD: Final = Lock()


@dataclass(slots=True)
class Waits:
    """A line that is not in the file yet.

    Attributes:
        role: Of the line.
        kept: What is kept beside its text.
        shown: What the line will show.
        entry: The value.
        times: Between which times it was to be written.
        is_taken: Whether it was taken back meanwhile.
    """

    role: str
    kept: dict[str, Any]
    shown: str
    entry: Entry
    times: tuple[str, str]
    is_taken: bool = False

    def is_line(self, episode: Episode, kept: dict[str, Any]) -> bool:
        """Whether this is what stands in a line, and not the same words of another time."""
        begun, ended = self.times
        same = (self.role, self.shown, self.kept) == (episode.role, episode.text, kept)
        return same and begun <= episode.ts <= ended


class Unwritten:
    """What waits of one session.

    Attributes:
        lines: The lines, in order.
        popped: The numbers of lines that were taken back, which no line says yet.
    """

    def __init__(self, hold: Callable[[Unwritten], None]) -> None:
        """Begin with nothing; ``hold`` keeps it from being forgotten."""
        self.lines: list[Waits] = []
        self.popped: set[int] = set()
        self._hold = hold

    def add(self, line: Waits) -> None:
        """Let a line wait."""
        self.lines.append(line)
        self._hold(self)

    def pop(self, seqs: Iterable[int]) -> None:
        """Note that lines were taken back."""
        self.popped.update(seqs)
        self._hold(self)


class _Sessions:
    """What waits of the sessions of one scope."""

    def __init__(self) -> None:
        self._known: WeakValueDictionary[tuple[str, str], Unwritten] = WeakValueDictionary()
        self._held: dict[tuple[str, str], Unwritten] = {}

    def of(self, name: tuple[str, str]) -> Unwritten:
        """Return what waits of a session."""

        def hold(each: Unwritten) -> None:
            with _GUARD:
                self._held = {key: old for key, old in self._held.items() if _waits(old)}
                self._held[name] = each
                while len(self._held) > _MOST_SESSIONS:
                    del self._held[next(iter(self._held))]

        return self._known.setdefault(name, Unwritten(hold))


_SESSIONS: Final[WeakKeyDictionary[EpisodicMemory, _Sessions]] = WeakKeyDictionary()


def unwritten_of(episodes: EpisodicMemory | None, session: str, key: str) -> Unwritten:
    """Return what waits of a session, the same for all who keep it for one library.

    Args:
        episodes: The transcripts; where nothing is recorded, everybody has what waits alone.
        session: The id of the session.
        key: What the library is known by.
    """
    if episodes is None or not episodes.settings.enabled:
        return Unwritten(lambda _: None)
    with _GUARD:
        return _SESSIONS.setdefault(episodes, _Sessions()).of((session, key))


def _waits(unwritten: Unwritten) -> bool:
    return bool(unwritten.lines or unwritten.popped)
