"""Every sentence of ``engramdown context --session``.

Promises: pure; plain words; an error names the next step.
"""

from __future__ import annotations

from typing import Final

NEEDS_SESSION: Final = "--budget, --tail and --format are about a conversation; give --session, too"
PARTS: Final = {
    "soul": "Who you are",
    "skills": "Skills",
    "history": "Earlier sessions",
    "journal": "Journal",
    "notes": "Working notes",
    "relevant": "Relevant now",
}
"""What the parts of a prompt are called."""
PARTS_HEAD: Final = ("tokens", "part")
DROPPED_HEAD: Final = ("tokens", "not shown, or not whole", "where", "why")


def total(tokens: int, budget: int, messages: int, fresh: int) -> str:
    """Say what a prompt costs, and how much of the conversation is in it."""
    said = "1 message or summary" if messages == 1 else f"{messages:,} messages and summaries"
    return (
        f"{tokens:,} tokens of {budget:,} in all, with the words around the parts; "
        f"{said}, {fresh} of them always"
    )
