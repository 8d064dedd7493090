"""Transcripts, cards, summaries, the journal, notes, and what is found, as values for JSON.

The rules are those of :mod:`engramdown.serializers.memories`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from engramdown.serializers.memories import Folders, entry_data, pick

if TYPE_CHECKING:
    from engramdown import MemoryContext
    from engramdown.context import Found as Results
    from engramdown.conversation import Compacted, Expanded, Expansion, Found, Track
    from engramdown.doctor import Traces
    from engramdown.episodes import Card, Forgotten
    from engramdown.journal import Day, Match, Note, NoteMatch, Section, WorkingNotes
    from engramdown.recall import Hit
    from engramdown.transcripts import Episode, Gist, SessionInfo, Tally, ToolCall, ToolSum

# Stands for the empty reason of a failure.
_NO_REASON: Final = "(no reason given)"
# The facts of a summary that is not written yet.
_PLANNED: Final = (
    *("form", "depth", "messages", "source_tokens", "tokens", "first", "last"),
    *("earliest", "latest"),
)


# ---- transcripts ----


def session_data(info: SessionInfo, tally: Tally, path: Path) -> dict[str, Any]:
    """Return the facts about a session, and the path of its transcript."""
    return {
        **pick(info, "id title started last ended reason"),
        "open": not info.ended,
        **pick(info, "parent parent_call source conversation"),
        **pick(tally, "turns episodes first"),
        "excluded": {"whole": tally.excluded.whole, "lines": sorted(tally.excluded.seqs)},
        "bytes": info.size,
        "path": str(path),
    }


def episode_data(session: str, episode: Episode) -> dict[str, Any]:
    """Return a line of a transcript, and its place."""
    from engramdown.transcripts import Pointer, write_line

    return {"pointer": str(Pointer(session, episode.seq)), **json.loads(write_line(episode))}


def hit_data(hit: Hit) -> dict[str, Any]:
    """Return a line of a transcript that matches."""
    facts = pick(hit, "session seq time role name text snippet score")
    return {"pointer": str(hit.pointer), **facts, **({"newer": hit.newer} if hit.newer else {})}


def tools_data(
    session: str | None, called: Iterable[ToolSum], calls: Iterable[ToolCall]
) -> dict[str, Any]:
    """Return which tools were called in a session, or in all sessions, and each call."""
    return {
        "session": session,
        "tools": [*map(_sum_data, called)],
        "calls": [*map(_call_data, calls)],
    }


def _sum_data(each: ToolSum) -> dict[str, Any]:
    from dataclasses import asdict

    errors = {reason or _NO_REASON: times for reason, times in each.errors.items()}
    return {**asdict(each), "errors": errors, "error_rate": each.error_rate}


def _call_data(call: ToolCall) -> dict[str, Any]:
    from dataclasses import asdict

    answer = None if call.answer is None else str(call.answer)
    return {**asdict(call), "pointer": str(call.pointer), "answer": answer}


def card_data(card: Card, path: Path) -> dict[str, Any]:
    """Return what a session was about, and the path of its card."""
    facts = pick(
        card,
        "session title one_liner paragraph kind tags detailed decisions participants tools files "
        "models filled_by edited stale",
    )
    return {**facts, "tools": dict(card.tools), "path": str(path)}


def withdrawn_data(done: Forgotten, traces: Traces) -> dict[str, Any]:
    """Return the lines that were excluded, included, redacted or purged, and their traces."""
    memories = [{**each._asdict(), "origin": str(each.origin)} for each in traces.learned]
    return {
        **pick(done, "action session seqs changed files card notes"),
        "quoted": [str(pointer) for pointer in done.quoted],
        "memories": memories,
        **pick(traces, "journal remains"),
        "running": done.running,
    }


# ---- summaries ----


def gist_data(track: Track, gist: Gist) -> dict[str, Any]:
    """Return a summary that was written, and whether the conversation shows it."""
    derived = track.fold.derived.get(gist.id, "")
    data = _gist_data(gist, track.fold.gists)
    return {**data, "derived": derived, "in_view": gist.id in track.fold}


def compacted_data(
    track: Track, done: Compacted, known: Mapping[str, Gist], *, dry_run: bool
) -> dict[str, Any]:
    """Return the summaries that were written of a conversation, or would be.

    Args:
        track: The view of the conversation.
        done: What was done.
        known: All its summaries, by id.
        dry_run: Whether nothing was written.
    """
    if dry_run:
        planned = [_gist_data(gist, known) for gist in done.gists]
        written = [{key: gist[key] for key in _PLANNED} for gist in planned]
    else:
        written = [gist_data(track, gist) for gist in done.gists]
    return {
        "session": track.session,
        "dry_run": dry_run,
        "mode": done.mode,
        "gists": written,
        **pick(done, "messages tokens_before tokens_after rounds lost reload_required reason"),
    }


def _gist_data(gist: Gist, known: Mapping[str, Gist]) -> dict[str, Any]:
    from engramdown.conversation import ends

    first, last = ends(known, gist.id)
    return {**gist._asdict(), "sources": [*gist.runs], "first": first, "last": last}


def source_data(session: str, item: Found | Expanded) -> dict[str, Any]:
    """Return a message or a summary of a conversation: one that matches, or one that is covered."""
    return {**item._asdict(), "source": source_name(session, item.source)}


def source_name(session: str, source: int | str) -> str:
    """Return the pointer of a message, or the id of a summary."""
    from engramdown.transcripts import Pointer

    return source if isinstance(source, str) else str(Pointer(session, source))


def expansion_data(session: str, expansion: Expansion) -> dict[str, Any]:
    """Return what a summary covers."""
    items = [source_data(session, item) for item in expansion.items]
    named = {"session": session, "id": expansion.gist, "items": items}
    return {**named, **pick(expansion, "tokens truncated cursor")}


# ---- the journal, and notes on a session ----


def _day_data(day: Day) -> dict[str, Any]:
    """Return the facts about the page of a day."""
    return {
        **pick(day, "date path"),
        **pick(day.page, "words themes"),
        "locked": day.page.is_locked,
    }


def listed_day_data(day: Day) -> dict[str, Any]:
    """Return the facts about the page of a day, with its beginning, or why it cannot be read."""
    from engramdown.journal import preview

    text = " ".join(section.text for section in day.sections)
    beginning = preview(" ".join(text.split()))
    return {**_day_data(day), "preview": beginning, "problem": day.problem}


def day_page_data(day: Day) -> dict[str, Any]:
    """Return the page of a day, with what was written."""
    sections = [section_data(day.date, day.path, section) for section in day.sections]
    return {**_day_data(day), "sections": sections}


def section_data(day: date, path: Path, section: Section) -> dict[str, Any]:
    """Return a section of the journal, and its place."""
    return {
        "date": day.isoformat(),
        "path": str(path),
        **pick(section, "line heading by at session themes text"),
    }


def match_data(match: Match) -> dict[str, Any]:
    """Return a section of the journal that matches."""
    section = section_data(match.date, match.path, match.section)
    return {**section, "preview": match.piece, "score": match.score}


def note_data(match: NoteMatch) -> dict[str, Any]:
    """Return notes on a session that match."""
    notes = {"session": match.session, "path": str(match.path), "updated": match.updated}
    return {**notes, "preview": match.piece, "score": match.score}


def notes_data(kept: WorkingNotes, note: Note) -> dict[str, Any]:
    """Return the notes on a session."""
    return {"session": kept.session, "path": str(kept.path), **pick(note, "text updated digest")}


# ---- what a question finds, and what a model is shown ----


def recall_data(found: Results, folders: Folders) -> dict[str, Any]:
    """Return what was found in all sources; the journal and notes only if they have a match."""
    memories = []
    for entry in found.memories:
        newer = {"newer": found.newer[entry.id]} if entry.id in found.newer else {}
        memories.append({**entry_data(entry, folders), **newer})
    data = {"memories": memories, "episodes": [hit_data(hit) for hit in found.episodes]}
    if found.journal:
        data["journal"] = [match_data(match) for match in found.journal]
    if found.working:
        data["notes"] = [note_data(match) for match in found.working]
    return data


def context_data(made: MemoryContext, folders: Folders) -> dict[str, Any]:
    """Return what a model sees of memory, section by section, and what was left out."""
    from engramdown.tokens import estimate_tokens

    return {
        "text": str(made),
        "tokens": estimate_tokens(made),
        "sections": [
            {
                **pick(section, "name heading budget tokens"),
                "shown": [entry.id for entry in section.shown],
                "left_out": [entry_data(entry, folders) for entry in section.left_out],
                "text": section.text,
            }
            for section in made.sections
        ],
    }
