"""A prompt as one text, for a model that takes nothing else, and for people.

Promises: pure; no words of a message can pass for another message: only the first line of each
stands at the beginning of a line. What is added behind a conversation changes nothing before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from engramdown.cortex.conversation.rendering.pairing import result_text, spoken, strays
from engramdown.cortex.conversation.shown import SUMMARY, Shown
from engramdown.language.untrusted import bullet, one_line

__all__ = ["HEADING", "prompt_text"]

HEADING: Final = "## This Conversation"
"""What stands above the conversation."""


def prompt_text(system: str, lines: Sequence[Shown], aside: str = "") -> str:
    """Return a prompt as text.

    Args:
        system: What comes before the conversation, or ``""``.
        lines: The conversation.
        aside: What comes behind it, or ``""``.

    >>> print(prompt_text("", [Shown(1, "user", "Hello"), Shown(2, "assistant", "Hi")]))
    ## This Conversation
    <BLANKLINE>
    - user: Hello
    - assistant: Hi
    """
    left_out = set(strays(lines))
    said = [_line(line) for at, line in enumerate(lines) if at not in left_out]
    conversation = [f"{HEADING}\n\n" + "\n".join(said)] if said else []
    return "\n\n".join([*filter(None, [system]), *conversation, *filter(None, [aside])])


def _line(line: Shown) -> str:
    # A summary says itself what it is.
    return (
        line.text.replace("\n", "\n  ") if line.role == SUMMARY else bullet("\n".join(_told(line)))
    )


def _told(line: Shown) -> Iterator[str]:
    tool = one_line(line.name) or "a tool"
    if line.role == "tool_call":
        yield f"assistant calls {tool}: {line.text}"
    elif line.role == "tool_result":
        failed = " failed and" if line.error else ""
        yield f"{tool}{failed} gave: {result_text(line)}"
    elif line.role == "scratchpad":
        yield f"assistant {spoken(line)}"
    else:
        yield f"{line.role}: {spoken(line)}"
