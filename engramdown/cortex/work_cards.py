"""Cards for the sessions that ended and have none, by a model.

Promises: an empty session is known as such without a model; where a person has written a page
nobody is asked; a card that stands already, as a process died right behind it, is not asked for
again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from engramdown.consolidation.cards import lines_to_show
from engramdown.cortex.work_asking import Questions
from engramdown.cortex.work_kinds import Next
from engramdown.episodes.card import CardFiles
from engramdown.episodes.memory import EpisodicMemory
from engramdown.sleep.progress import Mark, SleepState
from engramdown.sleep.reports import Deed, Kind
from engramdown.sleep.session_cards import JOB, fill_card
from engramdown.storage.disk import Disk
from engramdown.transcripts.sessions import SessionInfo
from engramdown.transcripts.visibility import visible

if TYPE_CHECKING:
    from engramdown.gate.scopes import Scopes

__all__ = ["Cards"]


class Cards:
    """The cards of one round; see :class:`engramdown.cortex.work_kinds.Work`."""

    what: Final[Kind] = "card"
    busy = ""

    def __init__(
        self, scopes: Scopes, memory: EpisodicMemory, state: SleepState, questions: Questions
    ) -> None:
        """Write the cards of the sessions of ``memory``."""
        self._scopes = scopes
        self._memory = memory
        self._state = state
        self._questions = questions
        self._disk = Disk()
        self._pages = CardFiles(memory.folder.parent, self._disk)

    def mark(self, info: SessionInfo) -> Mark | None:
        """Return what counts as done; ``None`` if it runs, or a person has written its page."""
        if not info.ended or self._disk.find(self._pages.path(info.id)) is not None:
            return None
        return Mark(JOB, info.id, info.started, info.lines)

    def prepare(self, mark: Mark, info: SessionInfo, *, dry: bool) -> Next:
        """Look whether there is anything to ask about, and not an answer already."""
        transcript = self._memory.session(info.id)
        if not lines_to_show(visible(transcript.episodes)):
            if not dry:
                self._state.add(mark._replace(outcome="empty"))
            return Deed("empty", info.id, "would" if dry else "done")
        said = self._pages.filled(transcript)
        if said is None or said.ts < info.last:
            return "ask"
        if not dry:
            self._state.add(mark)
        return "nothing"

    def ask(self, mark: Mark, info: SessionInfo) -> Deed | None:
        """Write the card."""
        if not fill_card(self._scopes, self._memory, info.id, self._questions.asking):
            return None  # Lines were taken back meanwhile: it is another session now.
        self._state.add(mark)
        return Deed("card", info.id, text=self._memory.card(info.id).title)
