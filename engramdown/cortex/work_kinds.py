"""What the kinds of work have in common that ask a model about one session after the other.

Promises: nothing is done here.
"""

from __future__ import annotations

from typing import Literal, Protocol

from engramdown.sleep.progress import Mark
from engramdown.sleep.reports import Deed, Kind
from engramdown.transcripts.sessions import SessionInfo

__all__ = ["Next", "Work"]

Next = Deed | Literal["ask", "nothing"]
"""What comes next for a session: a model is asked, or not, and then perhaps there is a deed."""


class Work(Protocol):
    """A kind of work."""

    @property
    def what(self) -> Kind:
        """What it is called."""
        ...

    @property
    def busy(self) -> str:
        """Who keeps it from going on, or ``""``."""
        ...

    def mark(self, info: SessionInfo) -> Mark | None:
        """Return what counts as done with a session as it is now; ``None`` if it is none for it.

        The session is not read for that.
        """
        ...

    def prepare(self, mark: Mark, info: SessionInfo, *, dry: bool) -> Next:
        """Look at a session without a model.

        Raises:
            SessionNotFoundError: If it is gone.
            OSError: If it cannot be read; or a :class:`engramdown.errors.StoreError`.
        """
        ...

    def ask(self, mark: Mark, info: SessionInfo) -> Deed | None:
        """Ask the model, and keep what it says; ``None`` if nothing became of it, for now.

        Raises:
            ModelError: If it gave no answer of use.
            SessionNotFoundError: If the session is gone.
            OSError: If it could not be kept; or a :class:`engramdown.errors.StoreError`.
        """
        ...
