"""Several steps of a store that are one errand: a migration, a job of sleep.

Promises: what the journal says of the steps holds for the ``with`` block, in its thread and task.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar

from engramdown.hippocampus.changeset import Act

__all__ = ["on_errand", "running"]

_errand: ContextVar[Act | None] = ContextVar("errand", default=None)


@contextlib.contextmanager
def on_errand(act: Act) -> Iterator[None]:
    """Let every step that is taken in a ``with`` block be ``act``: one errand, several steps."""
    token = _errand.set(act)
    try:
        yield
    finally:
        _errand.reset(token)


def running() -> Act | None:
    """Return the errand that is run, if one is."""
    return _errand.get()
