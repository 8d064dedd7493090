"""Facts out of conversations that ended, by a model, where it is worth it; off unless set.

Promises: whether a model is asked is decided without one; what it finds goes through the gate like
everything else, so what contradicts a person waits for them, and what is known already is at most
surer; it is kept until it is in memory, so that a crash costs no second call; no sleep runs on the
scope meanwhile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from engramdown.consolidation.facts import JOB, find_facts, worth_showing
from engramdown.cortex.reinforcing import reinforced
from engramdown.cortex.work_asking import Questions
from engramdown.cortex.work_kinds import Next
from engramdown.engram import Scope
from engramdown.episodes.forget import in_hand
from engramdown.episodes.memory import EpisodicMemory
from engramdown.errors import StoreError
from engramdown.gate.model_runs import prompts_for
from engramdown.hippocampus.git_state import known_to_git
from engramdown.sleep.progress import WORK, Mark, SleepState
from engramdown.sleep.reports import Deed, Kind, SleepSummary, WorkSummary
from engramdown.sleep.steps import Night, Place, Steps
from engramdown.storage.disk import Disk
from engramdown.storage.locks import SleepLock
from engramdown.transcripts.sessions import SessionInfo, Sessions

if TYPE_CHECKING:
    from engramdown.gate.scopes import Scopes
    from engramdown.models.port import LanguageModel

__all__ = ["Facts"]

_SECONDS: Final = 30.0
"""So long one call may take: there is little to read."""


class Facts:
    """The facts of one round; see :class:`engramdown.cortex.work_kinds.Work`."""

    what: Final[Kind] = "facts"

    def __init__(
        self,
        scopes: Scopes,
        memory: EpisodicMemory,
        state: SleepState,
        questions: Questions,
        summary: WorkSummary,
    ) -> None:
        """Look for facts in the sessions of ``memory``."""
        self._scopes = scopes
        self._root = memory.folder.parent
        self._sessions = Sessions(memory.folder, Disk())
        self._state = state
        self._questions = questions
        self._summary = summary
        self._night = Night(scopes, questions.asking, SleepSummary())
        self.busy = ""

    def mark(self, info: SessionInfo) -> Mark | None:
        """Return what counts as done; ``None`` if it runs, or an assistant began it."""
        if not info.ended or info.parent:
            return None
        return Mark(JOB, info.id, info.started, info.lines)

    def prepare(self, mark: Mark, info: SessionInfo, *, dry: bool) -> Next:
        """Look whether it is worth it to ask."""
        told = self._steps(self._state).told(JOB, info)
        # Where several people speak nobody knows whose facts they are.
        if told.by_one_user() and worth_showing(told.lines):
            return "ask"
        if not dry:
            self._state.add(mark._replace(outcome="idle"))
        return "nothing"

    def ask(self, mark: Mark, info: SessionInfo) -> Deed | None:
        """Look for facts, and put them into memory or before a person."""
        with SleepLock(self._root).hold() as holder:
            if holder is not None:
                self.busy = str(holder)
                return None
            # Read now that nobody else writes there.
            steps = self._steps(SleepState(self._root))
            receipts = steps.report(JOB).receipts
            before = len(receipts)
            self._finish(steps)
            if steps.state.done(*mark[:3]).seq >= mark.seq:
                return Deed("facts", info.id, receipts=tuple(receipts[before:]))
            model = self._questions.asking.within(_SECONDS).of(JOB)
            return None if model is None else self._learn(steps, info, model)

    def forget_done(self) -> None:
        """Forget what a round had in hand that was killed when all of it was done.

        Raises:
            StoreError: If it cannot be forgotten.
        """
        # Looked at first: a round that finds none leaves no lock.
        if in_hand(self._root, Disk()) and self._is_ours():
            with SleepLock(self._root).hold() as holder:
                if holder is None:
                    self._steps(SleepState(self._root)).forget_done()

    def _learn(self, steps: Steps, info: SessionInfo, model: LanguageModel) -> Deed:
        told = steps.told(JOB, info)
        part = steps.part(JOB, info, told)
        prompts = prompts_for(self._scopes, JOB)
        # Read before anybody is asked: what cannot be read cannot be written either.
        both = (self._scopes.global_hc, self._scopes.project_hc)
        entries = [entry for store in both for entry in store.entries()]
        found = find_facts(info.id, worth_showing(told.lines), model, prompts)
        self._summary.refused += found.refusals
        surer = tuple(each if each.unsaid else reinforced(each, entries) for each in found.engrams)
        report = steps.report(JOB)
        before, problems = len(report.receipts), len(report.problems)
        failed = ""
        try:
            steps.keep(JOB, [part], found._replace(engrams=surer))
        except StoreError as error:
            failed = str(error)  # The next round finishes it, without asking again.
        why = "; ".join(filter(None, [failed, *report.problems[problems:]]))
        receipts = tuple(report.receipts[before:])
        return Deed("facts", info.id, "failed" if why else "done", why, receipts)

    def _finish(self, steps: Steps) -> None:
        """Write what was learned before a crash; not what came with git."""
        if self._is_ours():
            steps.finish()

    def _is_ours(self) -> bool:
        return not known_to_git([self._root / WORK], Disk(durable=False))

    def _steps(self, state: SleepState) -> Steps:
        scope: Scope = next(
            (store.scope for store in self._scopes.stores if store.root == self._root), "project"
        )
        return Steps(self._night, Place(scope, self._sessions, state), singly=True)
