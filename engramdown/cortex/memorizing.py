"""The tools with which a model adds to memory, takes from it, and sees what waits for a person.

Promises: the answer comes when the line is on the disk, and tells what became of it; what a person
wrote, confirmed or pinned is never forgotten by a model: a question about it waits for them; what
a model took from a tool of the running turn, or word for word from what it looked up before, is not
passed off as the user's own word; a model can look at what is pending, and decide nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from engramdown.consolidation.information_loss import unsaid
from engramdown.context.search import LABEL, Asked, flat, memory_row, search
from engramdown.conversation.tool_echo import words_of
from engramdown.engram import Engram
from engramdown.errors import AmbiguousIdError, EngramdownError, EntryNotFoundError
from engramdown.hippocampus.store import REFUSED

if TYPE_CHECKING:
    from engramdown.cortex.session import Parts, Session
    from engramdown.cortex.tool_arguments import (
        ForgetArguments,
        MemorizeArguments,
        ReviewArguments,
        SkillArguments,
        TopicArguments,
    )
    from engramdown.gate.proposals import Proposal
    from engramdown.gate.receipts import Receipt
    from engramdown.hippocampus.entry import Entry

__all__ = ["MOST", "forget", "memorize", "recall_skill", "recall_topic", "review"]

_PIECE: Final = 300
MOST: Final = 20
_LESSONS: Final = 40
_SAID: Final = 50
_OFF: Final = "memory is switched off (mode off), so nothing is changed"
_TOPICS: Final = 100
_WAITS: Final = "{said}. It waits in pending.md as {id}; only the user can decide. Why: {why}."

_Told = tuple[str, tuple[str, ...]]


def memorize(cortex: Parts, given: MemorizeArguments, session: Session | None) -> _Told:
    """Remember what a model was asked to, and return what became of it.

    Raises:
        EngramdownError: If it is not remembered and does not wait.
    """
    told = Engram(
        given.text,
        given.kind,
        given.scope,
        confidence="high",
        topic=given.topic.strip(),
        source="user",
        origin=_origin(session),
        via="assistant",
    )
    if _is_a_tools(cortex, given.text, session):
        told = replace(told, confidence="medium", source="llm", basis="observed", via="tool")
    elif given.kind == "profile" and not _user_said(cortex, given.text, session):
        # Nobody but the user knows who they are; that a model says so is no evidence.
        told = replace(told, confidence="medium", source="llm", basis="observed")
    (receipt,) = cortex.scopes.propose(told)
    if receipt.action in ("discarded", "failed"):
        raise EngramdownError(f"not remembered: {receipt.reason}")
    if receipt.action == "queued":
        return _waits("Not remembered yet", receipt), ()
    said = "Known already" if receipt.action == "merged" else "Remembered"
    where = f"{receipt.file}:{receipt.line}" if receipt.file else "memory"
    kind = f"{receipt.engram.kind}, {receipt.engram.scope}"
    aside = f" It is kept in this project: {REFUSED}." if REFUSED in receipt.reason else ""
    return f"{said}: {where} ({kind}), id {receipt.id}.{aside}", ()


def _user_said(cortex: Parts, text: str, session: Session | None) -> bool:
    """Whether one message of the user's holds the words of a fact about them."""
    messages = session.asked_lately if session is not None else _messages(cortex, text)
    return any(not unsaid(text, [message]) for message in messages)


def _messages(cortex: Parts, text: str) -> list[str]:
    """Return what users wrote that is most like ``text``, in no session that an assistant began."""
    if cortex.scopes.episodes is None:
        return []
    found = search(
        cortex.context, Asked(text, limit=_SAID, role=("user",)), cortex.scopes.episodes
    ).episodes
    children = (
        {info.id for info in cortex.scopes.episodes.sessions() if info.parent} if found else set()
    )
    return [hit.text for hit in found if hit.session not in children]


def _is_a_tools(cortex: Parts, text: str, session: Session | None) -> bool:
    """Whether it is a tool's word that a model wants to remember."""
    if session is not None:
        return session.heard_from_tool(text)
    # What the user wrote just now is not known here; what they wrote before is theirs.
    return cortex.conversations.overheard.has(text) and not _is_the_users(cortex, text)


def _is_the_users(cortex: Parts, text: str) -> bool:
    wanted = words_of(text)
    both = (cortex.scopes.global_hc, cortex.scopes.project_hc)
    entries = (entry for store in both for entry in cortex.scopes.usable(store))
    if any(entry.source == "user" and wanted in words_of(entry.text) for entry in entries):
        return True
    asked = Asked(text, limit=_SAID, mode="exact", role=("user",))
    said = {
        hit.session
        for hit in search(cortex.context.notebooks, asked, cortex.scopes.episodes).episodes
    }
    if not said or cortex.scopes.episodes is None:
        return False
    # Whoever speaks as the user in a session that an assistant began is that assistant.
    return bool(said - {info.id for info in cortex.scopes.episodes.sessions() if info.parent})


