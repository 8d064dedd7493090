"""How the journal and working notes look: to a person as lines, to a program as JSON.

Promises: pure; texts are exact in JSON.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from engramdown.cli import day_messages as said
from engramdown.cli.layout import Line, line, whole
from engramdown.journal.page_search import preview

if TYPE_CHECKING:
    from datetime import date
    from pathlib import Path

    from engramdown.journal.journal import Day, Match
    from engramdown.journal.page import Section
    from engramdown.journal.page_search import NoteMatch


def match_lines(found: Iterable[Match]) -> Iterator[Line]:
    """Yield one line for each section of the journal that was found."""
    for match in found:
        section = match.section
        yield line(
            (f"{match.path.name}:{section.line}", "where"),
            (f"  {section.heading}  " if section.heading else "  ", "dim"),
            (said.WHO[section.by], "strong"),
            "  ",
            " ".join(match.piece.split()),
            hang=4,
        )


def note_lines(found: Iterable[NoteMatch]) -> Iterator[Line]:
    """Yield one line for the notes on each session that were found."""
    for match in found:
        yield line(
            (f"{match.path.parent.name}/{match.path.name}", "where"),
            (f"  {match.updated[:16].replace('T', ' ')}  ", "dim"),
            " ".join(match.piece.split()),
            hang=4,
        )


def page_lines(day: Day) -> Iterator[Line]:
    """Yield all that was written on a day."""
    yield line((day.date.isoformat(), "strong"), (f"  {said.words(day.page.words)}", "dim"))
    yield whole((str(day.path), "where"))
    if day.page.themes:
        yield line((f"themes: {', '.join(day.page.themes)}", "dim"))
    for section in day.sections:
        yield line()
        who = (f"  {said.WHO[section.by]}", "dim") if section.heading else ""
        themes = f"  ({', '.join(section.themes)})" if section.themes else ""
        if section.heading:
            yield line((section.heading, "strong"), who, (themes, "dim"))
        yield line(section.text, indent=2)


def listed_lines(days: Iterable[Day]) -> Iterator[Line]:
    """Yield a line for each day, and one with the beginning of it."""
    for day in days:
        themes = f"  {', '.join(day.page.themes)}" if day.page.themes else ""
        words = (f"  {said.words(day.page.words)}", "dim")
        yield line((day.date.isoformat(), "id"), words, themes, hang=4)
        shown = day.problem or _beginning(day)
        if shown:
            yield line((shown, "bad" if day.problem else ""), indent=4)


def day_data(day: Day, *, sections: bool) -> dict[str, Any]:
    """Return a day, with all that was written or with its beginning."""
    data: dict[str, Any] = {
        "date": day.date.isoformat(),
        "path": str(day.path),
        "words": day.page.words,
        "themes": list(day.page.themes),
        "locked": day.page.is_locked,
    }
    if sections:
        told = [section_data(day.date, day.path, section) for section in day.sections]
        return {**data, "sections": told}
    return {**data, "preview": _beginning(day), "problem": day.problem}


def section_data(day: date, path: Path, section: Section) -> dict[str, Any]:
    """Return a section and where it stands."""
    return {
        "date": day.isoformat(),
        "path": str(path),
        "line": section.line,
        "heading": section.heading,
        "by": section.by,
        "at": section.at,
        "session": section.session,
        "themes": list(section.themes),
        "text": section.text,
    }


def match_data(match: Match) -> dict[str, Any]:
    """Return a section that was found."""
    found = section_data(match.date, match.path, match.section)
    return {**found, "preview": match.piece, "score": match.score}


def note_data(match: NoteMatch) -> dict[str, Any]:
    """Return notes that were found."""
    return {
        "session": match.session,
        "path": str(match.path),
        "updated": match.updated,
        "preview": match.piece,
        "score": match.score,
    }


def _beginning(day: Day) -> str:
    return preview(" ".join(" ".join(section.text for section in day.sections).split()))
