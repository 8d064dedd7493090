"""The background worker: does for sessions what nobody has to wait for, again and again.

Promises: those of :mod:`engramdown.cortex.work_round`, and as a thread those of
:class:`engramdown.sleep.background.Background`; it ends between two steps, and what goes wrong is
kept and told, and the next round is tried all the same. A program that ends without telling it so
loses nothing: a round may be cut short anywhere.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from engramdown.cortex.work_round import Calls, Round
from engramdown.errors import EngramdownError
from engramdown.forks import Event
from engramdown.sleep.background import Background

if TYPE_CHECKING:
    from engramdown.gate.scopes import Scopes
    from engramdown.sleep.reports import Deed, WorkSummary

__all__ = ["Worker", "work_once"]


def work_once(
    scopes: Scopes,
    *,
    dry_run: bool = False,
    should_stop: Callable[[], bool] = lambda: False,
    tell: Callable[[Deed], object] = lambda _: None,
    rest: Callable[[float], object] = time.sleep,
) -> WorkSummary:
    """Do one round: close sessions that nobody ended, write cards, look for facts, summarise.

    Args:
        scopes: Whose transcripts.
        dry_run: Write nothing and ask no model; tell what would be done.
        should_stop: Asked before each step whether to stop.
        tell: Told of each thing that was done, when it is; an error of a file that it raises counts
            as one of the step that it is told of.
        rest: Waits for so many seconds, between two calls of a model.

    Returns:
        What became of everything; what fails is told there.

    Raises:
        SettingsError: If the model of the cortex is none.
    """
    return Round(scopes, Calls(should_stop, tell, rest), dry_run=dry_run).run()


class Worker(Background):
    """Works in a thread; use it as a context manager, or call ``start`` and ``stop``.

    Attributes:
        last: The summary of the round that ended last, or ``None``.
        trouble: What went wrong in the last round, or ``""``.
        rounds: How many rounds ended.
    """

    def __init__(self, scopes: Scopes, every: float | None = None, patience: float = 10) -> None:
        """Prepare to work on the transcripts of ``cortex``.

        Args:
            scopes: Whose transcripts; it is not used by the thread.
            every: How many seconds lie between the end of a round and the next; by default what is
                set, five minutes.
            patience: For how many seconds the end of a ``with`` block waits for a step to end.

        Raises:
            ValueError: If ``every`` is not above 0.
        """
        super().__init__(scopes, "engramdown-worker", patience)
        chosen = scopes.settings.worker.every if every is None else every
        if not chosen > 0:
            raise ValueError(f"every is {every}; give a number of seconds above 0")
        self._every = min(chosen, threading.TIMEOUT_MAX)
        self.last: WorkSummary | None = None
        self.rounds = 0

    def _work(self, scopes: Scopes, stopping: Event) -> None:
        while not stopping.is_set():
            try:
                self.last = work_once(scopes, should_stop=stopping.is_set, rest=stopping.wait)
                self.trouble = self.last.trouble
            except (EngramdownError, OSError) as error:
                self.trouble = str(error)
            finally:
                self.rounds += 1
            stopping.wait(self._every)
