"""Starts what runs beside a long-running program: the worker, sleep, and watching."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from engramdown.errors import EngramdownError, SessionNotFoundError
from engramdown.forks import Event
from engramdown.gate.scopes import Scopes
from engramdown.sleep.background import Background
from engramdown.sleep.sleep import Sleep
from engramdown.storage.locks import one_call

if TYPE_CHECKING:
    from engramdown.episodes.card import Card
    from engramdown.sleep.steps import SleepSummary
    from engramdown.sleep.watcher import News, Watching
    from engramdown.sleep.worker import Worker


class Workers:
    """Starts what works in the background on two scopes."""

    def __init__(self, scopes: Scopes) -> None:
        """Work on ``scopes``."""
        self._scopes = scopes

    def __call__(self, every: float | None = None, patience: float = 10) -> Worker:
        """Return what does beside a program what nobody has to wait for: a context manager.

        It closes sessions that nobody ended, writes cards, looks for facts if that is set, and
        summarises conversations that are idle.

        Args:
            every: How many seconds lie between the end of a round and the next; by default what is
                set, five minutes.
            patience: For how many seconds the end of a ``with`` block waits for a step to end.

        Raises:
            ValueError: If ``every`` is not above 0.
        """
        from engramdown.sleep.worker import Worker

        return Worker(self._scopes, every, patience)

    def sleeper(self, every: float = 3600, patience: float = 10) -> Sleeper:
        """Return what sleeps in the background while a program runs: a context manager.

        Args:
            every: How many seconds lie between the end of a sleep and the next.
            patience: For how many seconds the end of a ``with`` block waits for a step to end.
        """
        return Sleeper(self._scopes, every, patience)

    def watch(self, on_change: Callable[[list[News]], object]) -> Watching:
        """Return what watches memory while a program runs: a context manager.

        Hand edits are taken in as they happen, and ticked lines carried out.

        Args:
            on_change: Is given what happened, in a thread of its own.

        Raises:
            StoreError: If no store has files.
        """
        from engramdown.sleep.watcher import Watching

        return Watching(self._scopes, on_change)

    def fill_card(self, session: str) -> bool:
        """Ask the model what a session was about, and keep it for the session's card.

        Args:
            session: The id of the session.

        Returns:
            Whether the card has it now; not if lines were taken back meanwhile, or none may be
            shown.

        Raises:
            ModelError: If there is no model, it gives no answer of the form, or one that gives
                orders.
            SessionNotFoundError: If there is no such session.
            StoreError: If it could not be kept.
        """
        from engramdown.sleep.session_cards import fill_card

        if self._scopes.episodes is None:
            raise SessionNotFoundError(session, "a scope without files")
        return fill_card(self._scopes, self._scopes.episodes, session)

    def on_card(self, callback: Callable[[Card], object]) -> None:
        """Call ``callback`` with each card that a model fills in, as soon as it is on the disk.

        It is called in the thread that made the card, also by the worker and the sleeper.
        An exception of it stops nothing: it becomes a ``RuntimeWarning``, and the card stays.

        Example:
            >>> import tempfile, engramdown
            >>> cortex = engramdown.Cortex.open(tempfile.mkdtemp(), tempfile.mkdtemp())
            >>> cortex.worker.on_card(lambda card: print(card.title, card.tags))
        """
        self._scopes.on_card(callback)


# A background worker that sleeps from time to time. It stops between two steps, keeps what went
# wrong, and tries the next sleep all the same. A program that exits without stopping it loses
# nothing: a sleep may be cut short anywhere.


class Sleeper(Background):
    """Sleeps in a thread; use it as a context manager, or call ``start`` and ``stop``.

    Attributes:
        last: The summary of the sleep that ended last, or ``None``.
        trouble: Why the last sleep ended with an error, or ``""``.
        slept: How many sleeps ended.
    """

    def __init__(self, scopes: Scopes, every: float = 3600, patience: float = 10) -> None:
        """Prepare to sleep on ``scopes``.

        Args:
            scopes: Whose memory it is about; it is not used by the thread.
            every: How many seconds lie between the end of a sleep and the next.
            patience: For how many seconds the end of a ``with`` block waits for a step to end.
        """
        super().__init__(scopes, "engramdown-sleep", patience)
        self._every = every
        self.last: SleepSummary | None = None
        self.slept = 0

    def _work(self, scopes: Scopes, stopping: Event) -> None:
        while not stopping.is_set():
            try:
                with one_call():
                    self.last = Sleep(scopes, should_stop=stopping.is_set).run()
                self.trouble = "; ".join(self.last.failed.values())
            except (EngramdownError, OSError) as error:
                self.trouble = str(error)
            finally:
                self.slept += 1
            stopping.wait(self._every)
