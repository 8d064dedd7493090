"""What users say in conversations, and what is known at the end; sentences; changes of mind.

``dialogs.txt`` has one dialog on each line: its class, the messages with `` / `` between them and
`` // `` between sessions, and after ``=>`` what shall be known, as ``kind/kind: words``; after a
``!`` what shall not be known, and after a ``^`` what the first memory must not begin with.
``sentences.txt`` has the kinds of a sentence, or ``-``; ``chatter.txt`` what is said in the middle
of work, as ``rule``, ``lesson``, ``profile`` or ``-``, for the classifier. ``changes.txt`` has what
is said, what is gone then, and what is known instead. All these were written by whoever wrote the
rules, part by part, and each part led to changes of the rules.

``said_first.txt``, ``said_second.txt`` and ``said_third.txt`` are like ``chatter.txt``, with the
kind of a rule. Three authors wrote them, who had seen neither the rules nor any dialog that these
are measured by, nor one what another wrote. The third has whole sessions, in their order, each
behind a line with ``#`` that says whose. The classifier learns from them; before it did, the rules
and the classifier took of the second 327 sentences for something to be known, 292 rightly, of 400.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from engramdown.consolidation.corrections import (
    read_messages,
    revised,
    supersedes,
)
from engramdown.engram import Engram

__all__ = ["Dialog", "changes", "chatter", "dialogs", "known", "labelled"]


class Dialog(NamedTuple):
    """A dialog: its class, its sessions, and what shall and shall not be known at its end."""

    group: str
    sessions: tuple[tuple[str, ...], ...]
    expected: tuple[tuple[frozenset[str], str], ...]
    absent: tuple[str, ...]
    not_first: tuple[str, ...]

    def missed(self, engrams: list[Engram]) -> list[str]:
        """Return what is not known."""
        texts = [(each.kind, each.text.casefold()) for each in engrams]
        return [
            words
            for kinds, words in self.expected
            if not any(kind in kinds and words in text for kind, text in texts)
        ]

    def wrong(self, engrams: list[Engram]) -> list[str]:
        """Return what is known for sure, and should not be."""
        sure = [each for each in engrams if not each.unsure]
        stale = [it.text for it in sure if any(gone in it.text.casefold() for gone in self.absent)]
        begun = [it.text for it in sure if it.text.casefold().startswith(self.not_first or "\n")]
        return stale + begun if self.expected or self.absent else [it.text for it in sure]


def known(sessions: tuple[tuple[str, ...], ...]) -> list[Engram]:
    """Return what is known after sessions, as if nobody wrote anything by hand."""
    memory: list[Engram] = []
    for messages in sessions:
        told = read_messages((text, "") for text in messages)
        for back in told.taken_back:
            gone = revised(back, memory)
            memory = [each for each in memory if all(each is not it for it, _ in gone)]
            memory += [instead for _, instead in gone if instead]
        for engram in told.engrams:
            older = [it for it in memory if supersedes(engram, it)]
            memory = [each for each in memory if each not in older] + [engram]
    return memory


def _lines(name: str) -> list[str]:
    path = Path(__file__).with_name(f"{name}.txt")
    return path.read_text(encoding="utf-8").strip().split("\n")


def _sessions(text: str) -> tuple[tuple[str, ...], ...]:
    plain = text.replace("\\n", "\n")
    return tuple(tuple(part.split(" / ")) for part in plain.split(" // "))


def dialogs() -> list[Dialog]:
    """Return the dialogs."""
    found = []
    for line in _lines("dialogs"):
        group, _, rest = line.partition(" | ")
        text, _, said = rest.partition(" =>")
        parts = [part.lstrip() for part in said.split("; ") if part.strip()]
        expected = [part.partition(": ") for part in parts if part[0] not in "!^"]
        found.append(
            Dialog(
                group,
                _sessions(text),
                tuple((frozenset(kinds.split("/")), words) for kinds, _, words in expected),
                tuple(part[1:] for part in parts if part[0] == "!"),
                tuple(part[1:] for part in parts if part[0] == "^"),
            )
        )
    return found


def labelled() -> list[tuple[frozenset[str], str]]:
    """Return sentences with the kinds that they may be taken for; of lures none."""
    rows = [line.partition(" | ") for line in _lines("sentences")]
    return [(frozenset(kinds.replace("-", "").split()), text) for kinds, _, text in rows]


def chatter(name: str) -> list[tuple[str, str, int]]:
    """Return what people say in the middle of work, each with its kind, or ``-``.

    The number says how many messages the same person writes there; of most files each stands alone.
    """
    parts: list[list[str]] = [[]]
    for line in _lines(name):
        parts += [[]] if line.startswith("# ") else []
        parts[-1] += [] if line.startswith("# ") else [line]
    return [
        (kind, text.replace("\\n", "\n"), len(part) if len(parts) > 1 else 1)
        for part in parts
        for kind, _, text in (line.partition(" | ") for line in part)
    ]


def changes() -> list[tuple[tuple[tuple[str, ...], ...], str, str]]:
    """Return what is said in sessions, what is gone, and what is known instead, or ``""``."""
    rows = [line.split(" =>") for line in _lines("changes")]
    return [(_sessions(text), gone.strip(), new.strip()) for text, gone, new in rows]
