"""A chat in the terminal with pydantic-ai, whose agent remembers.

::

    pip install "engramdown[pydantic-ai]" openai
    export OPENAI_API_KEY=...        # OPENAI_BASE_URL for another endpoint, OPENAI_MODEL
    python examples/pydantic_ai_agent.py monday

Give the name of a conversation to go on with it; what is remembered is there in each. What waits
for your decision is asked between turns. An empty line, or Ctrl-D, ends it.
"""

from __future__ import annotations

import asyncio
import os
import sys

from openai import OpenAIError
from pydantic_ai import Agent
from pydantic_ai.exceptions import AgentRunError, UserError
from pydantic_ai.messages import ModelMessage
from pydantic_ai.models.openai import OpenAIChatModel

from engramdown.errors import EngramdownError
from engramdown.integrations.pydantic_ai import EngramdownMemory

__all__ = ["main"]


def main() -> int:
    """Talk until the user has nothing more to say."""
    name = sys.argv[1] if len(sys.argv) > 1 else "chat"
    try:
        memory = EngramdownMemory(session=name)
        model = OpenAIChatModel(os.environ.get("OPENAI_MODEL", "gpt-4.1"))
    except (EngramdownError, OpenAIError, UserError) as error:
        print(error, file=sys.stderr)
        return 2
    agent = Agent(model, instructions="You are a brief, helpful assistant.", capabilities=[memory])
    with asyncio.Runner() as runner:
        history = runner.run(memory.messages(name))
        try:
            while text := ask("you> "):
                said, history = runner.run(answer(agent, text, history))
                print(said)
                runner.run(confirm(memory, name))
        except KeyboardInterrupt:
            print()
        runner.run(memory.close())
    return 0


async def answer(
    agent: Agent[None, str], text: str, history: list[ModelMessage]
) -> tuple[str, list[ModelMessage]]:
    """Return what the agent says, or why it says nothing, and the conversation with it."""
    try:
        result = await agent.run(text, message_history=history)
    except AgentRunError as error:
        return f"No answer: {error}", history
    return result.output, result.all_messages()


async def confirm(memory: EngramdownMemory, name: str) -> None:
    """Ask about what the agent wants to remember, and is not to without being told."""
    for proposal in await memory.confirmations(name):
        key = ask(f"Remember: {proposal.engram.text}? [y]es, [n]o, [l]ater ")[:1].lower()
        if key in ("y", "n"):
            decision = "accept" if key == "y" else "decline"
            print((await memory.resolve(name, proposal.id, decision)).action)


def ask(prompt: str) -> str:
    """Return a line of the user's; an empty one at the end of the input."""
    try:
        return input(prompt).strip()
    except EOFError:
        print()
        return ""


if __name__ == "__main__":
    sys.exit(main())
