"""What runs in a thread beside a long-running program: the worker, sleep, and watching.

A thread uses stores of its own, so that it shares none with the program. It stops between two
steps, and a program that exits without stopping it loses nothing.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Self

from engramdown.errors import EngramdownError, SessionNotFoundError
from engramdown.forks import Event, in_child
from engramdown.storage.locks import one_call

if TYPE_CHECKING:
    from engramdown.episodes.card import Card
    from engramdown.gate.scopes import Scopes
    from engramdown.sleep.steps import SleepSummary
    from engramdown.sleep.watcher import News, Watching
    from engramdown.sleep.worker import Worker


class Background(ABC):
    """Works in a thread; use it as a context manager, or call ``start`` and ``stop``.

    Attributes:
        trouble: Why the work stands still or ended, or ``""``.
    """

    def __init__(self, scopes: Scopes, name: str, patience: float) -> None:
        """Prepare to work on ``scopes``.

        Args:
            scopes: The memory to work on; the thread opens its own copy.
            name: The name of the thread.
            patience: How many seconds the end of a ``with`` block waits.
        """
        self._scopes = scopes
        self._name = name
        self._patience = patience
        self._stopping = Event()
        self._thread: threading.Thread | None = None
        self.trouble = ""
        in_child(self, Background._begin_child)

    def __enter__(self) -> Self:
        """Start it."""
        return self.start()

    def __exit__(self, *_: object) -> None:
        """Stop it, and wait for that as long as its patience lasts."""
        self.stop(self._patience)

    @property
    def is_running(self) -> bool:
        """Whether it has begun and not ended."""
        return self._thread is not None and self._thread.is_alive()

    def start(self) -> Self:
        """Start the thread, unless it runs already."""
        if not self.is_running:
            # A new event: an old thread that nobody waited for must not wake up again.
            self._stopping = Event()
            # Opened here, so that whoever starts it sees an error in the scopes.
            own = self._scopes.reopened()
            self._thread = threading.Thread(
                target=self._run, args=(own, self._stopping), name=self._name, daemon=True
            )
            self._thread.start()
        return self

    def stop(self, timeout: float | None = None) -> bool:
        """Let the thread finish its current step and end, and wait for that.

        Args:
            timeout: How many seconds to wait; by default as long as it takes, which may be as long
                as a model takes for one answer.

        Returns:
            Whether it has ended.
        """
        self._stopping.set()
        self._wake()
        if self._thread is None:
            return True
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def _begin_child(self) -> None:
        """Forget the thread in a child process: only the parent has it."""
        self._thread = None

    def _run(self, scopes: Scopes, stopping: Event) -> None:
        try:
            self._work(scopes, stopping)
        except BaseException as error:
            # Code of the program's own may raise anything; threading prints it to stderr.
            self.trouble = f"{type(error).__name__}: {error}"
            raise

    @abstractmethod
    def _work(self, scopes: Scopes, stopping: Event) -> None:
        """Work on ``scopes`` until ``stopping`` is set."""

    def _wake(self) -> None:  # noqa: B027 - most wait for nothing else
        """End any wait for something other than ``stopping``."""


class Sleeper(Background):
    """Sleeps in a thread; use it as a context manager, or call ``start`` and ``stop``.

    Attributes:
        last: The summary of the last finished sleep, or ``None``.
        trouble: Why the last sleep ended with an error, or ``""``.
        slept: How many sleeps have ended.
    """

    def __init__(self, scopes: Scopes, every: float = 3600, patience: float = 10) -> None:
        """Prepare to sleep on ``scopes``.

        Args:
            scopes: The memory to work on; the thread opens its own copy.
            every: How many seconds to wait between the end of a sleep and the next.
            patience: How many seconds the end of a ``with`` block waits for a step to end.
        """
        super().__init__(scopes, "engramdown-sleep", patience)
        self._every = every
        self.last: SleepSummary | None = None
        self.slept = 0

    def _work(self, scopes: Scopes, stopping: Event) -> None:
        from engramdown.sleep.sleep import Sleep

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
