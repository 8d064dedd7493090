"""What is repaired without a person: planned first, and carried out exactly as it was planned.

Memory files are repaired in steps that can be undone; transcripts are tidied.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Final

from engramdown.clock import today
from engramdown.doctor.checks import repair
from engramdown.doctor.recordings import plan_tidying, tidy
from engramdown.gate.scopes import Scopes
from engramdown.hippocampus.changeset import FileChange, new_id

# How much of a line of a transcript is shown, and how much of that before a hidden secret.
_BEFORE_SECRET: Final = 40
_SHOWN: Final = 100


class Mending:
    """The repairs that are due in both scopes.

    Attributes:
        changes: What they do to memory files.
        tidied: What they do to transcripts.
    """

    def __init__(self, scopes: Scopes) -> None:
        """Plan them; nothing is written.

        Raises:
            StoreError: If a store has no files.
        """
        self._scopes = scopes
        # The same new ids each time: what is written is what the plan shows.
        shown, self._checked, self._written = itertools.tee(iter(new_id, ""), 3)
        self._episodes = {
            store.root: scopes.settings.of(store.scope).episodes for store in scopes.stores
        }
        self.changes = self._plan(shown)
        plans = (plan_tidying(root, settings) for root, settings in self._episodes.items())
        self.tidied = [plan for plan in plans if plan]

    def __bool__(self) -> bool:
        """Return whether anything is due."""
        return bool(self.changes or self.tidied)

    def carry_out(self) -> bool:
        """Carry the plan out; return whether that was possible.

        It is not if the files changed since; then nothing is written. It can be carried out once.

        Raises:
            StoreError: If something could not be written; earlier repairs stay.
        """
        if self._plan(self._checked) != self.changes:
            return False
        self._repair(self._scopes.reopened(), self._written)
        for plan in self.tidied:
            tidy([plan], self._episodes[plan.root])
        return True

    def sentences(self) -> Iterator[str]:
        """Yield a sentence for each repair in the transcripts."""
        for each in self.tidied:
            for session in each.open:
                yield f"End the session {session}, with the time of its last line"
            for path, why in each.told:
                yield f"Remove {path.name}, which says that {why}"
            for session, lines in each.telling:
                for seq, text in lines:
                    yield f"Hide the secret in {session}#{seq}{_without_secret(text)}"

    def _plan(self, ids: Iterator[str]) -> list[FileChange]:
        trial = self._scopes.reopened()
        trial.dry_run()
        self._repair(trial, ids)
        return [each for each in trial.planned_changes() if each.before != each.after]

    @staticmethod
    def _repair(scopes: Scopes, ids: Iterator[str]) -> None:
        for store in scopes.stores:
            repair(store, today(), ids.__next__)


def _without_secret(text: str) -> str:
    """Return the text of a line around the secret that is hidden in it."""
    mark = text.find("[redacted: ")
    if mark < 0:
        return ", in the whole text beside it"
    at = max(0, mark - _BEFORE_SECRET)
    return f": {' '.join(text[at : at + _SHOWN].split())}"
