"""Rows at the bottom of a terminal that are drawn again while they change, and then go.

Promises: they leave nothing behind when the terminal becomes narrower or wider, when somebody types
into them, and when the program is stopped by Ctrl-Z and goes on; what stands above them is not
touched. The terminal is as it was when they are gone.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from engramdown.cli.layout import cells
from engramdown.cli.process import terminal_columns
from engramdown.cli.stopping import stop_now, stopped_by, without_echo
from engramdown.forks import Event, RLock

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.segment import Segment


# To draw with each piece would be slower than some models.
_PAUSE: Final = 1 / 12
# These cut what is too long for them, or leave it outside of the window.
_CUTS: Final = ("XTERM_VERSION", "STY")


class Preview:
    """What is to be seen for now, until :meth:`hide`."""

    def __init__(self, console: Console, width: Callable[[], int]) -> None:
        """Draw on ``console``, in as many columns as ``width`` says at that moment."""
        self._console = console
        self._width = width
        # Ctrl-Z may come in the middle of whatever is done here.
        self._lock = RLock()
        self._what: RenderableType | None = None
        self._is_new = False
        self._drawn: list[str] = []
        self._columns = 0
        self._ends = Event()
        self._undo: contextlib.ExitStack | None = None

    def show(self, what: RenderableType) -> None:
        """Draw this now, if nothing is drawn yet, and else soon."""
        with self._lock:
            self._what, self._is_new = what, True
            if self._undo is None:
                self._begin()

    def hide(self) -> None:
        """Leave the terminal as if nothing had been drawn."""
        with self._lock:
            self._what = None
            self._end()

    def _begin(self) -> None:
        self._undo = contextlib.ExitStack()
        self._undo.enter_context(without_echo())
        self._undo.enter_context(stopped_by(self._stop))
        self._draw()
        self._ends = Event()
        drawing = threading.Thread(target=self._go_on, args=(self._ends,), daemon=True)
        drawing.start()

    def _end(self) -> None:
        if self._undo is None:
            return
        self._ends.set()
        with self._console:
            self._erase()
        self._undo.close()
        self._undo = None

    def _stop(self) -> None:
        """Make room for the shell, and come back below what it said."""
        with self._lock:
            what = self._what
            self._end()
            stop_now()
            if what is not None:
                self.show(what)

    def _go_on(self, ends: Event) -> None:
        seen = self._columns
        while not ends.wait(_PAUSE):
            before, seen = seen, terminal_columns()
            # While somebody pulls at the window, what is measured does not hold until it is drawn.
            if seen != before:
                continue
            with self._lock:
                if not ends.is_set() and (self._is_new or seen != self._columns):
                    self._draw()

    def _draw(self) -> None:
        self._console.width = self._width()
        rows = self._console.render_lines(self._what or "", pad=False)
        # One write: whoever looks sees the old rows, or the new ones.
        with self._console:
            self._erase()
            self._console.print(_Rows(rows), end="")
            self._drawn = ["".join(part.text for part in row) for row in rows]
        self._columns, self._is_new = terminal_columns(), False

    def _erase(self) -> None:
        from rich.control import Control
        from rich.segment import ControlType

        wide = terminal_columns() if wraps_again(os.environ) else 0
        # What was pushed out of the window at its top cannot be reached.
        count = min(rows_taken(self._drawn, wide), self._console.height - 1)
        if self._drawn:
            clear = (ControlType.ERASE_IN_LINE, 2)
            above = ((ControlType.CURSOR_UP, 1), clear) * count
            self._console.control(Control(ControlType.CARRIAGE_RETURN, clear, *above))
        self._drawn = []


class _Rows:
    """Rows that are laid out already; below them the cursor waits in a row of its own."""

    def __init__(self, rows: Sequence[Sequence[Segment]]) -> None:
        self._rows = rows

    def __rich_console__(self, console: object, options: object) -> Iterator[Segment]:
        from rich.segment import Segment

        del console, options
        for row in self._rows:
            yield from row
            yield Segment.line()


def rows_taken(drawn: Sequence[str], columns: int) -> int:
    """Return how many rows of a terminal these take when it has so many columns; 0: no matter.

    >>> rows_taken(["twelve cells", "", "日本語"], 5)
    6
    """
    return sum(_rows(text, columns) if columns > 1 else 1 for text in drawn)


def wraps_again(env: Mapping[str, str]) -> bool:
    """Return whether a terminal of this environment wraps anew what it shows when it is resized.

    Nearly all do; to believe it of one that does not would take away what stands above.
    """
    if "TMUX" in env:
        return True
    return env.get("TERM") != "linux" and not any(name in env for name in _CUTS)


def _rows(text: str, columns: int) -> int:
    rows, used = 1, 0
    for char in text:
        wide = cells(char)
        if used + wide > columns:
            rows, used = rows + 1, 0
        used += wide
    return rows
