"""An agent of the OpenAI Agents SDK with memory, and a scripted server in front of its client."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final, TypeVar, cast

from agents import (
    Agent,
    FunctionTool,
    OpenAIChatCompletionsModel,
    Runner,
    function_tool,
    set_tracing_disabled,
)
from openai import AsyncOpenAI

from engramdown import Cortex
from engramdown.integrations.openai_agents import (
    EngramdownSession,
    memory_instructions,
    memory_tools,
)
from engramdown.transcripts.episode import Episode
from tests.consolidation.wire import Sends, Wire, completion, http, wired

__all__ = ["Desk", "again", "does", "fails", "kept", "lines", "says", "weather", "working"]

T = TypeVar("T")
_NUMBERS: Final = itertools.count()

set_tracing_disabled(True)  # Nothing is sent to anybody.


def does(*calls: tuple[str, object]) -> bytes:
    """Return an answer that calls tools, each with an id of its own."""
    made = []
    for name, given_args in calls:
        arguments = given_args if isinstance(given_args, str) else json.dumps(given_args)
        function = {"name": name, "arguments": arguments}
        made.append({"id": f"call_{next(_NUMBERS)}", "type": "function", "function": function})
    return http(completion({"role": "assistant", "content": None, "tool_calls": made}))


def says(text: str) -> bytes:
    """Return an answer in words."""
    return http(completion({"role": "assistant", "content": text}))


class Desk:
    """An agent with memory, and a scripted server in front of it."""

    def __init__(self, cortex: Cortex, wire: Wire, **more: object) -> None:
        """Make an agent that asks ``wire``."""
        self.cortex = cortex
        self.wire = wire
        self.client = AsyncOpenAI(base_url=wire.url, api_key="none", max_retries=0)
        tools = cast("list[FunctionTool]", more.pop("tools", []))
        self.agent: Agent[Any] = Agent(
            name="Ann",
            model=OpenAIChatCompletionsModel("small", self.client),
            instructions=memory_instructions(cortex, "Be brief."),
            tools=[*memory_tools(cortex), *tools],
            **cast("Any", more),
        )

    async def ask(self, session: EngramdownSession, text: str) -> str:
        """Run the agent once, and return what it says."""
        result = await Runner.run(self.agent, text, session=session)
        return str(result.final_output)

    def prompt(self, number: int = -1) -> str:
        """Return the instructions of a request."""
        first = self.wire.asked[number]["messages"][0]
        return str(first["content"]) if first["role"] == "system" else ""


def working(
    cortex: Cortex, work: Callable[[Desk], Awaitable[T]], *sends: Sends, **more: object
) -> T:
    """Let an agent work whose server sends this, and close its connections."""

    async def main(wire: Wire) -> T:
        desk = Desk(cortex, wire, **more)
        async with desk.client:
            return await work(desk)

    with wired(*sends) as wire:
        return asyncio.run(main(wire))


def lines(cortex: Cortex, session: str) -> list[Episode]:
    """Return what was said in a session."""
    assert cortex.episodes is not None
    return [each for each in cortex.episodes.session(session).episodes if each.role != "event"]


def again(cortex: Cortex, project: Path) -> Cortex:
    """Return a cortex as a process that begins anew opens it."""
    assert cortex.episodes is not None
    cortex.episodes.close()
    return Cortex.open(project=project)


@function_tool
def weather(city: str) -> str:
    """Tell the weather."""
    return f"sunny in {city}"


@function_tool
def fails() -> str:
    """Fail."""
    raise ValueError("no rule to make target")


def kept(session: EngramdownSession, *given_items: object) -> list[Any]:
    """Add items, and return what the session gives back."""

    async def main() -> list[Any]:
        await session.add_items(cast("Any", list(given_items)))
        return cast("list[Any]", await session.get_items())

    return asyncio.run(main())
