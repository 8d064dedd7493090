"""Asking a model which lasting facts were told in a conversation.

Promises: writes nothing; a model sees a few whole messages, as data and without their secrets; it
says first whether any of it is worth keeping, and where it is not, nothing is; what comes of it is
inferred, at most of medium confidence, and points at the messages that tell it, one of the user's
among them: what an assistant says may be what memory told it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from engramdown.consolidation.cells import Line
from engramdown.consolidation.learned import Learned, Lesson, learned
from engramdown.consolidation.model import learn_from
from engramdown.consolidation.prompts import OURS, render
from engramdown.kinds import scope_for
from engramdown.secrets.redaction import redact

if TYPE_CHECKING:
    from engramdown.consolidation.facts_form import FoundFact
    from engramdown.consolidation.model import LanguageModel

__all__ = ["JOB", "MOST", "find_facts"]

JOB: Final = "facts"
"""Its name in the ledger and in the state of sleep, and of its prompt."""
MOST: Final = 10
"""So many facts one conversation may bring."""

_UNSAID: Final = 5
"""So many messages a fact points at if the model does not say which tell it: the newest."""


class _Shown(NamedTuple):
    """A message as a prompt shows it."""

    number: int
    role: str
    text: str


def find_facts(
    session: str,
    messages: Sequence[Line],
    model: LanguageModel,
    templates: Mapping[str, str] = OURS,
) -> Learned:
    """Ask ``model`` for the facts in messages. No lock may be held meanwhile.

    Args:
        session: The id of the session, for the pointers.
        messages: What :func:`engramdown.consolidation.worth.worth_showing` returns.
        model: The language model.
        templates: A scope's own prompts.

    Raises:
        ModelError: If the model gives no answer of the form.
        StoreError: If a scope's own prompt is broken.
    """
    from engramdown.consolidation.facts_form import FoundFacts

    if not messages:
        return Learned()
    shown = [_Shown(at, each.role, redact(each.text)) for at, each in enumerate(messages, 1)]
    prompt = render("facts", templates, messages=shown, most=MOST)
    told = [each.number for each in shown if each.role == "user"][-_UNSAID:]
    theirs = {each.number for each in shown if each.role == "assistant"}
    by_user = [each.text if each.role == "user" else "" for each in messages]
    untold: list[Lesson] = []

    def read(answer: FoundFacts) -> Learned:
        found = answer.items if answer.worth_persisting else []
        facts = [_lesson(each, told) for each in found if each.text.strip()]
        untold[:] = [fact for fact in facts if theirs.issuperset(fact.numbers)]
        kept = [fact for fact in facts if fact not in untold]
        return learned(kept, [f"{session}#{each.seq}" for each in messages], MOST, by_user)

    learnt = learn_from(model, FoundFacts, prompt, read)
    if not untold:
        return learnt
    reason = f"a fact is refused, {len(untold)} in all: only the assistant said so"
    return learnt._replace(refusals=(reason, *learnt.refusals))


def _lesson(fact: FoundFact, told: Sequence[int]) -> Lesson:
    scope = scope_for(fact.kind, fact.scope)
    topic = fact.topic.strip() if fact.kind == "lesson" else ""
    return Lesson(fact.text, fact.messages or told, fact.kind, scope, fact.confidence, topic)
