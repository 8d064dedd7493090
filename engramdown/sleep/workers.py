"""Starts what runs beside a long-running program: the worker, sleep, and watching."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from engramdown.errors import SessionNotFoundError
from engramdown.forks import Event
from engramdown.gate.scopes import Scopes
from engramdown.sleep.background import Repeating
from engramdown.sleep.sleep import Sleep
from engramdown.storage.locks import one_call

if TYPE_CHECKING:
    from engramdown.episodes.card import Card
    from engramdown.sleep.steps import SleepSummary
    from engramdown.sleep.watcher import News, Watching
    from engramdown.sleep.worker import Worker


class Sleeper(Repeating):
    """Sleeps in a thread; use it as a context manager, or call ``start`` and ``stop``.

    Attributes:
        last: The summary of the last finished sleep, or ``None``.
        trouble: Why the last sleep ended with an error, or ``""``.
    """

    def __init__(self, scopes: Scopes, every: float = 3600, patience: float = 10) -> None:
        """Prepare to sleep on ``scopes``.

        Args:
            scopes: The memory to work on; the thread opens its own copy.
            every: How many seconds to wait between the end of a sleep and the next.
            patience: How many seconds the end of a ``with`` block waits for a step to end.
        """
        super().__init__(scopes, "engramdown-sleep", patience, every)
        self.last: SleepSummary | None = None

    @property
    def slept(self) -> int:
        """How many sleeps have ended."""
        return self.rounds

    def _round(self, scopes: Scopes, stopping: Event) -> str:
        with one_call():
            self.last = Sleep(scopes, should_stop=stopping.is_set).run()
        return "; ".join(self.last.failed.values())


class Workers:
    """Starts work in the background on two scopes."""

    def __init__(self, scopes: Scopes) -> None:
        """Work on ``scopes``."""
        self._scopes = scopes

    def __call__(self, every: float | None = None, patience: float = 10) -> Worker:
        """Return a context manager that does routine work while a program runs.

        It closes sessions that nobody ended, writes cards, looks for facts if that is set, and
        summarises idle conversations.

        Args:
            every: How many seconds to wait between the end of a round and the next; by default as
                set, five minutes.
            patience: How many seconds the end of a ``with`` block waits for a step to end.

        Raises:
            ValueError: If ``every`` is not above 0.
        """
        from engramdown.sleep.worker import Worker

        return Worker(self._scopes, every, patience)

    def sleeper(self, every: float = 3600, patience: float = 10) -> Sleeper:
        """Return a context manager that sleeps in the background while a program runs.

        Args:
            every: How many seconds to wait between the end of a sleep and the next.
            patience: How many seconds the end of a ``with`` block waits for a step to end.
        """
        return Sleeper(self._scopes, every, patience)

    def watch(self, on_change: Callable[[list[News]], object]) -> Watching:
        """Return a context manager that watches memory while a program runs.

        It takes in hand edits as they happen, and carries out ticked lines.

        Args:
            on_change: Called with what happened, in a thread of its own.

        Raises:
            StoreError: If no store has files.
        """
        from engramdown.sleep.watcher import Watching

        return Watching(self._scopes, on_change)

    def fill_card(self, session: str) -> bool:
        """Ask the model what a session was about, and keep the answer for the session's card.

        Args:
            session: The id of the session.

        Returns:
            Whether the card has the answer now. It has not if lines were taken back meanwhile, or
            if none may be shown.

        Raises:
            ModelError: If there is no model, or its answer has another form or gives orders.
            SessionNotFoundError: If there is no such session.
            StoreError: If the answer could not be kept.
        """
        from engramdown.sleep.session_cards import fill_card

        if self._scopes.episodes is None:
            raise SessionNotFoundError(session, "a scope without files")
        return fill_card(self._scopes, self._scopes.episodes, session)

    def on_card(self, callback: Callable[[Card], object]) -> None:
        """Call ``callback`` with each card that a model fills in, as soon as it is on the disk.

        The call comes from the thread that made the card, which may be the worker's or the
        sleeper's. If it raises, that becomes a ``RuntimeWarning``, and the card stays.

        Example:
            >>> import tempfile, engramdown
            >>> cortex = engramdown.Cortex.open(tempfile.mkdtemp(), tempfile.mkdtemp())
            >>> cortex.worker.on_card(lambda card: print(card.title, card.tags))
        """
        self._scopes.on_card(callback)
