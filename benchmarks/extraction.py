"""How much of what users state outright is learned without a model, and how much that they do not.

A memory is right if it is of the kind that a person expects, and holds the words that it must; what
is stated is found if some memory is right for it. What waits for a person counts as found, and not
as learned. "Held out" is one half of the messages that were
written before the patterns; the other half is "tuned on", as are sets that were written later to
find what the patterns miss. "Last" was written when the patterns stood, in words as different as
possible, and changed nothing; "latest" was, after another author had mended the patterns. Whoever
wrote a set knew the patterns, but for the first of that author, so take the figures for an upper
bound. The yardstick of the time is ``str.split`` of the same messages.
"""

from __future__ import annotations

from collections import Counter
from typing import Final, NamedTuple

from benchmarks.measure import finish, paired, table
from engramdown.consolidation.corrections import extract
from tests.corpora.statements import CORPORA, Message, corpus

__all__ = ["main"]

RUNS: Final = 15
NAMES: Final = {
    "latest": ("latest",),
    "last": ("last",),
    "held out": ("held_out",),
    "tuned on": tuple(name for name in CORPORA if name.startswith("tuning")),
}
REPORTED: Final = ("latest", "last", "held_out")


class _Count(NamedTuple):
    """What the messages of a corpus state, and what was learned from them."""

    stated: int
    found: int
    learned: int
    right: int


def main() -> None:
    """Count, time and print."""
    head = ("messages", "all", "state nothing", "stated", "recall", "learned", "precision")
    rows = [head, *(_row(name, _messages(parts)) for name, parts in NAMES.items())]
    reported = _messages(REPORTED)
    lures = Counter(message.lure for message in reported if message.lure)
    taken = Counter(
        message.lure
        for message in reported
        if message.lure and any(not engram.unsure for engram in extract(message.text))
    )
    classes = [("what only looks stated, not tuned on", "messages", "taken for a statement")]
    classes += [(name, str(count), str(taken[name])) for name, count in sorted(lures.items())]
    note = "A message may state several things, and hold lures beside them."
    finish("extraction", "\n\n".join([table(rows), note, table(classes), _speed(reported)]))


def _messages(names: tuple[str, ...]) -> list[Message]:
    return [message for name in names for message in corpus(name)]


def _row(name: str, messages: list[Message]) -> tuple[str, ...]:
    counts = [_count(message) for message in messages]
    stated, found, learned, right = (sum(column) for column in zip(*counts, strict=True))
    nothing = sum(not message.expected for message in messages)
    sizes = (str(len(messages)), str(nothing), str(stated))
    return (name, *sizes, f"{found / stated:.3f}", str(learned), f"{right / learned:.3f}")


def _count(message: Message) -> _Count:
    engrams = extract(message.text)
    sure = [engram for engram in engrams if not engram.unsure]
    found = sum(any(map(one.fits, engrams)) for one in message.expected)
    right = sum(any(one.fits(engram) for one in message.expected) for engram in sure)
    return _Count(len(message.expected), found, len(sure), right)


def _speed(messages: list[Message]) -> str:
    texts = [message.text for message in messages]
    base, subject, ratio = paired(
        lambda: [text.split() for text in texts], lambda: [extract(text) for text in texts], RUNS
    )
    micro = 1e6 / len(texts)
    times = (f"{subject * micro:.0f}", f"{base * micro:.2f}", f"{ratio:.0f}")
    length = sum(map(len, texts)) / len(texts)
    note = f"Medians of {RUNS} pairs over {len(texts)} messages of {length:.0f} characters."
    return (
        f"{table([('a message', 'µs', 'yardstick µs', 'ratio'), ('`extract`', *times)])}\n\n{note}"
    )


if __name__ == "__main__":
    main()
