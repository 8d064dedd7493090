"""Ctrl-C in a turn: it ends the wait for a model, and cuts nothing short that is being written.

Promises: a first Ctrl-C is felt where a turn waits, or as soon as it does; a second one at once.
Outside the main thread, where Python hears no Ctrl-C, nothing is changed.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any, Self

__all__ = ["Interrupts"]


class Interrupts:
    """Holds Ctrl-C back while it is entered; a context manager, once after the other."""

    def __init__(self) -> None:
        """Hold nothing back yet."""
        self._asked = self._waits = False
        self._before: Callable[[int, FrameType | None], Any] | int | None = None

    def __enter__(self) -> Self:
        """Begin to hold Ctrl-C back."""
        self._asked = self._waits = False
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._hear)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Leave Ctrl-C to whom it was left to before; one that nobody waited for is over."""
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
            self._before = None

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Let a Ctrl-C end what is done now, also one that came shortly before.

        Raises:
            KeyboardInterrupt: If it does.
        """
        self._waits = True
        try:
            if self._asked:
                raise KeyboardInterrupt
            yield
        finally:
            self._waits = False

    def _hear(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        if self._waits or self._asked:
            raise KeyboardInterrupt
        self._asked = True
