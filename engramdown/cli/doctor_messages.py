"""Every sentence of ``engramdown doctor``; those about findings stand with their codes.

Promises: pure; plain words; an error names the next step.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from engramdown.cortex.findings import Level

ADVICE: Final = "What to do"
ASK: Final = "Write this?"
NEEDS_YES: Final = "nothing was written; `engramdown doctor --fix --yes` mends without asking"
CHANGED_MEANWHILE: Final = (
    "nothing was written: the files changed meanwhile; run `engramdown doctor --fix` again"
)
NOTHING_TO_MEND: Final = "There is nothing that can be mended without you."

NOTHING_STAGED: Final = "No memory is staged."
STAGED_ONLY_LOOKS: Final = (
    "--staged only looks; mend with `engramdown doctor --fix`, then `git add` the files again"
)


def healthy(files: int, notes: int) -> str:
    """Say that nothing is wrong.

    >>> healthy(1, 2)
    'Nothing is wrong in 1 file; 2 notes.'
    """
    said = f"Nothing is wrong in {_count(files, 'file')}"
    return f"{said}; {_count(notes, 'note')}." if notes else f"{said}."


def summary(counts: Mapping[Level, int], fixable: int) -> str:
    """Say how much was found, by level, and what can be done about it.

    >>> summary({"error": 1, "warning": 0, "note": 2}, 0)
    '1 error, 2 notes.'
    """
    found = [_count(number, level) for level, number in counts.items() if number]
    if not fixable:
        return f"{', '.join(found)}."
    return f"{', '.join(found)}; `engramdown doctor --fix` can mend {fixable} of them."


def staged_healthy(files: int) -> str:
    """Say that nothing is wrong with what is staged.

    >>> staged_healthy(1)
    'Nothing is wrong in 1 staged file.'
    """
    return f"Nothing is wrong in {_count(files, 'staged file')}."


def staged_summary(counts: Mapping[Level, int], *, stops: bool) -> str:
    """Say how much was found in what is staged, and what that means.

    >>> staged_summary({"error": 1, "warning": 0, "note": 0}, stops=True)
    '1 error in what is staged; mend it and `git add` it again, or `git commit --no-verify`.'
    """
    found = ", ".join(_count(number, level) for level, number in counts.items() if number)
    more = "; mend it and `git add` it again, or `git commit --no-verify`" if stops else ""
    return f"{found} in what is staged{more}."


def mended(files: int) -> str:
    """Say that ``files`` were changed.

    >>> mended(2)
    'Mended 2 files; `engramdown undo` takes a step back.'
    """
    return f"Mended {_count(files, 'file')}; `engramdown undo` takes a step back."


def ends(session: str) -> str:
    """Say that a session is ended that nobody ended."""
    return f"End the session {session}, with the time of its last line"


def removes(name: str, why: str) -> str:
    """Say that the note of a process that ended is removed, and what it told."""
    return f"Remove {name}, which told that {why}"


def hides(session: str, seq: int, text: str) -> str:
    """Say that the secrets in a line of a transcript are hidden, and show where."""
    mark = text.find("[redacted: ")
    if mark < 0:
        return f"Hide what {session}#{seq} tells in the whole text that was kept beside it"
    at = max(0, mark - _BEFORE)
    return f"Hide what {session}#{seq} tells: {' '.join(text[at : at + _SHOWN].split())}"


_BEFORE: Final = 40
_SHOWN: Final = 100


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
