"""What goes on beside a program that runs for long: the worker, sleep, and watching memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from engramdown.errors import SessionNotFoundError
from engramdown.gate.scopes import Scopes

if TYPE_CHECKING:
    from engramdown.cortex.sleeper import Sleeper
    from engramdown.episodes.card import Card
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
        from engramdown.cortex.sleeper import Sleeper

        return Sleeper(self._scopes, every, patience)

    def watch(self, on_change: Callable[[list[News]], object], *, poll: bool = False) -> Watching:
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
