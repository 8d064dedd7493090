"""A background worker that sleeps from time to time, for programs that run for long.

Promises: it uses stores of its own, so that no thread of the program shares one with it; it ends
when it is told to, between two steps, and a model that hangs keeps nobody from leaving; what goes
wrong is kept and told, and the next sleep is tried all the same. A program that ends without
telling it so loses nothing: a sleep may be cut short anywhere.
"""

from __future__ import annotations

import threading
from types import TracebackType
from typing import TYPE_CHECKING, Self

from engramdown.errors import EngramdownError

if TYPE_CHECKING:
    from engramdown.cortex.cortex import Cortex
    from engramdown.cortex.sleep_summary import SleepSummary

__all__ = ["Sleeper"]


class Sleeper:
    """Sleeps in a thread; use it as a context manager, or call ``start`` and ``stop``.

    Attributes:
        last: The summary of the sleep that ended last, or ``None``.
        trouble: Why the last sleep ended with an error, or ``""``.
        slept: How many sleeps ended.
    """

    def __init__(self, cortex: Cortex, every: float = 3600, patience: float = 10) -> None:
        """Prepare to sleep on the scopes of ``cortex``.

        Args:
            cortex: Whose memory it is about; it is not used by the thread.
            every: How many seconds lie between the end of a sleep and the next.
            patience: For how many seconds the end of a ``with`` block waits for a step to end.
        """
        self._cortex = cortex
        self._every = every
        self._patience = patience
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self.last: SleepSummary | None = None
        self.trouble = ""
        self.slept = 0

    def __enter__(self) -> Self:
        """Start it."""
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop it, and wait for that as long as its patience lasts."""
        self.stop(self._patience)

    def start(self) -> Self:
        """Start the first sleep, in a thread of its own; once it runs this does nothing."""
        if self._thread is None or not self._thread.is_alive():
            # An event of its own: a thread that was not waited for must not wake up again.
            self._stopping = threading.Event()
            # Opened here, so that what is wrong with the scopes is told to whoever starts it.
            own = self._cortex.reopened()
            self._thread = threading.Thread(
                target=self._work, args=(own, self._stopping), name="engramdown-sleep", daemon=True
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
        if self._thread is None:
            return True
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def _work(self, cortex: Cortex, stopping: threading.Event) -> None:
        while not stopping.is_set():
            try:
                self.last = cortex.sleep(should_stop=stopping.is_set)
                self.trouble = "; ".join(self.last.failed.values())
            except (EngramdownError, OSError) as error:
                self.trouble = str(error)
            except BaseException as error:
                # A model of the program's own may raise anything; threading shows it on stderr.
                self.trouble = f"{type(error).__name__}: {error}"
                raise
            finally:
                self.slept += 1
            stopping.wait(self._every)
