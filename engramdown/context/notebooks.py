"""The journal and the working notes of two scopes, as far as a model may see them.

Asking creates nothing, and a dry run writes nothing. What git brought and nobody approved reaches
no model where that is set. A journal that cannot be read becomes a notice and is left out.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Final

from engramdown.errors import StoreError
from engramdown.gate.scopes import Scopes

if TYPE_CHECKING:
    from engramdown.hippocampus.store import Hippocampus
    from engramdown.journal.journal import Journal, Recent
    from engramdown.journal.working_notes import WorkingNotes
    from engramdown.storage.disk import Disk

# The folders in that of a scope: of the journal, and of the notes.
FOLDERS: Final = ("journal", "working")


class Notebooks:
    """The journal and the notes of two scopes."""

    def __init__(self, scopes: Scopes) -> None:
        """Find them beside the stores of ``scopes``."""
        self.scopes = scopes

    @property
    def journal(self) -> Journal:
        """The journal: of the project, or of the global scope where no project can be.

        Raises:
            StoreError: If neither scope has files.
        """
        return self._journal(self._notebook_store())

    def journals(self) -> list[Journal]:
        """Return the journals that there are, the project's first, with what a model may see."""
        # What git brings is hidden if it waits for a person.
        hide = known if self.scopes.settings.pulled == "review" else None
        return [
            self._journal(store, hide)
            for store in reversed(self.scopes.stores)
            if (store.root / FOLDERS[0]).is_dir()
        ]

    def recent_days(self, lookback_days: int = 2, today: date | None = None) -> list[Recent]:
        """Return what a model may see of the last days of the journal, the newest first.

        Args:
            lookback_days: How many days before today.
            today: What day it is, if not the one of the clock.

        Raises:
            ValueError: If ``lookback_days`` is negative.
        """
        # Imported here: most programs keep no journal.
        from engramdown.journal.journal import recent_of

        found: list[Recent] = []
        for journal in self.journals():
            now = today or journal.today()
            try:
                days = journal.lately(lookback_days, now)
                problems = [day.problem for day in days]
                found += recent_of(days, now)
            except StoreError as error:
                problems = [str(error)]
            for problem in filter(None, problems):
                self.scopes.tell(f"could not read the journal: {problem}")
        return sorted(found, key=lambda day: day.date, reverse=True)

    def notes(self, session: str) -> WorkingNotes:
        """Return the notes on a session, which are beside its transcript.

        Args:
            session: Its id.

        Raises:
            InvalidSessionError: If the id is invalid.
            StoreError: If neither scope has files.
        """
        from engramdown.journal.working_notes import WorkingNotes

        store = self._notebook_store()
        episodes = self.scopes.episodes
        return WorkingNotes(
            store.root,
            session,
            disk=self._disk(store),
            lock=None if episodes is None else episodes.recorder.lock,
        )

    def _notebook_store(self) -> Hippocampus:
        """Return the store whose folder also has the transcripts."""
        stores = self.scopes.stores
        if not stores:
            raise StoreError("no scope has files, so there is no place for a journal or notes")
        return stores[0 if self.scopes.closed else -1]

    def _journal(
        self, store: Hippocampus, hide: Callable[[list[Path]], set[Path]] | None = None
    ) -> Journal:
        # Imported here: most programs keep no journal.
        from engramdown.journal.journal import Journal

        settings = self.scopes.settings.of(store.scope)
        journal = Journal(
            store.root,
            zone=settings.timezone,
            disk=self._disk(store),
            lock_timeout=settings.lock_timeout,
            hide=hide,
        )
        if journal.clock.notice:
            self.scopes.tell(journal.clock.notice)
        return journal

    def _disk(self, store: Hippocampus) -> Disk:
        from engramdown.storage.disk import disk_of

        closed = "this is a dry run; nothing is written" if self.scopes.is_dry else ""
        return disk_of(self.scopes.settings.of(store.scope), closed)


def known(paths: list[Path]) -> set[Path]:
    """Return those of some files that git tracks: they may be somebody else's."""
    # Imported here: it reads the index of git.
    from engramdown.hippocampus.git_state import known_to_git
    from engramdown.storage.disk import Disk

    return known_to_git(paths, Disk()) if paths else set()
