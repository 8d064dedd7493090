"""A language model that says what it is told, for the tests of what asks one.

Promises: no network; what it was asked is kept; its answer goes through the form that is asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from pydantic import BaseModel

from engramdown.errors import ModelError

__all__ = ["Scripted"]

T = TypeVar("T", bound=BaseModel)


class Scripted:
    """A model that answers with the operations that it is given.

    Attributes:
        name: What it is called.
        changes: The operations of its next answer.
        asked: The system and the user text of each call.
    """

    name = "scripted"

    def __init__(
        self,
        *changes: dict[str, Any],
        error: str = "",
        meanwhile: Callable[[], object] = lambda: None,
    ) -> None:
        """Answer with ``changes``, or fail with ``error``, after ``meanwhile`` has happened."""
        self.changes = list(changes)
        self.asked: list[tuple[str, str]] = []
        self._error = error
        self._meanwhile = meanwhile

    def ask(self, schema: type[T], system: str, user: str) -> T:
        """Return the answer."""
        self.asked.append((system, user))
        self._meanwhile()
        if self._error:
            raise ModelError(self._error)
        return schema.model_validate({"operations": self.changes})
