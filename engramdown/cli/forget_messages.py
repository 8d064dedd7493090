"""Every sentence of ``engramdown log exclude``, ``include``, ``redact``, ``purge`` and ``card``.

Promises: pure; plain words; what cannot be taken back says so before it is done.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from engramdown.cortex.origins import Sourced
    from engramdown.episodes.card import Card
    from engramdown.episodes.forget import Forgotten
    from engramdown.transcripts.episode import Pointer


NEEDS_YES: Final = "a purge cannot be taken back; say --yes, or run it in a terminal to be asked"
NEEDS_NUMBER: Final = (
    "redact single lines, SESSION#NUMBER; `engramdown log purge SESSION` removes a whole session"
)
EDIT_INSTEAD: Final = "set EDITOR, or write the file: `engramdown log card --json` says where"
STALE: Final = (
    "Your page is left out: lines were redacted since you saved it. Take out what must go and "
    "save it, and it counts again."
)
CARD_FIELDS: Final = (
    ("title", "title"),
    ("one_liner", "in one line"),
    ("kind", "kind"),
    ("tags", "tags"),
    ("decisions", "decisions"),
    ("participants", "who spoke"),
    ("tools", "tools"),
    ("files", "files"),
    ("models", "models"),
)
"""The fields of a card, and what each is called."""

_DONE: Final = {
    "exclude": "Excluded",
    "include": "Included",
    "redact": "Redacted",
    "purge": "Purged",
}
_ALREADY: Final = {
    "exclude": "is excluded already",
    "include": "is not excluded",
    "redact": "is redacted already",
}


def done(told: Forgotten) -> str:
    """Say what became of lines, or of a session."""
    what = _names(told)
    if told.changed:
        return f"{_DONE[told.action]} {what}"
    return f"{what}: {_ALREADY[told.action]}"


def files(paths: Iterable[Path], folder: Path) -> str:
    """Name the files that are removed or changed."""
    return ", ".join(_below(path, folder) for path in paths)


def card_stays(path: Path) -> str:
    """Say that a person's page may hold what was redacted."""
    return f"{path}: you wrote this page, so it stays; look whether it quotes what was redacted"


def notes_stay(path: Path, session: str) -> str:
    """Say that the notes on a session may hold what was redacted."""
    return (
        f"{path}: the notes on the session stay; look whether they quote what was redacted, "
        f"and save them or remove them with `engramdown log notes {session} --delete`"
    )


def quoted(pointers: Iterable[Pointer]) -> str:
    """Say where a recall has shown lines that were redacted."""
    names = " ".join(map(str, pointers))
    return f"recall has shown it to a model; if it stands there too: engramdown log redact {names}"


def journalled(places: Iterable[str]) -> str:
    """Name the sections of the journal that were written in the session."""
    return f"written in it, and yours to look at: {', '.join(places)}"


def learned(memories: Iterable[Sourced]) -> str:
    """Name the memories that were learned from what is redacted or purged."""
    names = ", ".join(f"{each.id} ({each.scope} {each.file}:{each.line})" for each in memories)
    return f"learned from it: {names}; if it says the same: engramdown edit or engramdown forget"


def remains(places: Iterable[str]) -> str:
    """Name what keeps words of what is taken back: the journal of changes, notes on others."""
    return (
        f"keeps words of it, and stays: {', '.join(places)}; `engramdown forget --forever ID` "
        f"takes a memory's words out of all of it, and `engramdown forget --forever -` what you "
        f"type"
    )


def is_running(session: str) -> str:
    """Say that a session goes on."""
    return f"{session} is in use; what is said in it from now on begins it anew"


def ask_purge(sessions: Iterable[str], count: int) -> str:
    """Ask before sessions are removed."""
    names = ", ".join(sessions)
    size = f"{count} file{'' if count == 1 else 's'}"
    return f"Remove {names} for ever ({size})?"


def no_number_here(pointer: str) -> str:
    """Say that only whole sessions are purged."""
    return f"{pointer!r}: only a whole session is purged; `engramdown log redact` empties lines"


def card_path(path: Path) -> str:
    """Say where a person's page is."""
    return f"From {path}"


def filled_by(model: str) -> str:
    """Say which model said some of a card."""
    return f"Filled in by {model}"


def not_filled(session: str) -> str:
    """Say that a model's words are not kept."""
    return f"nothing of {session} may be shown to a model, or lines were taken back meanwhile"


def saved_already(path: Path) -> str:
    """Say that somebody else wrote the page meanwhile."""
    return f"{path} was written meanwhile, so yours was not; run it again to edit that one"


def tools(card: Card) -> str:
    """Return how often each tool was called."""
    return ", ".join(f"{name} {count}" for name, count in card.tools.items())


def _names(told: Forgotten) -> str:
    if not told.seqs:
        return told.session
    return ", ".join(f"{told.session}#{seq}" for seq in told.seqs)


def _below(path: Path, folder: Path) -> str:
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else str(path)
