r"""What users write to an assistant, each message with what it states to be remembered, or nothing.

Promises: a message is one line of a file here, behind its label; ``\n`` stands for a line break.
A label is ``kind: words`` for each thing that is stated, further words behind ``; ``, or the class
of what only looks like a statement behind a ``-``::

    always: uv; never: pip | Always use uv. Never use pip.
    -question | Do you always use uv?

``tuning`` and ``held_out`` are the two halves of 608 messages that were written before the first
pattern was, drawn by seeded dice. ``tuning_second`` to ``tuning_fifth`` were written one after the
other, in other words, when the patterns stood, and each time these were changed because of them.
``last`` was written after that, and changed nothing. ``tuning_sixth`` was written by another
author, who had not seen the forms, nor the other messages; ``tuning_seventh`` and
``tuning_eighth`` by the same author after mending what the one before had shown, with the forms
known by then, and ``latest`` after that; it changed nothing. Some labels changed when plain facts
about the world ("our vet's name is Mbeki") began to be learned. ``@global`` among the words asks
for that scope; ``always/when`` for either kind.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final, NamedTuple

from engramdown.engram import Engram

__all__ = ["CORPORA", "Expected", "Message", "corpus"]

CORPORA: Final = (
    "latest",
    "last",
    "held_out",
    "tuning",
    "tuning_second",
    "tuning_third",
    "tuning_fourth",
    "tuning_fifth",
    "tuning_sixth",
    "tuning_seventh",
    "tuning_eighth",
)
"""The files, the one that says most about new messages first."""

_KINDS: Final = re.compile(r"((?:always|never|when|lesson|profile)(?:/\w+)*): (.+)")


class Expected(NamedTuple):
    """One thing that is stated: its kind, or the kinds that will do, and words that it holds."""

    kinds: frozenset[str]
    words: tuple[str, ...]

    def fits(self, engram: Engram) -> bool:
        """Whether ``engram`` is what was stated."""
        text = engram.text.casefold()
        said = all(word in text for word in self.words if word != "@global")
        scoped = "@global" not in self.words or engram.scope == "global"
        return engram.kind in self.kinds and said and scoped


class Message(NamedTuple):
    """What a user writes, what it states, and the class of it if it states nothing."""

    text: str
    expected: tuple[Expected, ...]
    lure: str


def corpus(name: str) -> list[Message]:
    """Return the messages of a file."""
    path = Path(__file__).with_name(f"{name}.txt")
    lines = path.read_text(encoding="utf-8").strip().split("\n")
    return [_message(line) for line in lines]


def _message(line: str) -> Message:
    label, _, text = line.partition(" | ")
    text = text.replace("\\n", "\n")
    if label.startswith("-"):
        return Message(text, (), label[1:])
    expected: list[Expected] = []
    for part in label.split("; "):
        found = _KINDS.fullmatch(part)
        if found:
            expected.append(Expected(frozenset(found[1].split("/")), (found[2],)))
        else:
            kinds, words = expected.pop()
            expected.append(Expected(kinds, (*words, part)))
    return Message(text, tuple(expected), "")
