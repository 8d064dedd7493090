"""A proposed skill: how it waits for a person, and how it is written once they accept it.

Promises: nothing is written without a person's word; what is written twice, as after a crash, is
written once; a skill that is there already is never replaced; no secret is written.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final, NamedTuple

from engramdown.clock import today
from engramdown.engram import Engram, Scope
from engramdown.errors import InvalidSkillError, SkillExistsError
from engramdown.gate.gate import harmless
from engramdown.gate.pending import Pending
from engramdown.hippocampus.changeset import new_id
from engramdown.hippocampus.entry import Entry, Written
from engramdown.markdown.front_matter import FrontMatter
from engramdown.skills.store import SkillStore
from engramdown.skills.validation import check_description, check_label, check_text

NOTE = "learned-from"
"""The key in ``metadata`` that says where a skill was learned."""


def skill_question(draft: Draft, scope: Scope, *, of: str, origin: str, why: str) -> Pending:
    """Return the line of ``pending.md`` that asks a person whether to keep a skill.

    Args:
        draft: The skill.
        scope: Where it is to hold.
        of: What the procedure is known by, so that it is not proposed again.
        origin: Where it was learned.
        why: Why it is proposed.
    """
    engram = Engram(
        draft_text(draft), "lesson", scope, source="consolidation", basis="observed", origin=origin
    )
    return Pending(
        new_id(),
        harmless(engram),
        # Nobody is prompted about it; that it is said in words is what a person sees everywhere.
        hold=why,
        op="skill",
        of=of,
        ts=today().isoformat(),
    )


def write_skill(root: Path, item: Pending, engram: Engram, *, dry: bool = False) -> Written:
    """Write the skill that a person accepted, and return where it stands.

    Args:
        root: The folder of the scope.
        item: The proposal.
        engram: Its words as the person wants them.
        dry: Whether nothing is written, but for the checks.

    Raises:
        InvalidSkillError: If it is no skill as it reads now.
        SkillRefusedError: If it holds a secret.
        SkillExistsError: If there is another one of that label.
        StoreError: If it could not be written.
    """
    from engramdown.skills.library import Skills

    draft = read_draft(engram.text)
    store = SkillStore(root, engram.scope)
    skills = Skills([store])
    page = skills.drafted(draft.label, draft.description, draft.body)
    if engram.origin:
        page = page.with_mapping("metadata", {NOTE: engram.origin})
    path = store.files.folder / draft.label / "SKILL.md"
    if not dry:
        _create(store, draft.label, page)
    file = path.relative_to(root).as_posix()
    entry = Entry(item.id, engram.text, "lesson", engram.scope, file=file)
    return Written("encoded", entry)


def _create(store: SkillStore, label: str, page: FrontMatter) -> None:
    try:
        store.create(label, page)
    except SkillExistsError:
        if store.read(label).page.render() != page.render():
            raise  # Else a crash came between the skill and its proposal.


# A skill that is proposed, as the text of a line of ``pending.md`` and of what follows below it.
#
# Promises: no I/O; what is written is read again as it was; a person may change every word of it
# before they tick it, and what cannot be a skill any more says why.

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
