"""A bar that shows how far long work has come.

Promises: shown only to a person at a terminal, on stderr; gone when the work is done; rich is
loaded only then.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from engramdown.cli.process import is_terminal


@contextmanager
def bar(title: str, total: int, *, uneven: bool = False) -> Iterator[Callable[[int], object]]:
    """Show a bar for the length of a ``with`` block; yield what moves it on by a number.

    Args:
        title: What is done.
        total: How much there is to do.
        uneven: Whether its parts take too differently long to foretell when it is done: then it
            shows how long it has taken, and that it goes on.
    """
    if not is_terminal(sys.stderr):
        yield _ignore
        return
    from rich.console import Console
    from rich.progress import Progress, TimeElapsedColumn

    columns = Progress.get_default_columns()
    if uneven:
        columns = (*columns[:-1], TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(title, total=total)
        yield lambda count: progress.advance(task, count)


def _ignore(count: int) -> None:
    del count
