"""Asking a model to write down a procedure that was noticed.

Promises: writes nothing; a model sees the steps as data and without their secrets; it says first
whether they are worth keeping; what it writes has the lengths of a skill, and no secret either.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from engramdown.consolidation.prompts import OURS, render
from engramdown.language.untrusted import inert, one_line
from engramdown.secrets.redaction import redact

if TYPE_CHECKING:
    from engramdown.consolidation.model import LanguageModel
    from engramdown.consolidation.procedures import Procedure

__all__ = ["JOB", "Wording", "write_down"]

JOB: Final = "skill"
"""Its name in the ledger and in the state of sleep, and of its prompt."""

_LONGEST_DESCRIPTION: Final = 400
_LONGEST_BODY: Final = 8_000


class Wording(NamedTuple):
    """A procedure in words.

    Attributes:
        label: What to call it.
        description: What it does, and when.
        body: How it is done.
    """

    label: str
    description: str
    body: str


class _Shown(NamedTuple):
    """A step as a prompt shows it."""

    number: int
    now: str
    before: str


def write_down(
    procedure: Procedure, model: LanguageModel, templates: Mapping[str, str] = OURS
) -> Wording | None:
    """Ask ``model`` to write a procedure down; ``None`` if it is not worth keeping.

    No lock may be held meanwhile.

    Args:
        procedure: What was noticed.
        model: The language model.
        templates: A scope's own prompts.

    Raises:
        ModelError: If the model gives no answer of the form.
        StoreError: If a scope's own prompt is broken.
    """
    from engramdown.consolidation.skill_form import WrittenSkill

    steps = [_Shown(at, *map(redact, told)) for at, told in enumerate(procedure.told(), 1)]
    asked, count = redact(procedure.asked), procedure.sessions
    prompt = render(JOB, templates, steps=steps, asked=asked, sessions=count)
    said = model.ask(WrittenSkill, prompt.system, prompt.user)
    description = one_line(redact(said.description))[:_LONGEST_DESCRIPTION]
    body = inert(redact(said.body)).strip()[:_LONGEST_BODY]
    if not (said.worth_keeping and description and body):
        return None
    return Wording(one_line(said.label), description, f"{body}\n")
