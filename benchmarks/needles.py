"""Needles: how many of 200 facts are found again in a conversation of 20,000 messages.

The facts are planted at random places, once each, among small talk about the same kind of thing.
As it goes on, each thirty messages, it is summarised without a model; summaries of summaries are
three deep, or deeper.
Each fact is asked for as an assistant would: ``grep`` for its name, then ``expand`` the summary
that stands for the hit, page by page, until the words are there. Counted is what is found, and what
it costs in tokens; beside it, how many facts a prompt of the whole view still holds by itself, and
what that costs. The yardstick is the conversation itself, which nobody could send.
"""

from __future__ import annotations

import random
import statistics
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.measure import finish, table
from engramdown import Cortex
from engramdown.consolidation.summaries import write_without_model
from engramdown.conversation.conversation import Compaction, Conversation
from engramdown.tokens import estimate_tokens
from engramdown.transcripts.episode import Episode, stamp_of, write_line

__all__ = ["main"]

SEED: Final = 20261123
SESSION: Final = "20260301-101500-4f2a"
MESSAGES: Final = 20_000
FACTS: Final = 200
STEP: Final = 30
# What the view may cost: above it, summaries are condensed by twos.
LIMIT: Final = 8_000
_BEGIN: Final = 1_772_360_100_000_000_000
_SECOND: Final = 1_000_000_000
_BIRDS: Final = ("kestrel", "heron", "plover", "avocet", "dunlin", "godwit", "curlew", "knot")
_FORMS: Final = (
    "We decided that {name} listens on port {number} from now on.",
    "The limit of {name} is {number} requests a minute.",
    "{name} failed with error E{number}; a restart of the queue mended it.",
    "The backups of {name} are in /srv/backups/{number}.tar.",
    "Ada owns {name}; her extension is {number}.",
)
_TALK: Final = (
    "How does the deploy look to you?",
    "It went through, nothing to see there.",
    "Let me look at the logs of the other service for a moment.",
    "The tests are green again after the change of yesterday.",
    "Could you rename that variable, please? It reads oddly.",
    "Done. I also moved the helper next to where it is used.",
)


class _Fact(NamedTuple):
    """A fact.

    Attributes:
        name: What it is asked for by; it stands nowhere else.
        number: What is asked; it stands nowhere else either.
        text: The message in which it was said.
        seq: The number of that.
    """

    name: str
    number: str
    text: str
    seq: int


class _Asked(NamedTuple):
    """What came of asking for a fact: whether it was found, and what that cost."""

    grepped: bool
    expanded: bool
    grep_tokens: int
    expand_tokens: int


def main() -> None:
    """Plant facts, summarise, ask for each and print the table."""
    dice = random.Random(SEED)
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder, "project")
        (project / ".engramdown" / "episodes").mkdir(parents=True)
        facts = list(_facts(dice))
        conversation = Cortex.open(project=project, home=Path(folder, "home")).conversations.get(
            SESSION
        )
        whole = _grow(conversation, facts, dice)
        depth = max(gist.depth for gist in conversation.gists)
        asked = [_ask(conversation, fact) for fact in facts]
        view = conversation.view()
        shown = _shown(conversation)
    held = sum(fact.name in shown and fact.number in shown for fact in facts)
    finish("needles", f"{_table(asked, held, sum(item.tokens for item in view), whole)}\n\n"
        f"{MESSAGES:,} messages, summaries to depth {depth}, {len(view)} items in view; "
        f"seed {SEED}.")  # fmt: skip


def _facts(dice: random.Random) -> Iterator[_Fact]:
    numbers = dice.sample(range(10_000, 99_999), FACTS)
    places = dice.sample(range(1, MESSAGES + 1), FACTS)
    for at, (number, seq) in enumerate(zip(numbers, places, strict=True)):
        name = f"{dice.choice(_BIRDS)}-{at:03d}"
        text = dice.choice(_FORMS).format(name=name, number=number)
        yield _Fact(name, f"{number}", text, seq)


def _grow(conversation: Conversation, facts: Sequence[_Fact], dice: random.Random) -> int:
    """Let the conversation go on, and summarise; return what it costs in tokens."""
    planted = {fact.seq: fact.text for fact in facts}
    texts = ["", *(planted.get(seq) or dice.choice(_TALK) for seq in range(1, MESSAGES + 1))]
    for first in range(0, len(texts), STEP):
        with conversation.track.path.open("ab") as file:
            for seq, text in enumerate(texts[first : first + STEP], first):
                file.write(_line(seq, text))
        compaction = Compaction(conversation.track, write_without_model, LIMIT)
        compaction.run("incremental")
    return sum(map(estimate_tokens, texts))


def _line(seq: int, text: str) -> bytes:
    at, own_id = stamp_of(_BEGIN + seq * _SECOND), f"{seq:016d}"
    if not seq:
        start = {"v": 1, "session": SESSION}
        return write_line(Episode(0, at, own_id, "event", event="start", more=start))
    return write_line(Episode(seq, at, own_id, ("assistant", "user")[seq % 2], text))


def _ask(conversation: Conversation, fact: _Fact) -> _Asked:
    hits = conversation.grep(fact.name)
    grep_tokens = sum(estimate_tokens(hit.snippet) for hit in hits)
    grepped = any(fact.number in hit.snippet for hit in hits)
    hit = next((hit for hit in hits if hit.source == fact.seq), None)
    if hit is None or not hit.gist:
        return _Asked(grepped, grepped, grep_tokens, 0)
    tokens, cursor = 0, ""
    while True:
        page = conversation.expand(hit.gist, cursor=cursor)
        tokens += page.tokens
        if any(fact.text in item.text for item in page.items):
            return _Asked(grepped, expanded=True, grep_tokens=grep_tokens, expand_tokens=tokens)
        if not page.truncated:
            return _Asked(grepped, expanded=False, grep_tokens=grep_tokens, expand_tokens=tokens)
        cursor = page.cursor


def _shown(conversation: Conversation) -> str:
    """Return all that a prompt of the whole view says."""
    track = conversation.track
    texts = [
        track.fold.gists[source].text if isinstance(source, str) else track.message(source).text
        for source in track.fold
    ]
    return "\n".join(texts)


def _table(asked: Sequence[_Asked], held: int, view: int, whole: int) -> str:
    def median(values: Sequence[int]) -> str:
        return f"{statistics.median(values):,.0f}"

    both = [each.grep_tokens + each.expand_tokens for each in asked]
    return table([
        ("how", f"facts found of {FACTS}", "tokens for each, median", "most"),
        (
            "grep", f"{sum(each.grepped for each in asked)}",
            median([each.grep_tokens for each in asked]),
            f"{max(each.grep_tokens for each in asked):,}",
        ),
        (
            "grep, then expand", f"{sum(each.expanded for each in asked)}",
            median(both), f"{max(both):,}",
        ),
        ("the view alone", f"{held}", f"{view:,} for all", ""),
        ("the whole conversation", f"{FACTS}", f"{whole:,} for all", ""),
    ])  # fmt: skip


if __name__ == "__main__":
    main()
