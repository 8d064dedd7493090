"""The facade, a session as turns, and the tools that a model may call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engramdown.lazy import door

if TYPE_CHECKING:
    from engramdown.cortex.tools import TOOLS, Answer, Arguments, read_arguments, schema_of

__all__ = ["TOOLS", "Answer", "Arguments", "read_arguments", "schema_of"]

__getattr__, __dir__ = door(
    __name__,
    {"tools": ["TOOLS", "Answer", "Arguments", "read_arguments", "schema_of"]},
)
