"""An assistant in the terminal that remembers: memory in its prompt, tools, and questions to you.

::

    pip install "engramdown[openai]"
    engramdown init
    export OPENAI_API_KEY=...        # or OPENAI_BASE_URL=http://localhost:11434/v1 for Ollama
    python examples/assistant.py gpt-4.1-mini

It is there to be read, and to begin your own with; ``engramdown chat`` is the same in full: it
streams, draws markdown, has commands, and goes on after whatever goes wrong.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Final

from openai import OpenAI, OpenAIError

from engramdown import Cortex, Proposal, Session
from engramdown.errors import EngramdownError

BUDGET: Final = 20_000
ROUNDS: Final = 10
LONGEST: Final = 20_000

INSTRUCTIONS: Final = """\
You help the user with the project in this folder. Be brief.
Keep what will matter in later conversations with memorize; recall finds what you do not see below.
"""

READ_FILE: Final = {
    "type": "function",
    "function": {
        "name": "read_file",
        "description": "Read a text file of the project.",
        "parameters": {
            "type": "object",
            "properties": {"path": {"type": "string", "description": "Like src/main.py"}},
            "required": ["path"],
        },
    },
}


def main(model: str) -> None:
    """Talk until the user ends it with Ctrl-D."""
    cortex = Cortex.open()
    # A session is a transcript. Whatever happens in this block, it is ended with it.
    with cortex.session() as session:
        print(f"Session {session.id}; Ctrl-D ends it.")
        while message := ask("\nyou> "):
            take_turn(cortex, session, model, message)
            # Between two turns, and never in the middle of one: begin_turn and end_turn keep to it.
            for proposal in session.confirmations():
                confirm(session, proposal)


def take_turn(cortex: Cortex, session: Session, model: str, message: str) -> None:
    """Let the model answer a message."""
    session.begin_turn(message)
    reply = ""
    try:
        reply = answer(cortex, session, model)
        print(f"\n{shown(reply)}")
    except OpenAIError as error:
        reply = f"(no answer: {type(error).__name__})"
        print(f"\nThe model gave no answer: {shown(str(error))}")
    except KeyboardInterrupt:
        reply = "(the user stopped the answer)"
        print("\nStopped.")
    finally:
        # What was said is in the transcript now, and ticked lines of pending.md are carried out.
        session.end_turn(reply)


def answer(cortex: Cortex, session: Session, model: str) -> str:
    """Ask, and do what the model wants done, until it has an answer."""
    client = OpenAI()
    tools: Any = [*cortex.tool_definitions("openai"), READ_FILE]
    for _ in range(ROUNDS):
        # Rules, lessons, skills, the conversation and what fits the question: all within a budget.
        # What was said and done in this turn stands in the transcript, and so in the prompt.
        prompt: Any = session.build_context(BUDGET).openai()
        prompt = [{"role": "system", "content": INSTRUCTIONS}, *prompt]
        made = client.chat.completions.create(model=model, messages=prompt, tools=tools)
        said = made.choices[0].message
        if not said.tool_calls:
            return said.content or "(nothing)"
        for call in said.tool_calls:
            if call.type == "function":
                use(cortex, session, call.function.name, call.function.arguments, call.id)
    return "(I called tools for too long; ask for less at once.)"


def use(cortex: Cortex, session: Session, name: str, arguments: str, call: str) -> None:
    """Do what the model wants done; what came of it is in the transcript."""
    print(f"  {shown(name)} {shown(arguments)}")
    if name == "read_file":
        # A tool of one's own: record the call and its result, and the prompt has both.
        session.tool_call(name, arguments, call)
        text, is_error = read_file(arguments)
        session.tool_result(name, text, call, error=is_error)
    else:
        # A tool of memory does that by itself, whatever the model passed.
        print(f"  {shown(cortex.use_tool(name, arguments, session=session, call=call).text)}")


def read_file(arguments: str) -> tuple[str, bool]:
    """Return a file of the project and ``False``, or why there is none and ``True``."""
    try:
        said = str(json.loads(arguments)["path"])
        root = Path.cwd().resolve()
        path = (root / said).resolve()
        # Nothing outside the project, nothing hidden (.env, .git), no pipe that never ends.
        inside = path.relative_to(root).parts
        if any(part.startswith(".") for part in inside) or not path.is_file():
            return f"there is no file {said!r} to be read", True
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(LONGEST), False
    except (ValueError, LookupError, TypeError, OSError) as error:
        return f"it cannot be read ({type(error).__name__}); give a path like src/main.py", True


def confirm(session: Session, proposal: Proposal) -> None:
    """Ask the user about a memory; whatever is not decided waits in ``pending.md``."""
    print(f"\nRemember this? ({shown(proposal.reason)})\n  {shown(proposal.engram.text)}")
    choice = ask("y yes, n no, anything else: later > ")
    decisions = {"y": "accept", "n": "decline"}
    if choice in decisions:
        try:
            receipt = session.resolve(proposal.id, decisions[choice])
            print(f"  {receipt.action}: {shown(receipt.reason or receipt.file)}")
        except EngramdownError as error:  # somebody decided in another terminal
            print(f"  {error}")


def ask(question: str) -> str:
    """Return what the user types, ``""`` at the end of the input."""
    try:
        return input(question).strip()
    except (EOFError, KeyboardInterrupt):
        return ""


def shown(text: str) -> str:
    """Return a text of somebody else's without what could steer the terminal."""
    return "".join(char if char.isprintable() or char == "\n" else "?" for char in text)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "gpt-4.1-mini")
