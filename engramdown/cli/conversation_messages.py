"""Every sentence of ``engramdown log compact`` and the other commands about summaries.

Promises: pure; plain words; an error names the next step; a time is that of the person's clock.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from engramdown.cli.layout import clock

if TYPE_CHECKING:
    from engramdown.consolidation.conversation.pressure import Pressure
    from engramdown.cortex.conversation.compacting import Compacted
    from engramdown.cortex.conversation.lineage import Described, Expansion
    from engramdown.transcripts.summary_log import Gist


GISTS_HEAD: Final = ("summary", "form", "depth", "messages", "tokens", "lines", "how")
PLANNED_HEAD: Final = ("form", "depth", "messages", "tokens", "at most", "lines")
NO_MODEL: Final = (
    "no model is set to summarise with; --without-model does it by rules, or name a model as "
    "`model` under [consolidation] in the global scope's config.toml"
)
NO_PATTERN: Final = "the text to look for is empty"
_WAYS: Final = {
    "normal": "",
    "aggressive": "asked twice",
    "cut": "cut",
    "extractive": "without a model",
}


def thinks(model: str) -> str:
    """Say who is about to be asked.

    >>> thinks("ollama/small")
    'ollama/small writes the summaries; this may take a while'
    """
    return f"{model} writes the summaries; this may take a while"


# ---- what came of it ----


def summarised(done: Compacted) -> str:
    """Say what was summarised."""
    return f"Wrote {_written(done)}: {done.tokens_before:,} tokens are now {done.tokens_after:,}."


def planned(done: Compacted) -> str:
    """Say what would be summarised."""
    before, after = f"{done.tokens_before:,}", f"{done.tokens_after:,}"
    return f"Would write {_written(done)}: {before} tokens would be {after} at most."


def lost(count: int) -> str:
    """Say that somebody else was faster."""
    was = "1 summary was" if count == 1 else f"{count:,} summaries were"
    return f"{was} dropped: somebody else summarised the same meanwhile"


# ---- how full it is ----


def fullness(now: Pressure, summaries: int) -> str:
    """Say how full a conversation is, and when it is time to summarise it."""
    count = f"{_count(summaries, 'summary', 'summaries')} and " if summaries else ""
    shown = f"A model sees {count}{_messages(now.messages)}: {now.tokens:,} tokens"
    if now.limit < 0:
        return f"{shown}. Nothing is summarised unless somebody asks."
    if now.due:
        return f"{shown}. It is time to summarise: {now.reason}."
    most = f", or with {_messages(now.most)}" if now.most else ""
    return f"{shown}. It is time to summarise above {now.limit:,} tokens{most}."


def no_gists(session: str) -> str:
    """Say that a conversation has no summaries."""
    return f"no summary of {session}; `engramdown log compact {session}` writes one"


def way(gist: Gist) -> str:
    """Say how a summary came about, where that is worth a word."""
    return _WAYS[gist.level]


# ---- one summary ----


def span(first: int, last: int) -> str:
    """Name the lines that a summary stands for.

    >>> span(1, 20), span(4, 4)
    ('#1-20', '#4')
    """
    return f"#{first}" if first == last else f"#{first}-{last}"


def facts(session: str, known: Described, lines: str, sources: str) -> list[tuple[str, str]]:
    """Return what is known of a summary, name and value."""
    gist = known.gist
    return [
        ("summary", gist.id),
        ("session", session),
        ("form", f"{gist.form}, depth {gist.depth}"),
        ("stands for", f"{_messages(gist.messages)}, {session}{lines}"),
        ("said", " to ".join(filter(None, map(when, (gist.earliest, gist.latest))))),
        ("made from", sources),
        ("written", when(gist.ts)),
        ("by", ", ".join(filter(None, (gist.model, way(gist))))),
        ("tokens", f"{gist.tokens:,} of {gist.source_tokens:,}"),
        ("shown", "to the model, as it is" if known.in_view else f"not: {known.derived} is"),
    ]


def when(ts: str) -> str:
    """Return a moment by the person's clock, or ``""`` if it is none: anybody may edit a log.

    >>> when("")
    ''
    """
    try:
        return clock(ts)
    except (ValueError, OverflowError):
        return ""


def summary(form: str) -> str:
    """Name a summary by its form.

    >>> summary("leaf")
    'leaf summary'
    """
    return f"{form} summary"


def part() -> str:
    """Say that a text is not all, or not from the beginning."""
    return "a part of it"


def going_on(session: str, found: Expansion, tokens: int) -> str:
    """Say how to read on."""
    room = f" --tokens {tokens}" if tokens else ""
    return (
        f"there is more: `engramdown log expand {found.gist} --session {session} "
        f"--cursor {found.cursor}{room}`"
    )


def no_gist(wanted: str) -> str:
    """Say that no session has such a summary."""
    return f"no session has a summary {wanted!r}; `engramdown log gists SESSION` lists the ids"


# ---- finding ----


def covered(gist: str) -> str:
    """Say which summary stands for a message, or was made from another one."""
    return f"in {gist}"


def no_hits(session: str) -> str:
    """Say that a text was not found."""
    return f"not found in {session}; the very text is looked for, without wildcards"


def more_hits(count: int) -> str:
    """Say that there are more hits than were asked for."""
    return f"there are more than {count:,}; --limit shows more"


def _written(done: Compacted) -> str:
    of = _messages(done.messages) if done.messages else "what was summarised before"
    return f"{_count(len(done.gists), 'summary', 'summaries')} of {of}"


def _messages(number: int) -> str:
    return _count(number, "message", "messages")


def _count(number: int, one: str, several: str) -> str:
    return f"{number:,} {one if number == 1 else several}"
