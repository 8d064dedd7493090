"""Every sentence of ``engramdown import`` and ``engramdown export``.

Promises: pure; plain words; an error names the next step.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

IMPORT_WHAT: Final = "say what to import: files, folders or a .zip; or --purge-import SOURCE"
EXPORT_WHAT: Final = "say which session to export, or --all"
NEEDS_FOLDER: Final = "--all writes a file for each session: say where, with -o FOLDER"
READING: Final = "Reading"


def imported(sessions: int, new: int, known: int, *, dry: bool) -> str:
    """Say what came.

    >>> imported(1, 12, 0, dry=True)
    'Would import 12 episodes of 1 session.'
    """
    verb = "Would import" if dry else "Imported"
    if not new:
        return "Nothing new" + (f": {_count(known, 'episode')} known already." if known else ".")
    said = f"{verb} {_count(new, 'episode')} of {_count(sessions, 'session')}"
    return f"{said}; {known:,} known already." if known else f"{said}."


def session_counts(new: int, known: int) -> str:
    """Say what one session got."""
    return f"{new:,} new" + (f", {known:,} known" if known else "")


def more_sessions(count: int) -> str:
    """Say how many sessions are not listed."""
    return f"… and {_count(count, 'session')} more; --json lists all."


def skipped_lines(path: str, reason: str, count: int, lines: list[int]) -> str:
    """Say what was damaged, and where.

    >>> skipped_lines("a.jsonl", "is not JSON", 9, [3, 4])
    'a.jsonl: skipped 9: is not JSON (3, 4, …)'
    """
    places = ", ".join(map(str, lines)) + (", …" if count > len(lines) else "")
    return f"{path}: skipped {count:,}: {reason} ({places})"


def left_out(reasons: Mapping[str, int]) -> str:
    """Say what belongs to no conversation."""
    return "Left out: " + ", ".join(f"{count:,} {reason}" for reason, count in reasons.items())


def other_files(unchanged: int, unknown: int) -> str:
    """Say what was with the files that were not read.

    >>> other_files(2, 1)
    '2 files have not changed since; 1 file was not recognised.'
    """
    parts = []
    if unchanged:
        parts.append(f"{_count(unchanged, 'file')} {_has(unchanged)} not changed since")
    if unknown:
        parts.append(
            f"{_count(unknown, 'file')} {'was' if unknown == 1 else 'were'} not recognised"
        )
    return "; ".join(parts) + "."


def unfinished(path: str) -> str:
    """Say that the last line of a file is still being written."""
    return f"{path}: the last line is unfinished; the next import reads it"


def nothing_recognised(names: list[str]) -> str:
    """Say that no file is one that can be imported."""
    return f"no transcript found there; --from says what it is: {', '.join(names)}"


def purged(source: str, sessions: int, payloads: int, *, dry: bool) -> str:
    """Say what was taken back."""
    verb = "Would remove" if dry else "Removed"
    said = f"{verb} {_count(sessions, 'session')} imported from {source}"
    return f"{said}, with {_count(payloads, 'whole text')}." if payloads else f"{said}."


def nothing_purged(source: str) -> str:
    """Say that nothing was imported from a source."""
    return f"nothing here was imported from {source}"


def exported(count: int, place: Path) -> str:
    """Say where sessions were written."""
    return f"Exported {_count(count, 'session')} to {place}."


def writing() -> str:
    """Say what a progress bar is about."""
    return "Writing"


def no_session(session: str) -> str:
    """Say that there is no such session."""
    return f"no session {session!r}; `engramdown log` lists them"


def not_one_session(session: str) -> str:
    """Say that several sessions begin so."""
    return f"{session!r} is not unique; give more characters"


def _has(count: int) -> str:
    return "has" if count == 1 else "have"


def _count(count: int, noun: str) -> str:
    return f"{count:,} {noun}" + ("" if count == 1 else "s")
