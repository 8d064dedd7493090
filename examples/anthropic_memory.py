"""A chat in the terminal with Claude, who keeps its memory in files that you own.

::

    pip install "engramdown[anthropic]"
    export ANTHROPIC_API_KEY=...     # ANTHROPIC_BASE_URL for another endpoint, ANTHROPIC_MODEL
    python examples/anthropic_memory.py

The model sees ``/memories``, the memory of this project. What it learns is in the project's
``.engramdown/memory`` at once; what touches your own words waits in ``pending.md``, and
``engramdown review`` asks you about it. An empty line, or Ctrl-D, ends it.
"""

from __future__ import annotations

import os
import sys

from anthropic import Anthropic, AnthropicError
from anthropic.types.beta import BetaMessage, BetaMessageParam

from engramdown import Cortex
from engramdown.errors import EngramdownError
from engramdown.integrations.anthropic_memory import MemoryTool

__all__ = ["main"]

MOST_STEPS = 30


def main() -> int:
    """Talk until the user has nothing more to say."""
    try:
        cortex = Cortex.open()
        client = Anthropic()
    except (EngramdownError, AnthropicError) as error:
        print(error, file=sys.stderr)
        return 2
    messages: list[BetaMessageParam] = []
    with cortex.session() as session:
        tool = MemoryTool(cortex, session=session)
        try:
            while text := ask("you> "):
                session.begin_turn(text)
                messages.append({"role": "user", "content": text})
                try:
                    said = answer(client, tool, messages)
                except (AnthropicError, TypeError) as error:  # The latter without a key.
                    messages.pop()
                    said = f"No answer: {error}"
                print(said)
                session.end_turn(said)
        except KeyboardInterrupt:
            print()
    waiting = len(cortex.pending())
    if waiting:
        print(f"{waiting} waiting for you: engramdown review")
    return 0


def answer(client: Anthropic, tool: MemoryTool, messages: list[BetaMessageParam]) -> str:
    """Return what the model says when it has done with its memory."""
    runner = client.beta.messages.tool_runner(
        model=os.environ.get("ANTHROPIC_MODEL", "claude-sonnet-5-5"),
        max_tokens=2_000,
        messages=messages,
        tools=[tool],
        max_iterations=MOST_STEPS,
    )
    said = text_of(runner.until_done())
    messages.append({"role": "assistant", "content": said or "(nothing)"})
    return said


def text_of(message: BetaMessage) -> str:
    """Return the words of a message."""
    return "".join(block.text for block in message.content if block.type == "text")


def ask(prompt: str) -> str:
    """Return a line of the user's; an empty one at the end of the input."""
    try:
        return input(prompt).strip()
    except EOFError:
        print()
        return ""


if __name__ == "__main__":
    sys.exit(main())
