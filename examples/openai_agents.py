"""A chat in the terminal with the OpenAI Agents SDK, whose agent remembers.

::

    pip install "engramdown[openai-agents]"
    export OPENAI_API_KEY=...        # OPENAI_BASE_URL for another endpoint, OPENAI_MODEL
    python examples/openai_agents.py monday

Give the name of a conversation to go on with it; what is remembered is there in each. What waits
for your decision is asked between turns. An empty line, or Ctrl-D, ends it.
"""

from __future__ import annotations

import asyncio
import os
import sys

from agents import Agent, OpenAIChatCompletionsModel, Runner, set_tracing_disabled
from agents.exceptions import AgentsException
from openai import AsyncOpenAI, OpenAIError

from engramdown import Cortex
from engramdown.errors import EngramdownError
from engramdown.integrations.openai_agents import (
    EngramdownSession,
    memory_instructions,
    memory_tools,
)

__all__ = ["main"]


def main() -> int:
    """Talk until the user has nothing more to say."""
    name = sys.argv[1] if len(sys.argv) > 1 else "chat"
    set_tracing_disabled(True)
    try:
        cortex = Cortex.open()
        session = EngramdownSession(name, cortex)
        model = OpenAIChatCompletionsModel(os.environ.get("OPENAI_MODEL", "gpt-4.1"), AsyncOpenAI())
    except (EngramdownError, OpenAIError) as error:
        print(error, file=sys.stderr)
        return 2
    agent = Agent(
        name="Assistant",
        model=model,
        instructions=memory_instructions(cortex, "You are a brief, helpful assistant."),
        tools=list(memory_tools(cortex)),
    )
    with asyncio.Runner() as runner:
        try:
            while text := ask("you> "):
                print(runner.run(answer(agent, session, text)))
                runner.run(confirm(session))
        except KeyboardInterrupt:
            print()
        runner.run(session.close())
    return 0


async def answer(agent: Agent[None], session: EngramdownSession, text: str) -> str:
    """Return what the agent says, or why it says nothing."""
    try:
        result = await Runner.run(agent, text, session=session)
    except (OpenAIError, AgentsException) as error:
        await session.end_turn()
        return f"No answer: {error}"
    return str(result.final_output)


async def confirm(session: EngramdownSession) -> None:
    """Ask about what the agent wants to remember, and is not to without being told."""
    for proposal in await session.confirmations():
        key = ask(f"Remember: {proposal.engram.text}? [y]es, [n]o, [l]ater ")[:1].lower()
        if key in ("y", "n"):
            receipt = await session.resolve(proposal.id, "accept" if key == "y" else "decline")
            print(receipt.action)


def ask(prompt: str) -> str:
    """Return a line of the user's; an empty one at the end of the input."""
    try:
        return input(prompt).strip()
    except EOFError:
        print()
        return ""


if __name__ == "__main__":
    sys.exit(main())
