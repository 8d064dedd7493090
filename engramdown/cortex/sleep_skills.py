"""Procedures that sleep notices, and proposes as skills.

Promises: nothing is written but lines of ``pending.md``, and never without a person after that;
what was proposed once is not proposed again, whatever became of it; a model is asked about a few at
most, within the limits of every job, and where it fails what was done is proposed as it was done.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from engramdown.consolidation.actions import cells_of
from engramdown.consolidation.procedures import (
    JOB,
    Procedure,
    Step,
    Wording,
    alike,
    asked_for,
    repeated,
    steps_of,
    write_down,
)
from engramdown.context.skill_reader import Skillbook
from engramdown.engram import pointers
from engramdown.errors import (
    InvalidSkillError,
    ModelError,
    SessionNotFoundError,
    SkillRefusedError,
)
from engramdown.gate.model_runs import prompts_for
from engramdown.gate.pending import Pending
from engramdown.gate.pending_file import DraftSkillDrafts, FileQueue, skill_question
from engramdown.gate.receipts import Receipt
from engramdown.hippocampus.changeset import Act
from engramdown.hippocampus.files import step_group
from engramdown.hippocampus.store import Hippocampus
from engramdown.skills.validation import check_description, check_label, label_of
from engramdown.sleep.jobs import Told
from engramdown.sleep.progress import Mark
from engramdown.sleep.steps import Night, Place
from engramdown.transcripts.sessions import SessionInfo
from engramdown.transcripts.visibility import visible, without_repeats

__all__ = ["JOB", "SkillProposals"]

MOST: Final = 2
"""So many skills one sleep proposes."""

_SESSIONS: Final = 40
_WHY_ASKED: Final = "you asked for it to be kept"
_WHY_REPEATED: Final = "the same was done in {count} sessions"


class _Read(NamedTuple):
    """What one session tells."""

    steps: list[Step]
    asked: list[Procedure]


class SkillProposals:
    """The skills that one sleep proposes in one place."""

    def __init__(self, night: Night, place: Place, store: Hippocampus) -> None:
        """Look at the sessions of ``place``, and propose in ``store``."""
        self._night = night
        self._place = place
        self._store = store
        self._queue = FileQueue(store)

    def look(self, infos: Sequence[SessionInfo]) -> None:
        """Propose what is new in the sessions that have ended, if any has since the last time.

        Raises:
            StoreError: If it could not be written.
        """
        infos = [*infos][-_SESSIONS:]
        digest = _digest(infos)
        if not infos or self._place.state.done(JOB).digest == digest:
            return
        read = {info.id: self._read(info) for info in infos}
        found = [procedure for each in read.values() for procedure in each.asked]
        found += repeated({session: each.steps for session, each in read.items()})
        new = [*self._new(found)][:MOST]
        for procedure in new:
            self._propose(procedure)
        if not self._night.dry:
            self._place.state.add(Mark(JOB, digest=digest))

    def _read(self, info: SessionInfo) -> _Read:
        try:
            episodes = self._place.sessions.read(info.id).episodes
        except SessionNotFoundError:
            return _Read([], [])  # It was forgotten meanwhile.
        lines = tuple(without_repeats(line) for line in visible(episodes))
        cells = cells_of(info.id, lines)
        by_user = Told(info.id, lines, info.parent).by_one_user()
        return _Read(steps_of(cells), asked_for(info.id, lines, cells) if by_user else [])

    def _new(self, found: Sequence[Procedure]) -> Iterator[Procedure]:
        """Yield what was not proposed before; unless somebody asks for it, nor nearly so."""
        known = {of for op, of in self._queue.answered() if op == JOB}
        known |= {*self._place.state.done_of(JOB)} - {""}
        for procedure in found:
            steps = procedure.digest.split("-")
            near = [] if procedure.asked else [of for of in known if alike(steps, of.split("-"))]
            if not near and procedure.digest not in known:
                known.add(procedure.digest)
                yield procedure

    def _propose(self, procedure: Procedure) -> None:
        """Let a person decide on a procedure, in a model's words if there is one."""
        report = self._night.summary.report(self._store.scope, JOB)
        wording = self._worded(procedure)
        if wording is not None:
            try:
                item = self._item(procedure, wording)
            except (InvalidSkillError, SkillRefusedError) as error:
                report.problems.append(str(error))
            else:
                waiting = item if self._night.dry else self._waiting(item)
                found = "" if self._night.dry else waiting.id
                receipt = Receipt(waiting.engram, "queued", item.hold, found, self._queue.file)
                report.receipts.append(receipt)
        report.steps += 1
        if not self._night.dry:
            self._place.state.add(Mark(JOB, session=procedure.digest, seq=1))

    def _waiting(self, item: Pending) -> Pending:
        """Let a proposal wait, as a step of this sleep that can be undone."""
        with step_group(Act("sleep", "consolidation", f"{JOB}, {item.of}")):
            return self._queue.add([item])[0]

    def _worded(self, procedure: Procedure) -> Wording | None:
        """Return a procedure in words; ``None`` if a model says that it is not worth keeping."""
        plain = Wording(procedure.name, procedure.description, procedure.body)
        if self._night.why_not or self._night.dry:
            return plain
        model = self._night.asking.of(JOB)
        if model is None:
            return plain
        report = self._night.summary.report(self._store.scope, JOB)
        try:
            prompts = prompts_for(self._night.scopes, JOB, self._store.scope)
            return write_down(procedure, model, prompts)
        except ModelError as error:
            report.problems.append(str(error))
            return plain
        finally:
            self._night.summary.spent = self._night.asking.run.spent

    def _item(self, procedure: Procedure, wording: Wording) -> Pending:
        """Return what waits for a person.

        Raises:
            InvalidSkillError: If no skill can be made of it.
        """
        label = check_label(self._free(label_of(wording.label) or label_of(procedure.name)))
        draft = DraftSkillDrafts(label, check_description(wording.description), wording.body)
        why = _WHY_ASKED if procedure.asked else _WHY_REPEATED.format(count=procedure.sessions)
        return skill_question(
            draft,
            self._store.scope,
            of=procedure.digest,
            origin=pointers(*procedure.pointers),
            why=why,
        )

    def _free(self, label: str) -> str:
        """Return a label that no skill has."""
        known = {each.skill.label for each in Skillbook(self._night.scopes).all.known()}
        numbered = (f"{label[:60]}-{number}" for number in range(2, len(known) + 3))
        return next(each for each in (label, *numbered) if each not in known)


def _digest(infos: Sequence[SessionInfo]) -> str:
    told = [[info.id, info.started, info.lines] for info in infos]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()
