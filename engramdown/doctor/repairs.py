"""Carries out ``doctor --fix`` in one store, through its write protocol.

Each file is one step that ``undo`` takes back. A file that changed after it was checked is left as
it is. A dry run and the real run write the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import date
from typing import Final

from engramdown.doctor.checks import check
from engramdown.doctor.findings import Finding
from engramdown.doctor.syntax import corrected
from engramdown.errors import EntryNotFoundError, StoreError
from engramdown.hippocampus.changeset import new_id
from engramdown.hippocampus.entry import entry_id
from engramdown.hippocampus.store import Hippocampus
from engramdown.markdown.document import parse
from engramdown.markdown.metadata import Metadata

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
    for found in ids:
        _forget(store, found)


def _forget(store: Hippocampus, entry_id: str) -> None:
    try:
        store.forget(entry_id, why="expired", reason="expired")
    except EntryNotFoundError:
        return  # gone with its copy in another file, or by somebody else's hand


# Mends what is safe to mend in the text of a memory file.
#
# Pure; only lines that we wrote and that a finding calls fixable change, every other byte
# stays; what is mended is not found again.

BY_TEXT: Final = frozenset({"duplicate", "id-twice", "metadata-twice", "metadata-value"})
"""The codes that :func:`fix` mends; ``expired`` is mended by forgetting the memory."""


def fix(text: str, findings: Iterable[Finding], new_id: Callable[[], str]) -> str:
    r"""Return ``text`` with what is fixable mended.

    Args:
        text: The text of a file.
        findings: What :func:`engramdown.doctor.checks.check` found in exactly this text.
        new_id: Gives an id for an entry whose own stands twice.

    >>> from datetime import date
    >>> from engramdown.doctor.checks import check
    >>> text = "- CI is slow <!-- id:k3v9q2ht confidence:High -->\n"
    >>> fix(text, check({"lessons.md": text}, date(2026, 3, 1)), lambda: "")
    '- CI is slow <!-- id:k3v9q2ht confidence:high -->\n'
    """
    codes: dict[int, set[str]] = {}
    for finding in findings:
        if finding.fixable and finding.code in BY_TEXT:
            codes.setdefault(finding.line, set()).add(finding.code)
    document = parse(text)
    for placed in document.placed():
        block = placed.block
        last = placed.line + block.raw.rstrip().count("\n")
        found = codes.get(placed.line, set()) | codes.get(last, set())
        if "duplicate" in found:
            document = document.remove(block)
        elif found:
            meta = _mended(block.meta or Metadata(), found, new_id)
            document = document.note(block, meta)
    return document.render()


def expired_ids(text: str, findings: Iterable[Finding]) -> list[str]:
    """Return the ids of the memories that a finding says have expired and may be forgotten.

    One that is mended in another way too keeps for the next time.
    """
    codes: dict[int, set[str]] = {}
    for finding in findings:
        if finding.fixable:
            codes.setdefault(finding.line, set()).add(finding.code)
    lines = {line for line, found in codes.items() if found == {"expired"}}
    return [entry_id(placed) for placed in parse(text).placed() if placed.line in lines]


def _mended(meta: Metadata, codes: set[str], new_id: Callable[[], str]) -> Metadata:
    if codes & {"metadata-twice", "metadata-value"}:
        meta = corrected(meta)
    return meta.update({"id": new_id()}) if "id-twice" in codes else meta
