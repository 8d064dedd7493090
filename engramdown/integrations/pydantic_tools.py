"""The tools of memory for agents of pydantic-ai.

Promises: whatever a model passes, it gets an answer that it can act on; no call ends a run, or
counts as a retry.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextvars import ContextVar
from typing import Any, Final

from pydantic_ai import AbstractToolset, RunContext, ToolDefinition
from pydantic_ai.exceptions import ToolFailed
from pydantic_ai.toolsets import ToolsetTool

from engramdown.cortex.cortex import Cortex
from engramdown.integrations.external_session import Talk, beside

__all__ = ["RUNNING", "MemoryToolset"]

RUNNING: Final[ContextVar[Talk | None]] = ContextVar("engramdown_talk", default=None)
"""The conversation whose run runs here."""

_RAW: Final = "\0raw"


class MemoryToolset(AbstractToolset[Any]):
    """Tools with which a model remembers, recalls and forgets.

    Whatever a model passes, it gets an answer that it can act on; no call ends a run, or counts as
    a retry.
    """

    def __init__(
        self,
        cortex: Cortex,
        names: Iterable[str] | None = None,
        *,
        id: str = "engramdown",  # noqa: A002 - as every toolset names it
    ) -> None:
        """Offer tools.

        Args:
            cortex: The memory.
            names: Which tools; see :meth:`engramdown.Cortex.tool_definitions`.
            id: What the toolset is known by.

        Raises:
            ValueError: If there is no such tool.
        """
        self._cortex = cortex
        self._id = id
        self._definitions = [
            ToolDefinition(
                name=each["name"],
                description=each["description"],
                parameters_json_schema=each["parameters"],
            )
            for each in cortex.tool_definitions("plain", names)
        ]

    @property
    def id(self) -> str:
        """What it is known by."""
        return self._id

    async def get_tools(
        self,
        ctx: RunContext[Any],  # noqa: ARG002 - as pydantic-ai calls it
    ) -> dict[str, ToolsetTool[Any]]:
        """Return the tools."""
        return {
            each.name: ToolsetTool(
                toolset=self, tool_def=each, max_retries=1, args_validator=_Anything()
            )
            for each in self._definitions
        }

    async def call_tool(
        self,
        name: str,
        tool_args: dict[str, Any],
        ctx: RunContext[Any],
        tool: ToolsetTool[Any],  # noqa: ARG002 - as pydantic-ai calls it
    ) -> str:
        """Return what a tool answers.

        Raises:
            ToolFailed: With the answer, if it tells what went wrong.
        """
        given = tool_args.get(_RAW, tool_args)
        talk, call = RUNNING.get(), ctx.tool_call_id or ""
        if talk is None or talk.cortex is not self._cortex:
            answer = await beside(self._cortex, lambda: self._cortex.use_tool(name, given))
        else:
            answer = await beside(self._cortex, lambda: talk.use(name, given, call))
        if answer.is_error:
            raise ToolFailed(answer.text)
        return answer.text


class _Anything:
    """Lets arguments pass as they are: what is wrong with them, the tool says."""

    def validate_json(self, input: str | bytes | bytearray, **_: object) -> dict[str, Any]:  # noqa: A002 - as pydantic has it
        """Return arguments that come as JSON."""
        try:
            found = json.loads(input)
        except (ValueError, RecursionError):
            found = None
        return found if isinstance(found, dict) else {_RAW: str(input)}

    def validate_python(self, input: object, **_: object) -> dict[str, Any]:  # noqa: A002 - as pydantic has it
        """Return arguments that come as values."""
        return input if isinstance(input, dict) else {_RAW: input}
