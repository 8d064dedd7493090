"""A language model that gives the answer it is told, in whatever form is asked for.

Promises: no network; what it was asked is kept; an answer that has another form is an error.
"""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from engramdown.errors import ModelError

__all__ = ["Answering"]

T = TypeVar("T", bound=BaseModel)


class Answering:
    """A model that gives one answer, again and again.

    Attributes:
        name: What it is called.
        answer: What it answers.
        asked: The system and the user text of each call.
    """

    name = "answering"

    def __init__(self, **answer: Any) -> None:  # noqa: ANN401 - any form may be asked for
        """Answer with these fields."""
        self.answer = answer
        self.asked: list[tuple[str, str]] = []

    def ask(self, schema: type[T], system: str, user: str) -> T:
        """Return the answer."""
        self.asked.append((system, user))
        try:
            return schema.model_validate(self.answer)
        except ValidationError as error:
            msg = "answering: answered in another form than requested"
            raise ModelError(msg, "wrong_schema") from error
