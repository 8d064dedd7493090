"""Edits of a memory file, as assistants and people make them, for histories in git.

Promises: every choice comes from the dice; few different texts, so that the same is learned twice.
"""

from __future__ import annotations

import random
from typing import Final

from engramdown.hippocampus.entry import raw_entries
from engramdown.markdown.blocks import Block
from engramdown.markdown.document import Document, parse
from engramdown.markdown.metadata import Metadata

TEXTS: Final = (
    "CI is slow on Mondays",
    "ci is slow on mondays.",
    "Use uv, never pip",
    "The build needs two passes:\nthe first one makes the headers",
    "Ask before you deploy",
    "Log in UTC",
    "Name files in lower case",
    "Rate limits hit at 50 requests",
    "Never force-push",
)
"""What is learned again and again."""

_PROSE: Final = ("> quoted", "Notes on this file.", "| a | b |", "# Title", "## Own words", "")
_HEADINGS: Final = ("", "always", "never", "when")
_NEW: Final = ("add", "add", "add", "hand", "hand", "prose")
_OLD: Final = ("change", "change", "remove", "note", "move", "cut")
# How often a text is one of those that are known.
_KNOWN: Final = 0.5


def edited(dice: random.Random, name: str, text: str) -> str:
    """Return the text of a file after one edit, as assistants or people make them."""
    document = parse(text)
    entries = [placed.block for placed in raw_entries(name, document)]
    task = f"[{dice.choice(' x-')}] " if name == "pending.md" else ""
    said = task + (
        dice.choice(TEXTS) if dice.random() < _KNOWN else f"Fact {dice.randint(0, 10**6)}"
    )
    how = dice.choice(_NEW if not entries else _NEW + _OLD)
    if name == "soul.md" or how == "prose":
        return _by_hand(dice, text, f"{dice.choice(_PROSE)}\n")
    if how == "add":
        heading = dice.choice(_HEADINGS) if name == "rules.md" else ""
        return document.add(said, _metadata(dice), heading, "Title").render()
    if how == "hand":
        return _by_hand(dice, text, "- " + said.split("\n")[0] + "\n")
    return _changed(dice, document, dice.choice(entries), how, said)


def _changed(dice: random.Random, document: Document, block: Block, how: str, said: str) -> str:
    """Return the text of a file after something was done to one of its entries."""
    if how == "change":
        return document.replace(block, said, block.meta).render()
    if how == "remove":
        return document.remove(block).render()
    if how == "move":
        raw = block.raw if block.raw.endswith("\n") else f"{block.raw}\n"
        return _by_hand(dice, document.remove(block).render(), raw)
    if how == "note":
        values = {dice.choice(("confidence", "pin", "topic")): dice.choice(("high", "low", "ci"))}
        return document.note(block, (block.meta or Metadata()).update(values)).render()
    return document.render().removesuffix("\n")


def _by_hand(dice: random.Random, text: str, lines: str) -> str:
    """Return a text with lines typed somewhere at the begin of a block."""
    raws = [block.raw for block in parse(text).blocks]
    at = dice.randint(0, len(raws))
    head = "".join(raws[:at])
    return head + ("\n" if head and not head.endswith("\n") else "") + lines + "".join(raws[at:])


def _metadata(dice: random.Random) -> Metadata:
    alphabet = "0123456789abcdefghjkmnpqrstvwxyz"
    values = {
        "id": "".join(dice.choice(alphabet) for _ in range(8)),
        "confidence": dice.choice(("high", "medium", "low")),
        "source": dice.choice(("user", "llm", "")),
        "ts": f"2026-02-{dice.randint(10, 28)}",
    }
    return Metadata().update(values)