def forget(cortex: Parts, given: ForgetArguments, session: Session | None) -> _Told:
    """Retire a memory, or let a person be asked about it, and return which.

    Raises:
        ValueError: If no memory has this id, or several have.
        EngramdownError: If nothing may be changed, or it could not be.
    """
    del session  # What is forgotten stands in the transcript as the call.
    if cortex.scopes.mode == "off":
        raise EngramdownError(_OFF)
    entry = _found(cortex, given.id.strip())
    receipt = cortex.scopes.retire(entry, given.why)
    quoted = f"{flat(entry.text, _PIECE)!r} ({entry.kind}, {entry.scope})"
    if receipt.action == "queued":
        return _waits(f"Not forgotten yet: {quoted}", receipt), ()
    return f"Forgotten: {quoted}. `engramdown restore {entry.id}` brings it back.", ()


def recall_topic(cortex: Parts, given: TopicArguments, session: Session | None) -> _Told:
    """Return the lessons of a topic, or which topics there are.

    Raises:
        EngramdownError: If the topic is a path, or memory cannot be read.
    """
    del session  # Lessons have no lines to point to.
    topic = given.topic.strip()
    found = cortex.scopes.recall_topic(topic) if topic else []
    if found:
        return "\n".join(_lessons(topic, found)), ()
    known = cortex.scopes.topics()
    there = f"there are {', '.join(_counted(known))}" if known else "there are none yet"
    said = f"No topic {flat(topic, _PIECE)!r}; {there}." if topic else f"Topics: {there}."
    return said, ()


def recall_skill(cortex: Parts, given: SkillArguments, session: Session | None) -> _Told:
    """Return how something is done, or a file of it.

    Raises:
        EngramdownError: If there is no such skill, or it cannot be read.
    """
    found = cortex.context.skills.recall(given.label, given.file)
    if found.is_error:
        raise EngramdownError(found.text)
    return found.text, ()


def review(cortex: Parts, given: ReviewArguments, session: Session | None) -> _Told:
    """Return what waits for a person.

    Raises:
        EngramdownError: If it cannot be read.
    """
    del given, session
    waiting = cortex.review.pending(for_model=True)
    brought = len(cortex.review.pending()) - len(waiting)
    hidden = [f"({brought} came with git and are not approved; only the user sees them)"]
    if not waiting:
        return "\n".join(["Nothing waits for the user.", *(hidden if brought > 0 else ())]), ()
    rows = [LABEL, "", f"{len(waiting)} wait for the user, who alone can decide:"]
    rows += [_waiting_row(each) for each in waiting[:MOST]]
    if waiting[MOST:]:
        rows.append(f"({len(waiting) - MOST} more)")
    rows += hidden if brought > 0 else []
    rows.append("")
    rows.append("They tick them in pending.md, or run `engramdown review`.")
    return "\n".join(rows), ()


def _waits(said: str, receipt: Receipt) -> str:
    return _WAITS.format(said=said, id=receipt.id, why=flat(receipt.reason, _PIECE))


def _found(cortex: Parts, prefix: str) -> Entry:
    if not prefix:
        raise ValueError('"id" is empty; recall shows the ids of memories')
    try:
        return cortex.scopes.find(prefix)
    except (EntryNotFoundError, AmbiguousIdError) as error:
        raise ValueError(f"{flat(str(error), _PIECE)}; recall shows the ids of memories") from None


def _origin(session: Session | None) -> str:
    began = session.turn_began if session is not None else None
    return "" if began is None else str(began)


def _lessons(topic: str, found: Sequence[Entry]) -> Iterator[str]:
    yield LABEL
    yield f"\nTopic {flat(topic, _PIECE)}:"
    left = len(found) - _LESSONS
    if left > 0:
        yield f"({left} older ones; recall finds them)"
    yield from map(memory_row, found[-_LESSONS:])


def _counted(topics: Mapping[str, int]) -> Iterator[str]:
    names = sorted(topics)
    yield from (f"{flat(name, _PIECE)} ({topics[name]})" for name in names[:_TOPICS])
    if names[_TOPICS:]:
        yield f"{len(names) - _TOPICS} more"


def _waiting_row(proposal: Proposal) -> str:
    engram = proposal.engram
    does = "" if proposal.op == "encode" else f"{proposal.op}: "
    why = proposal.reason or proposal.hold
    facts = [engram.kind, engram.scope, f"id {proposal.id}", flat(why, _PIECE)]
    return f"- {does}{flat(engram.text, _PIECE)} ({', '.join(filter(None, facts))})"
