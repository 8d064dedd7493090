"""Facts about the user: what they state outright, and what a model finds in a conversation.

Nothing is written here. A fact reads ``Key: value``, points at the message that tells it, and is at
most of medium confidence where a model found it; one that only the assistant said is refused.
Whether asking a model is worth it is decided without one, and it is shown whole messages, the
newest that fit, as data and without their secrets.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from engramdown.consolidation.actions import Line
from engramdown.consolidation.corrections import read_messages
from engramdown.consolidation.prompts import OURS, render
from engramdown.consolidation.replay import Learned, Lesson, learn_from, memories_of, shorten
from engramdown.engram import Engram, fact_key, fold
from engramdown.kinds import scope_for
from engramdown.secrets.redaction import redact

if TYPE_CHECKING:
    from engramdown.consolidation.forms import Fact
    from engramdown.models.port import LanguageModel

# So many facts one look may bring.
MOST: Final = 10

_LONGEST_VALUE: Final = 200
_SHOWN: Final = 1500


class Message(NamedTuple):
    """What the user wrote.

    Attributes:
        text: In these words.
        pointer: Where it stands, ``<session>#<seq>``, or ``""``.
    """

    text: str
    pointer: str = ""


def messages_of(session: str, lines: Iterable[Line]) -> list[Message]:
    """Return the messages of the user in a session.

    Args:
        session: Its id, for the pointers.
        lines: Its lines, in order.
    """
    said = (line for line in lines if line.role == "user" and line.text.strip())
    return [Message(line.text, f"{session}#{line.seq}") for line in said]


def facts_without_model(messages: Iterable[Message]) -> Learned:
    """Return what the user states outright; of two facts with one key the later one.

    Who says so is this job, looking back: a fact that contradicts what a person wrote is for them.
    """
    stated = read_messages((message.text, message.pointer) for message in messages)
    facts = [each for each in stated.engrams if each.kind == "profile"]
    found = {_key(each): replace(each, source="consolidation") for each in facts}
    return Learned(tuple(found.values()))


def facts_of_model(
    messages: Sequence[Message], model: LanguageModel, templates: Mapping[str, str] = OURS
) -> Learned:
    """Ask ``model`` which facts about the user are in messages. No lock may be held meanwhile.

    Raises:
        ModelError: If the model gives no answer of the form.
        StoreError: If a scope's own prompt is broken.
    """
    from engramdown.consolidation.forms import Facts

    if not messages:
        return Learned()
    given = [
        {"number": at, "text": shorten(each.text, _SHOWN)} for at, each in enumerate(messages, 1)
    ]
    prompt = render("identity", templates, messages=given, most=MOST)

    def read(answer: Facts) -> Learned:
        problems = [_problem(fact) for fact in answer.facts]
        facts = [
            Lesson(f"{fact.key.strip()}: {fact.value.strip()}", fact.messages, "profile", "global")
            for fact, problem in zip(answer.facts, problems, strict=True)
            if not problem
        ]
        texts = [message.text for message in messages]
        found = memories_of(facts, [message.pointer for message in messages], MOST, texts)
        by_key = {_key(engram): engram for engram in found.engrams}
        return Learned(tuple(by_key.values()), (*filter(None, problems), *found.refusals))

    return learn_from(model, Facts, prompt, read)


def _problem(fact: Fact) -> str:
    """Return why a model's fact is not accepted, or ``""``."""
    if not fact.value.strip():
        return "a fact is refused: it says nothing"
    if len(fact.value) > _LONGEST_VALUE:
        return f"a fact is refused: it has more than {_LONGEST_VALUE} characters"
    key = fact.key.strip()
    if not key or ":" in key or fact_key(f"{' '.join(key.split())}: x") != fold(key):
        return "a fact is refused: it has no key like Name or Time zone"
    return ""


def _key(engram: Engram) -> str:
    """Return what a fact is about; all of it, where it has no key."""
    return fact_key(engram.text) or fold(engram.text)


# ---- facts of a conversation ----

# Its name in the ledger and in the state of sleep, and of its prompt.
JOB: Final = "facts"

# So many messages a fact points at if the model does not say which tell it: the newest.
_UNSAID: Final = 5


