r"""A skill that is proposed, as the text of a line of ``pending.md`` and of what follows below it.

Promises: no I/O; what is written is read again as it was; a person may change every word of it
before they tick it, and what cannot be a skill any more says why.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from engramdown.errors import InvalidSkillError
from engramdown.skills.validation import check_description, check_label, check_text

__all__ = ["Draft", "draft_text", "read_draft"]

_FORM: Final = re.compile(r"\s*Skill\s+`([^`\n]*)`\s*:(.*?)(?:\n[ \t]*\n(.*))?\Z", re.DOTALL)
_HOW: Final = "write `Skill `, the label in backquotes, a colon and what it does"


class Draft(NamedTuple):
    """A skill that is proposed.

    Attributes:
        label: What it is to be called.
        description: What it does, and when.
        body: How it is done.
    """

    label: str
    description: str
    body: str


def draft_text(draft: Draft) -> str:
    r"""Return a draft as a text.

    >>> draft_text(Draft("charts", "Make charts", "1. Plot.\n"))
    'Skill `charts`: Make charts\n\n1. Plot.'
    """
    does = " ".join(draft.description.split())
    return f"Skill `{draft.label}`: {does}\n\n{draft.body.strip()}".rstrip()


def read_draft(text: str) -> Draft:
    r"""Return the draft that a text is.

    Raises:
        InvalidSkillError: If it is none; the error says what is allowed.

    >>> read_draft("Skill `charts`: Make\ncharts\n\n1. Plot.\n")
    Draft(label='charts', description='Make charts', body='1. Plot.\n')
    """
    found = _FORM.match(text)
    if found is None:
        raise InvalidSkillError("draft", f"is no skill; {_HOW}")
    label, does, body = found.groups()
    body = check_text("body", (body or "").strip("\n").rstrip())
    description = check_description(" ".join(does.split()))
    return Draft(check_label(label.strip()), description, f"{body}\n" if body else "")
