"""Mends what is safe to mend in the text of a memory file.

Promises: pure; only lines that we wrote and that a finding calls fixable change, every other byte
stays; what is mended is not found again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from engramdown.doctor.findings import Finding
from engramdown.doctor.syntax import corrected
from engramdown.hippocampus.entry import entry_id
from engramdown.markdown.document import parse
from engramdown.markdown.metadata import Metadata

__all__ = ["BY_TEXT", "expired_ids", "fix"]

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