def find_facts(
    session: str,
    messages: Sequence[Line],
    model: LanguageModel,
    templates: Mapping[str, str] = OURS,
) -> Learned:
    """Ask ``model`` for the facts in messages. No lock may be held meanwhile.

    Args:
        session: The id of the session, for the pointers.
        messages: What :func:`engramdown.consolidation.facts.worth_showing` returns.
        model: The language model.
        templates: A scope's own prompts.

    Raises:
        ModelError: If the model gives no answer of the form.
        StoreError: If a scope's own prompt is broken.
    """
    from engramdown.consolidation.forms import FoundFacts

    if not messages:
        return Learned()
    numbered = list(enumerate(messages, 1))
    shown = [{"number": at, "role": each.role, "text": redact(each.text)} for at, each in numbered]
    prompt = render("facts", templates, messages=shown, most=MOST)
    told = [at for at, each in numbered if each.role == "user"][-_UNSAID:]
    theirs = {at for at, each in numbered if each.role == "assistant"}
    by_user = [each.text if each.role == "user" else "" for each in messages]
    untold: list[Lesson] = []

    def read(answer: FoundFacts) -> Learned:
        found = answer.items if answer.worth_persisting else []
        facts = [
            Lesson(
                fact.text,
                fact.messages or told,
                fact.kind,
                scope_for(fact.kind, fact.scope),
                fact.confidence,
                fact.topic.strip() if fact.kind == "lesson" else "",
            )
            for fact in found
            if fact.text.strip()
        ]
        untold[:] = [fact for fact in facts if theirs.issuperset(fact.numbers)]
        kept = [fact for fact in facts if fact not in untold]
        return memories_of(kept, [f"{session}#{each.seq}" for each in messages], MOST, by_user)

    learnt = learn_from(model, FoundFacts, prompt, read)
    if not untold:
        return learnt
    reason = f"a fact is refused, {len(untold)} in all: only the assistant said so"
    return learnt._replace(refusals=(reason, *learnt.refusals))


# ---- what a model is shown ----

L = TypeVar("L", bound=Line)

# Fewer messages than this tell nothing that lasts.
MIN_MESSAGES: Final = 2
# A reply of fewer bytes closes an errand: "Done.".
SHORTEST_REPLY: Final = 20
# So few bytes of a user are a nod: "ok".
SHORTEST_TEXT: Final = 5
# So much of a conversation a model is shown.
MOST_BYTES: Final = 4_000

# What is done and over, or asked for the moment.
_COMMAND: Final = re.compile(
    r"\s*(?:(?:turn|switch)\s+(?:on|off)|set\s+(?:the|my)|what\s+time|what['\u2019]s\s+the\s+time"
    r"|(?:lock|unlock|open|close)\s+the)\b",
    re.IGNORECASE,
)


def should_extract(
    user_text: str,
    reply: str,
    messages: int,
    *,
    auxiliary: bool = False,
    min_messages: int = MIN_MESSAGES,
) -> bool:
    """Whether an exchange is worth asking a model for facts.

    Args:
        user_text: What the user said.
        reply: What the assistant answered.
        messages: How many messages the conversation has.
        auxiliary: Whether no user asked, but a program: for a title, a summary, another assistant.
        min_messages: How many messages are enough.

    >>> reply = "Noted: you work in Berlin and like tea."
    >>> should_extract("I moved to Berlin.", reply, 2)
    True
    >>> should_extract("Turn on the lights", reply, 2), should_extract("I moved.", "Ok.", 2)
    (False, False)
    """
    return not (
        auxiliary
        or messages < min_messages
        or _size(reply.strip()) < SHORTEST_REPLY
        or _size(user_text.strip()) < SHORTEST_TEXT
        or _COMMAND.match(user_text)
    )


def worth_showing(lines: Iterable[L], *, auxiliary: bool = False) -> list[L]:
    """Return the messages of the exchanges that are worth it, the newest that fit.

    Args:
        lines: What may be shown of a session, in order.
        auxiliary: See :func:`should_extract`.
    """
    messages = [line for line in lines if line.role in ("user", "assistant") and line.text.strip()]
    # Who said what until the user spoke again.
    exchanges: list[tuple[list[L], list[L]]] = []
    for line in messages:
        if not exchanges or (line.role == "user" and exchanges[-1][1]):
            exchanges.append(([], []))
        exchanges[-1][line.role != "user"].append(line)
    worth: set[int] = set()
    for exchange in exchanges:
        asked, answered = ("\n".join(line.text for line in side) for side in exchange)
        if should_extract(asked, answered, len(messages), auxiliary=auxiliary):
            worth.update(line.seq for side in exchange for line in side)
    found = recent([line for line in messages if line.seq in worth])
    # Only an assistant said it, so nobody has stated it.
    return found if any(line.role == "user" for line in found) else []


def recent(messages: Sequence[L], most: int = MOST_BYTES) -> list[L]:
    """Return the newest messages that fit, whole, in their order.

    Args:
        messages: Messages, in order.
        most: How many bytes they may have together, as UTF-8.
    """
    found: list[L] = []
    room = most
    for line in reversed([each for each in messages if _size(each.text) <= most]):
        room -= _size(line.text)
        if room < 0:
            break
        found.append(line)
    return found[::-1]


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
