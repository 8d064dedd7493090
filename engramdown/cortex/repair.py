"""Carries out what ``doctor --fix`` may mend in one store, through its write protocol.

Promises: each file is one step that ``undo`` takes back; a file that somebody changed after it was
looked at is left as it is; a rehearsal and the real run write the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Final

from engramdown.cortex.mending import BY_TEXT, expired_ids, fix
from engramdown.doctor.checks import check
from engramdown.doctor.findings import Finding
from engramdown.errors import EntryNotFoundError, StoreError
from engramdown.hippocampus.changeset import new_id
from engramdown.hippocampus.store import Hippocampus

__all__ = ["Ids", "repair"]

# Mending a line can lay another finding open: a duplicate that has a wrong value, too.
_PASSES: Final = 3
_WHY: Final = "doctor"


class Ids:
    """New ids that can be given out again, so that what was shown is what is written.

    >>> ids = Ids()
    >>> ids.again()() == ids.again()()
    True
    """

    def __init__(self) -> None:
        """Begin with none; each is made when it is asked for."""
        self._made: list[str] = []

    def again(self) -> Callable[[], str]:
        """Return a function that gives the ids from the first one on."""
        given = 0

        def next_id() -> str:
            nonlocal given
            if given == len(self._made):
                self._made.append(new_id())
            given += 1
            return self._made[given - 1]

        return next_id


def repair(store: Hippocampus, today: date, next_id: Callable[[], str]) -> None:
    """Mend what is safe in the files of ``store``; one that cannot be read is passed over.

    Args:
        store: The store of one scope; a rehearsing one writes nothing.
        today: The day on which memories may have expired.
        next_id: Gives an id for an entry whose own stands twice.

    Raises:
        StoreError: If a file could not be written; what was mended before stays mended.
    """
    for _ in range(_PASSES):
        texts = _texts(store)
        found = [finding for finding in check(texts, today, store.scope) if finding.fixable]
        if not found:
            return
        for name in dict.fromkeys(finding.file for finding in found):
            _mend(store, name, texts[name], [each for each in found if each.file == name], next_id)


def _texts(store: Hippocampus) -> dict[str, str]:
    texts = {}
    for name in store.files.names():
        try:
            texts[name] = store.files.document(name).render()
        except StoreError:
            # The inspection has reported it; the other files can be mended all the same.
            continue
    return texts


def _mend(
    store: Hippocampus,
    name: str,
    text: str,
    findings: list[Finding],
    next_id: Callable[[], str],
) -> None:
    ids = expired_ids(text, findings)
    if any(finding.code in BY_TEXT for finding in findings):
        after = fix(text, findings, next_id)
        store.rewrite(name, lambda now: after if now == text else now, _WHY)
    for entry_id in ids:
        _forget(store, entry_id)


def _forget(store: Hippocampus, entry_id: str) -> None:
    try:
        store.forget(entry_id, why="expired", reason="expired")
    except EntryNotFoundError:
        return  # gone with its copy in another file, or by somebody else's hand
