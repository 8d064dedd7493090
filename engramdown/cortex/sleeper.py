"""A background worker that sleeps from time to time, for programs that run for long.

Promises: those of :class:`engramdown.sleep.background.Background`; it ends between two steps, and
what goes wrong is kept and told, and the next sleep is tried all the same. A program that ends
without telling it so loses nothing: a sleep may be cut short anywhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engramdown.errors import EngramdownError
from engramdown.forks import Event
from engramdown.sleep.background import Background
from engramdown.sleep.sleep import Sleep
from engramdown.storage.locks import one_call

if TYPE_CHECKING:
    from engramdown.gate.scopes import Scopes
    from engramdown.sleep.reports import SleepSummary

__all__ = ["Sleeper"]


class Sleeper(Background):
    """Sleeps in a thread; use it as a context manager, or call ``start`` and ``stop``.

    Attributes:
        last: The summary of the sleep that ended last, or ``None``.
        trouble: Why the last sleep ended with an error, or ``""``.
        slept: How many sleeps ended.
    """

    def __init__(self, scopes: Scopes, every: float = 3600, patience: float = 10) -> None:
        """Prepare to sleep on the scopes of ``cortex``.

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
