"""Anthropic's memory tool over Engramdown: what its SDK calls when a model edits ``/memories``.

Promises: every command goes through :class:`engramdown.integrations.memory_folder.MemoryFolder`,
so through the gate, the journal and the write protocol; a command that is not carried out is an
error for the model, with a sentence that it can act on, and never one for the program.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from engramdown.integrations.external_session import beside, guard_of
from engramdown.integrations.memory_folder import MemoryFolder, Reach

try:
    from anthropic.lib.tools import (
        BetaAbstractMemoryTool,
        BetaAsyncAbstractMemoryTool,
        ToolError,
    )
except ImportError as error:
    raise ImportError(
        "the memory tool needs Anthropic's SDK in a version that has one: "
        "pip install -U 'engramdown[anthropic]'"
    ) from error

if TYPE_CHECKING:
    from anthropic.types.beta import (
        BetaCacheControlEphemeralParam,
        BetaMemoryTool20250818Command,
        BetaMemoryTool20250818CreateCommand,
        BetaMemoryTool20250818DeleteCommand,
        BetaMemoryTool20250818InsertCommand,
        BetaMemoryTool20250818RenameCommand,
        BetaMemoryTool20250818StrReplaceCommand,
        BetaMemoryTool20250818ViewCommand,
    )

    from engramdown.cortex.cortex import Cortex
    from engramdown.cortex.turns import Session

__all__ = ["AsyncMemoryTool", "MemoryTool"]

_NOT_CLEARED = (
    "memory is not cleared by a tool: delete files one by one, "
    "or let the user remove the folder .engramdown"
)


class MemoryTool(BetaAbstractMemoryTool):
    """The memory tool for ``client.beta.messages.tool_runner(tools=[...])``.

    Attributes:
        folder: What carries out the commands.
    """

    def __init__(
        self,
        cortex: Cortex,
        reach: Reach = "project",
        session: Session | None = None,
        *,
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        """Show the memory of ``cortex`` to a model.

        Args:
            cortex: Gates and keeps it.
            reach: ``project`` or ``global``, whose folder is ``/memories`` then; or ``both``, which
                has ``/memories/project`` and ``/memories/global``.
            session: The running conversation, which records each call and its result.
            cache_control: A breakpoint of the provider's cache at this tool.

        Raises:
            InvalidEngramError: If ``reach`` is none of the three.
            StoreError: If a store has no files.
        """
        super().__init__(cache_control=cache_control)
        self._cortex = cortex
        self.folder = MemoryFolder(cortex, reach, session)

    def call(self, input: object) -> str:  # noqa: A002 - it is called so
        """Carry out what a model passed, whatever it is.

        Raises:
            ToolError: If it is not carried out; the SDK gives its words to the model.
        """
        return _answered(self._cortex, self.folder, input)

    def execute(self, command: BetaMemoryTool20250818Command) -> str:
        """Carry out a command; raises as :meth:`call`."""
        return self.call(command.to_dict())

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """Show a file or a folder; raises as :meth:`call`."""
        return self.execute(command)

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """Begin a file; raises as :meth:`call`."""
        return self.execute(command)

    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Change some words of a file; raises as :meth:`call`."""
        return self.execute(command)

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """Add to a file; raises as :meth:`call`."""
        return self.execute(command)

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """Retire what a file holds; raises as :meth:`call`."""
        return self.execute(command)

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """Let a topic or notes be called otherwise; raises as :meth:`call`."""
        return self.execute(command)

    def clear_all_memory(self) -> NoReturn:
        """Refuse to.

        Raises:
            ToolError: Always.
        """
        raise ToolError(_NOT_CLEARED)


class AsyncMemoryTool(BetaAsyncAbstractMemoryTool):
    """The memory tool for an asynchronous client; each command runs in a thread.

    Attributes:
        folder: What carries out the commands.
    """

    def __init__(
        self,
        cortex: Cortex,
        reach: Reach = "project",
        session: Session | None = None,
        *,
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        """Show the memory of ``cortex`` to a model; see :class:`MemoryTool`."""
        super().__init__(cache_control=cache_control)
        self._cortex = cortex
        self.folder = MemoryFolder(cortex, reach, session)

    async def call(self, input: object) -> str:  # noqa: A002 - it is called so
        """Carry out what a model passed, whatever it is; to the end, also if it is cancelled.

        Raises:
            ToolError: If it is not carried out; the SDK gives its words to the model.
        """
        return await beside(self._cortex, lambda: _answered(self._cortex, self.folder, input))

    async def execute(self, command: BetaMemoryTool20250818Command) -> str:
        """Carry out a command; raises as :meth:`call`."""
        return await self.call(command.to_dict())

    async def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """Show a file or a folder; raises as :meth:`call`."""
        return await self.execute(command)

    async def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """Begin a file; raises as :meth:`call`."""
        return await self.execute(command)

    async def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Change some words of a file; raises as :meth:`call`."""
        return await self.execute(command)

    async def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """Add to a file; raises as :meth:`call`."""
        return await self.execute(command)

    async def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """Retire what a file holds; raises as :meth:`call`."""
        return await self.execute(command)

    async def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """Let a topic or notes be called otherwise; raises as :meth:`call`."""
        return await self.execute(command)

    async def clear_all_memory(self) -> NoReturn:
        """Refuse to.

        Raises:
            ToolError: Always.
        """
        raise ToolError(_NOT_CLEARED)


def _answered(cortex: Cortex, folder: MemoryFolder, arguments: object) -> str:
    with guard_of(cortex):
        answer = folder.run(arguments)
    if answer.is_error:
        raise ToolError(answer.text)
    return answer.text
