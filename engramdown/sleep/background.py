"""Runs work in a thread beside a long-running program.

The thread uses stores of its own, so that it shares none with the program. It stops between two
steps, and a program that exits without stopping it loses nothing.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Self

from engramdown.errors import EngramdownError
from engramdown.forks import Event, in_child

if TYPE_CHECKING:
    from engramdown.gate.scopes import Scopes


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


class Repeating(Background):
    """Works in rounds with a rest after each.

    Attributes:
        trouble: What went wrong in the last round, or ``""``.
        rounds: How many rounds have ended.
    """

    def __init__(self, scopes: Scopes, name: str, patience: float, every: float) -> None:
        """Prepare to work on ``scopes``, and to rest for ``every`` seconds after a round."""
        super().__init__(scopes, name, patience)
        self._every = every
        self.rounds = 0

    def _work(self, scopes: Scopes, stopping: Event) -> None:
        while not stopping.is_set():
            try:
                self.trouble = self._round(scopes, stopping)
            except (EngramdownError, OSError) as error:
                self.trouble = str(error)
            finally:
                self.rounds += 1
            stopping.wait(self._every)

    @abstractmethod
    def _round(self, scopes: Scopes, stopping: Event) -> str:
        """Do one round, and return what went wrong in it, or ``""``."""
