"""The facade, a session as turns, and the tools that a model may call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engramdown.lazy import door

if TYPE_CHECKING:
    from engramdown.cortex.tools import TOOLS as TOOLS
    from engramdown.cortex.tools import Answer as Answer
    from engramdown.cortex.tools import Arguments as Arguments
    from engramdown.cortex.tools import read_arguments as read_arguments
    from engramdown.cortex.tools import schema_of as schema_of

__getattr__, __dir__ = door(
    __name__, {"tools": ["TOOLS", "Answer", "Arguments", "read_arguments", "schema_of"]}
)
