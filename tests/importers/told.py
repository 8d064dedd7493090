"""What a reader made of some records, in a form that a test can read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engramdown.importers.records import Conversation, Message, Record, Skipped, Source

__all__ = ["Told", "read"]


class Told:
    """The items of a reader, apart."""

    def __init__(self, items: Sequence[Conversation | Message | Skipped]) -> None:
        """Sort ``items``."""
        self.conversations = [item for item in items if isinstance(item, Conversation)]
        self.said = [item for item in items if isinstance(item, Message)]
        self.skipped = [item for item in items if isinstance(item, Skipped)]

    @property
    def lines(self) -> list[tuple[str, str]]:
        """Who said what."""
        return [(said.role, said.text) for said in self.said]

    @property
    def reasons(self) -> list[str]:
        """Why something was not taken; what is damaged ends with an exclamation mark."""
        return [skip.reason + "!" * skip.damaged for skip in self.skipped]


def read(source: Source, *values: Any) -> Told:  # noqa: ANN401 - JSON is anything
    """Read records with these values."""
    records = [Record(place, 100 * place, value) for place, value in enumerate(values, 1)]
    return Told(list(source.read(records)))
