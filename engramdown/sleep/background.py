"""Runs work in a thread beside a long-running program.

It uses stores of its own, so that no thread of the program shares one with it. It stops when told
to, and work that hangs keeps nobody from leaving.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Self

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
            scopes: Whose memory it is about; it is not used by the thread.
            name: What the thread is called.
            patience: For how many seconds the end of a ``with`` block waits.
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
        """Start it in a thread of its own; once it runs this does nothing."""
        if not self.is_running:
            # An event of its own: a thread that was not waited for must not wake up again.
            self._stopping = Event()
            # Opened here, so that what is wrong with the scopes is told to whoever starts it.
            own = self._scopes.reopened()
            self._thread = threading.Thread(
                target=self._run, args=(own, self._stopping), name=self._name, daemon=True
            )
            self._thread.start()
        return self

    def stop(self, timeout: float | None = None) -> bool:
        """Let it end after the step that it is at, and wait for that.

        Args:
            timeout: How long to wait, in seconds; by default as long as it takes, which a model
                can make as long as one answer may take.

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
        """Say in a child process that the thread does not run: only the parent has it."""
        self._thread = None

    def _run(self, scopes: Scopes, stopping: Event) -> None:
        try:
            self._work(scopes, stopping)
        except BaseException as error:
            # What the program itself brought may raise anything; threading shows it on stderr.
            self.trouble = f"{type(error).__name__}: {error}"
            raise

    @abstractmethod
    def _work(self, scopes: Scopes, stopping: Event) -> None:
        """Work on ``cortex`` until ``stopping`` is set."""

    def _wake(self) -> None:  # noqa: B027 - most wait for nothing else
        """End whatever else than ``stopping`` it waits for."""
