"""Summaries of conversations that are idle, so that nobody waits for them who goes on.

Promises: a conversation that ended as somebody ended it is left alone, and so is one for which
summaries are only made when a person asks; what is written is what the conversation itself would
write, in its place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from engramdown.clock import nanoseconds
from engramdown.consolidation.summaries import MANUAL
from engramdown.context.builder import ContextBuilder
from engramdown.conversation.conversations import Conversations
from engramdown.cortex.work_asking import Questions
from engramdown.cortex.work_kinds import Next
from engramdown.sleep.progress import Mark, SleepState
from engramdown.sleep.reports import Deed, Kind
from engramdown.transcripts.episode import stamp_of
from engramdown.transcripts.sessions import SessionInfo

if TYPE_CHECKING:
    from engramdown.gate.scopes import Scopes

__all__ = ["Idle"]

_JOB: Final = "summary"
_MINUTE: Final = 60_000_000_000
_DAY: Final = 24 * 60 * _MINUTE
# Nobody meant these as an end: who comes back goes on.
_UNMEANT: Final = frozenset({"crash_recovery", "idle_timeout", "shutdown"})


class Idle:
    """The idle conversations of one round; see :class:`engramdown.cortex.work_kinds.Work`."""

    what: Final[Kind] = "summary"
    busy = ""

    def __init__(self, scopes: Scopes, state: SleepState, questions: Questions) -> None:
        """Summarise conversations of ``cortex``, at the cost of the round."""
        self._conversations = Conversations(ContextBuilder(scopes))
        self._questions = questions
        self._state = state
        self._settings = scopes.settings.worker

    @classmethod
    def is_wanted(cls, scopes: Scopes) -> bool:
        """Whether any conversation is summarised of our own accord."""
        chosen = scopes.settings
        return chosen.worker.idle_minutes > 0 and chosen.conversation.max_tokens != MANUAL

    def mark(self, info: SessionInfo) -> Mark | None:
        """Return what counts as done; ``None`` if it is not idle, or nobody goes on with it."""
        now = nanoseconds()
        silent = info.last <= stamp_of(now - int(self._settings.idle_minutes * _MINUTE))
        lately = info.last >= stamp_of(now - _DAY)
        may_go_on = not info.ended or (info.reason in _UNMEANT and lately)
        if not silent or not may_go_on or info.parent:
            return None
        return Mark(_JOB, info.id, info.started, info.lines)

    def prepare(self, mark: Mark, info: SessionInfo, *, dry: bool) -> Next:
        """Look whether there is enough that no summary covers."""
        if self._conversations.get(info.id).uncovered >= max(self._settings.idle_messages, 1):
            return "ask"
        if not dry:
            self._state.add(mark._replace(outcome="idle"))
        return "nothing"

    def ask(self, mark: Mark, info: SessionInfo) -> Deed | None:
        """Summarise what is older than the newest messages."""
        done = self._conversations.get(info.id).compact(asking=self._questions.asking)
        if not done.gists:
            # There is not enough for a summary, or somebody else was faster; until it goes on.
            self._state.add(mark._replace(outcome="idle"))
            return None
        if self._conversations.get(info.id).uncovered < max(self._settings.idle_messages, 1):
            self._state.add(mark)
        return Deed("summary", info.id, messages=done.messages)
