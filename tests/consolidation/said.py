"""What forms say of a sentence, for the tests of each group of forms."""

from __future__ import annotations

from engramdown.consolidation.statement_forms import Form
from engramdown.consolidation.statement_reader import first_said

__all__ = ["said"]


def said(forms: tuple[Form, ...], words: str) -> str:
    """Return kind, label and what is kept of ``words``, or nothing."""
    found = first_said(forms, words, 0)
    if found is None:
        return ""
    return f"{found.kind}|{found.confidence}|{found.label}|{words[found.start : found.end]}"
