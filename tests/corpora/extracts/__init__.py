"""Conversations with five facts each that a summary of them should still hold.

Promises: ``held_out.txt`` was written after the rules of the summary without a model were finished,
and changed nothing in them; they were mended by ``tuning.txt``. Blocks stand between empty lines:
``# what it is about`` begins a conversation, ``u:`` is the user, ``a:`` the assistant,
``c <tool>:`` a call, ``r <tool>:`` what came back and ``e <tool>:`` what failed.
``= words | more words`` is a fact: words that stand in one line of the conversation, and that must
stand in one line of a summary, in any case.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, NamedTuple

from engramdown.consolidation.extractive import Part

__all__ = ["Talk", "held_by", "talks"]

_HERE: Final = Path(__file__).resolve().parent
_SPEAKERS: Final = {"u": "user", "a": "assistant", "c": "tool_call"}


class Talk(NamedTuple):
    """A conversation.

    Attributes:
        about: What it is about.
        parts: Its messages.
        facts: For each fact, the words of it, in small letters.
    """

    about: str
    parts: tuple[Part, ...]
    facts: tuple[tuple[str, ...], ...]


def talks(name: str = "held_out") -> list[Talk]:
    """Return the conversations of a file."""
    text = (_HERE / f"{name}.txt").read_text(encoding="utf-8")
    return [_talk(each.split("\n\n")) for each in text.strip().removeprefix("# ").split("\n\n# ")]


def held_by(text: str, talk: Talk) -> int:
    """Return how many facts of a conversation stand in a text."""
    lines = text.lower().split("\n")
    return sum(any(all(word in line for word in fact) for line in lines) for fact in talk.facts)


def _talk(blocks: list[str]) -> Talk:
    about, *said, facts = blocks
    told = [line.removeprefix("= ").lower().split(" | ") for line in facts.strip().split("\n")]
    return Talk(about, tuple(map(_part, said)), tuple(map(tuple, told)))


def _part(block: str) -> Part:
    head, _, text = block.partition(": ")
    letter, _, tool = head.partition(" ")
    return Part(_SPEAKERS.get(letter, "tool_result"), text, tool, error=letter == "e")
