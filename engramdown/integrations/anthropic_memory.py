"""Anthropic's memory tool over Engramdown, for models that edit ``/memories``.

Every command goes through :class:`engramdown.integrations.memory_folder.MemoryFolder`, and so
through the gate, the journal and the write protocol. A refused command is an error for the model,
with a sentence that it can act on, and never an exception for the program.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NoReturn

from engramdown.integrations.external_session import in_thread, lock_of
from engramdown.integrations.memory_folder import MemoryFolder

try:
    from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError
except ImportError as error:
    raise ImportError(
        "the memory tool needs a newer Anthropic SDK: pip install -U 'engramdown[anthropic]'"
    ) from error

if TYPE_CHECKING:
    from anthropic.types.beta import BetaCacheControlEphemeralParam, BetaMemoryTool20250818Command

    from engramdown import Cortex, Session
    from engramdown.engram import Scope

_NOT_CLEARED: Final = "a tool cannot clear memory; delete files one by one, or ask the user"


class _OverFolder:
    """What both tools have: a folder of memory, which answers their commands.

    Attributes:
        folder: Carries out the commands.
    """

    def __init__(
        self,
        cortex: Cortex,
        scope: Scope = "project",
        session: Session | None = None,
        *,
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        """Show the memory of ``cortex`` to a model.

        Args:
            cortex: Gates and keeps it.
            scope: The scope whose memory it shows.
            session: The running conversation, which records each call and its result.
            cache_control: A breakpoint of the provider's cache at this tool.

        Raises:
            InvalidEngramError: If the scope is unknown.
            StoreError: If its store has no files.
        """
        super().__init__(cache_control=cache_control)  # type: ignore[call-arg] # the SDK's class
        self._cortex = cortex
        self.folder = MemoryFolder(cortex, scope, session)

    def _answer(self, arguments: object) -> str:
        with lock_of(self._cortex):
            answer = self.folder.run(arguments)
        if answer.is_error:
            raise ToolError(answer.text)
        return answer.text


class MemoryTool(_OverFolder, BetaAbstractMemoryTool):
    """The memory tool for ``client.beta.messages.tool_runner(tools=[...])``."""

    def call(self, input: object) -> str:  # noqa: A002 - the SDK names it
        """Carry out whatever a model passed.

        Raises:
            ToolError: If it is refused; the SDK passes the message to the model.
        """
        return self._answer(input)

    def execute(self, command: BetaMemoryTool20250818Command) -> str:
        """Carry out a command; raises as :meth:`call`."""
        return self.call(command.to_dict())

    view = create = str_replace = insert = delete = rename = execute

    def clear_all_memory(self) -> NoReturn:
        """Refuse to.

        Raises:
            ToolError: Always.
        """
        raise ToolError(_NOT_CLEARED)


class AsyncMemoryTool(_OverFolder, BetaAsyncAbstractMemoryTool):
    """The memory tool for an asynchronous client; each command runs in a thread."""

    async def call(self, input: object) -> str:  # noqa: A002 - the SDK names it
        """Carry out whatever a model passed, even if the call is cancelled meanwhile.

        Raises:
            ToolError: If it is refused; the SDK passes the message to the model.
        """
        return await in_thread(self._cortex, lambda: self._answer(input))

    async def execute(self, command: BetaMemoryTool20250818Command) -> str:
        """Carry out a command; raises as :meth:`call`."""
        return await self.call(command.to_dict())

    view = create = str_replace = insert = delete = rename = execute

    async def clear_all_memory(self) -> NoReturn:
        """Refuse to.

        Raises:
            ToolError: Always.
        """
        raise ToolError(_NOT_CLEARED)
