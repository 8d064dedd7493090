"""The sources that can be imported, and how a file tells which one it is from.

Promises: a file is judged by what is in it, not by its name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from engramdown.importers.anton import ANTON
from engramdown.importers.chatgpt import CHATGPT
from engramdown.importers.claude import CLAUDE
from engramdown.importers.claude_code import CLAUDE_CODE
from engramdown.importers.openai import OPENAI
from engramdown.importers.openclaw import OPENCLAW
from engramdown.importers.own import OWN
from engramdown.importers.records import Source

__all__ = ["SOURCES", "recognised"]

# The more a format demands of a record, the sooner it is asked.
_IN_ORDER: Final = (OWN, CLAUDE_CODE, CHATGPT, CLAUDE, ANTON, OPENCLAW, OPENAI)

SOURCES: Final[Mapping[str, Source]] = {source.name: source for source in _IN_ORDER}


def recognised(values: Iterable[Any]) -> Source | None:
    """Return the source of the first value that one of them knows."""
    for value in values:
        for source in _IN_ORDER:
            if source.knows(value):
                return source
    return None
