"""The tools that a model may call: what each is given, what it does, and one way to call them.

Whatever a model passes, it gets an answer that it can act on, never an exception. A tool answers
once the line is on the disk. A model cannot forget what a person wrote, confirmed or pinned; that
becomes a question for them. What a model took from a tool does not count as the user's own word. A
model can see the pending proposals, and decides about none.

Quoted text is labelled as data, is inert and cut to a length, and carries the pointer to the rest.
A search leaves out the running turn, which the model sees anyway, and everything that was excluded
or redacted.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from engramdown import errors
from engramdown.consolidation.information_loss import unsaid
from engramdown.context.search import (
    LABEL,
    PIECE,
    Asked,
    Found,
    flat,
    head,
    memory_rows,
    search_all,
)
from engramdown.conversation.conversations import words_of
from engramdown.engram import Engram, Kind, Scope
from engramdown.hippocampus.store import REFUSED
from engramdown.language.untrusted import brief_json, inert, json_object
from engramdown.lazy import texts
from engramdown.transcripts.episode import Pointer

if TYPE_CHECKING:
    from engramdown.conversation.conversation import Conversation
    from engramdown.conversation.lookup import Expanded
    from engramdown.conversation.lookup import Found as FoundMessage
    from engramdown.cortex.session import Parts, Session
    from engramdown.gate.intake import Receipt
    from engramdown.hippocampus.citations import Citations
    from engramdown.journal.journal import Match
    from engramdown.recall.query import Hit, Message
    from engramdown.transcripts.summary_log import Gist

# ---- checking the arguments of a model ----
#
# Anything may come in. Errors become a few sentences that a model can act on, never an exception.
# ``null`` counts as left out, and no value is converted to another type.

# A JSON schema of type ``object``.
Schema = Mapping[str, Any]

_NAMES: Final = {"string": "a string", "integer": "a whole number", "number": "a number"}
_LIMITS: Final = (
    ("minimum", "at least {}"),
    ("maximum", "at most {}"),
    ("maxLength", "at most {} characters"),
)
# How many unknown arguments are named.
_TOLD: Final = 5
# The longest string that is accepted, in characters.
LONGEST: Final = 100_000


class Arguments(BaseModel):
    """The arguments of a tool; each tool's own are a subclass."""

    model_config = ConfigDict(strict=True, frozen=True, allow_inf_nan=False, str_max_length=LONGEST)


A = TypeVar("A", bound=Arguments)


def schema_of(wanted: type[Arguments]) -> dict[str, Any]:
    """Return the JSON schema for a model, as short as possible.

    It does not forbid other arguments, as a call with one is answered with an error.

    >>> class Greeting(Arguments):
    ...     name: str
    ...     times: int = 1
    >>> schema_of(Greeting)["properties"]
    {'name': {'type': 'string'}, 'times': {'type': 'integer', 'default': 1}}
    """
    full = wanted.model_json_schema()
    properties = {name: _short(each) for name, each in full.get("properties", {}).items()}
    required = {"required": full["required"]} if full.get("required") else {}
    return {"type": "object", "properties": properties, **required}


def _short(property_schema: Schema) -> dict[str, Any]:
    """Return the schema of a property without what a model need not know."""
    # An optional argument is a choice between a type and null, which counts as left out.
    choices: list[Schema] = property_schema.get("anyOf", [])
    choice = next((each for each in choices if each["type"] != "null"), property_schema)
    whole = {**choice, **property_schema}
    order = ("type", "enum", "minimum", "maximum", "maxLength", "default", "description")
    return {key: whole[key] for key in order if whole.get(key) not in (None, "", LONGEST)}


def read_arguments(arguments: object, wanted: type[A]) -> tuple[A | None, list[str]]:
    """Return the arguments, or ``None``, and the errors.

    Args:
        arguments: An object, or a string with one in JSON, as some models send it.
        wanted: The class of the arguments.

    >>> class Search(Arguments):
    ...     limit: int = 5
    >>> read_arguments('{"limit": 7}', Search)
    (Search(limit=7), [])
    >>> read_arguments({"limit": "many"}, Search)
    (None, ['"limit" is "many"; it must be a whole number'])
    """
    found = {} if arguments in (None, "", "null") else arguments
    found = json_object(found) if isinstance(found, str) else found
    if not isinstance(found, Mapping):
        return None, [f"the arguments are {brief_json(arguments)}; give a JSON object"]
    given = {str(key): value for key, value in found.items() if value is not None}
    fields = wanted.model_fields
    names = [each for each in given if each not in fields]
    there = f"there are {', '.join(fields)}" if fields else "it takes none"
    wrong = [f"{brief_json(name)} is not an argument; {there}" for name in names[:_TOLD]]
    if names[_TOLD:]:
        wrong.append(f"{len(names) - _TOLD} more are not, either")
    try:
        read = wanted.model_validate({key: given[key] for key in given.keys() & fields})
    except ValidationError as error:
        return None, [*wrong, *_complaints(error, wanted)]
    return (None if wrong else read), wrong


def _complaints(error: ValidationError, wanted: type[Arguments]) -> Iterator[str]:
    properties = schema_of(wanted)["properties"]
    for each in error.errors(include_url=False):
        name = str(each["loc"][0])
        if each["type"] == "missing":
            yield f'"{name}" is missing'
            continue
        must = properties[name]
        if each["type"] == "string_too_long":
            must = {**must, "maxLength": each["ctx"]["max_length"]}
        if "enum" in must:
            wish = "one of " + ", ".join(must["enum"])
        else:
            limits = [words.format(must[key]) for key, words in _LIMITS if key in must]
            wish = ", ".join([_NAMES[must["type"]], *limits])
        yield f'"{name}" is {brief_json(each["input"])}; it must be {wish}'


# What a model is told of them is in ``tools.txt``.

_LONGEST: Final = 10_000

_Said = Literal[
    "user", "assistant", "tool_call", "tool_result", "scratchpad", "memory_read", "memory_write"
]


class MemorizeArguments(Arguments):
    """The arguments of ``memorize``."""

    text: Annotated[str, Field(max_length=_LONGEST)]
    kind: Kind
    scope: Scope = "project"
    topic: str = ""
    cites: str = ""


class RecallArguments(Arguments):
    """The arguments of ``recall``."""

    query: str = ""
    pointer: str = ""
    mode: Literal["best", "exact"] = "best"
    limit: Annotated[int, Field(ge=1, le=50)] = 20
    days_back: Annotated[float | None, Field(ge=0)] = None
    session: str = ""
    role: _Said | None = None
    since: str = ""
    until: str = ""


class TopicArguments(Arguments):
    """The arguments of ``recall_topic``."""

    topic: str = ""


class SkillArguments(Arguments):
    """The arguments of ``recall_skill``."""

    label: str
    file: str = ""


class ForgetArguments(Arguments):
    """The arguments of ``forget``."""

    id: str
    why: str = ""


class ReviewArguments(Arguments):
    """The arguments of ``review``: none."""


class GrepArguments(Arguments):
    """The arguments of ``grep``."""

    pattern: str
    scope: Literal["both", "messages", "summaries"] = "both"
    limit: Annotated[int | None, Field(le=100)] = None
    session: str = ""


class DescribeArguments(Arguments):
    """The arguments of ``describe``."""

    id: str
    session: str = ""


class ExpandArguments(Arguments):
    """The arguments of ``expand``."""

    id: str
    tokens: Annotated[int | None, Field(le=20_000)] = None
    cursor: str = ""
    depth: Annotated[int, Field(ge=1)] = 1
    session: str = ""


class JournalArguments(Arguments):
    """The arguments of ``write_journal``."""

    text: str
    themes: str = ""
    date: str = ""


class JournalSearchArguments(Arguments):
    """The arguments of ``search_journals``."""

    query: str
    limit: Annotated[int, Field(ge=1, le=20)] = 5


class NotesArguments(Arguments):
    """The arguments of ``write_notes``."""

    text: str
    mode: Literal["replace", "append"] = "replace"


# ---- tools, as providers want them and as they are called ----


class Answer(NamedTuple):
    """The answer of a tool to a model.

    Attributes:
        text: The text for the model.
        recalled: Pointers to the lines of transcripts that it quotes.
        is_error: Whether it says what went wrong, or why nothing was done.
    """

    text: str
    recalled: tuple[str, ...] = ()
    is_error: bool = False


_Told = tuple[str, tuple[str, ...]]
_Handler = Callable[["Parts", Any, "Session | None"], _Told]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool.

    Attributes:
        name: The name by which a model calls it.
        description: The description for the model.
        arguments: The class of its arguments.
        handler: Carries it out; raises ``ValueError`` with a sentence for the model about errors
            that the types of the arguments cannot express.
        reads: Whether it changes nothing.
        takes_away: Whether it may remove something.
    """

    name: str
    description: str
    arguments: type[Arguments]
    handler: _Handler
    reads: bool = True
    takes_away: bool = False

    def definition(self, style: str = "plain") -> dict[str, Any]:
        """Return the definition for a model; see :func:`definitions`."""
        named = {"name": self.name, "description": self.description}
        schema = schema_of(self.arguments)
        for name, each in schema["properties"].items():
            if words := texts(__file__).get(f"{self.name}.{name}"):
                each["description"] = words
        plain = {**named, "parameters": schema}
        hints = {"readOnlyHint": self.reads, "destructiveHint": self.takes_away}
        hints["openWorldHint"] = False
        styles: dict[str, dict[str, Any]] = {
            "openai": {"type": "function", "function": plain},
            "openai-responses": {"type": "function", **plain, "strict": False},
            "anthropic": {**named, "input_schema": schema},
            "mcp": {**named, "inputSchema": schema, "annotations": hints},
            "plain": plain,
        }
        return styles[style]

    def __call__(self, cortex: Parts, arguments: object, session: Session | None = None) -> Answer:
        """Return the answer to a call with ``arguments``, whatever they are.

        Args:
            cortex: The Cortex.
            arguments: An object, or a string with one in JSON.
            session: The running conversation, whose running turn a search leaves out.
        """
        given, wrong = read_arguments(arguments, self.arguments)
        try:
            if given is None:
                raise ValueError("; ".join(wrong))  # noqa: TRY301 - told as what a handler raises
            text, recalled = self.handler(cortex, given, session)
        except ValueError as error:
            reason = inert(str(error))
            return Answer(f"{self.name} was not called rightly: {reason}.", is_error=True)
        except (errors.EngramdownError, OSError) as error:
            return Answer(f"{self.name} failed: {inert(str(error))}", is_error=True)
        return Answer(text, recalled)


# The formats of definitions by provider.
STYLES: Final = ("openai", "openai-responses", "anthropic", "mcp", "plain")
_TOOLS: Final[dict[str, Tool]] = {}
# All tools, by name.
TOOLS: Final[Mapping[str, Tool]] = MappingProxyType(_TOOLS)
# The tools that are useful to every assistant.
MEMORY_TOOLS: Final = ("memorize", "recall", "recall_topic", "recall_skill", "forget", "review")


def _tool(
    arguments: type[Arguments], *, reads: bool = True, takes_away: bool = False
) -> Callable[[_Handler], _Handler]:
    """Register a handler as the tool of the same name, which ``tools.txt`` describes."""

    def register(handler: _Handler) -> _Handler:
        name = handler.__name__
        _TOOLS[name] = Tool(name, texts(__file__)[name], arguments, handler, reads, takes_away)
        return handler

    return register


def definitions(style: str = "openai", names: Iterable[str] | None = None) -> list[dict[str, Any]]:
    """Return the definitions of tools; see :meth:`engramdown.Cortex.tool_definitions`."""
    if style not in STYLES:
        raise ValueError(f"there is no style {style!r}; there are {', '.join(STYLES)}")
    wanted = MEMORY_TOOLS if names is None else tuple(names)
    unknown = next((name for name in wanted if name not in TOOLS), None)
    if unknown is not None:
        raise ValueError(_unknown(unknown).text)
    return [TOOLS[name].definition(style) for name in wanted]


def use(
    cortex: Parts, name: str, arguments: object, session: Session | None = None, call: str = ""
) -> Answer:
    """Return the answer of the tool ``name``.

    Args:
        cortex: The Cortex.
        name: The name of the tool.
        arguments: The arguments from the model.
        session: The running conversation, which records the call and the result, and marks what
            came out of memory, so that it does not count as new.
        call: The id of the call, or ``""`` for a new one.
    """
    call = session.tool_call(name, arguments, call) if session is not None else ""
    answer = TOOLS[name](cortex, arguments, session) if name in TOOLS else _unknown(name)
    if session is not None:
        recalled = answer.recalled
        session.tool_result(name, answer.text, call, error=answer.is_error, recalled=recalled)
    elif not answer.is_error:
        cortex.conversations.overheard.add(name, answer.text)
    return answer


def _unknown(name: str) -> Answer:
    return Answer(f"there is no tool {name!r}; there are {', '.join(TOOLS)}", is_error=True)


# ---- memory ----

MOST: Final = 20
_LESSONS: Final = 40
_SAID: Final = 50
_TOPICS: Final = 100
_OFF: Final = "memory is switched off (mode off), so nothing is changed"
_AGAIN: Final = "To read around a line, call recall with its pointer alone."
_WHOLE: Final = 4_000
# Extra hits, as those from the running turn are left out afterwards.
_SPARE: Final = 50


@_tool(MemorizeArguments, reads=False)
def memorize(cortex: Parts, given: MemorizeArguments, session: Session | None) -> _Told:
    """Remember a text, and return what became of it.

    Raises:
        EngramdownError: If it was discarded or could not be written.
    """
    text, began = given.text, session.turn_began if session is not None else None
    engram = Engram(
        text,
        given.kind,
        given.scope,
        confidence="high",
        topic=given.topic.strip(),
        source="user",
        origin=str(began or ""),
        via="assistant",
        cites=given.cites,
    )
    if session is not None:
        is_from_tool, messages = session.heard_from_tool(text), session.asked_lately
    else:
        # The user's latest message is unknown here; what they wrote before is theirs.
        is_from_tool = cortex.conversations.overheard.has(text) and not _is_users(cortex, text)
        messages = []
    if is_from_tool:
        engram = replace(engram, confidence="medium", source="llm", basis="observed", via="tool")
    elif given.kind == "profile":
        if session is None:
            messages = [hit.text for hit in _said_by_user(cortex, text, "best")]
        if all(unsaid(text, [message]) for message in messages):
            # Only the user knows who they are; the word of a model is not evidence.
            engram = replace(engram, confidence="medium", source="llm", basis="observed")
    (receipt,) = cortex.scopes.propose(engram)
    if receipt.action in ("discarded", "failed"):
        raise errors.EngramdownError(f"not remembered: {receipt.reason}")
    if receipt.action == "queued":
        return _waits("Not remembered yet", receipt), ()
    result = "Known already" if receipt.action == "merged" else "Remembered"
    where = f"{receipt.file}:{receipt.line}" if receipt.file else "memory"
    kind = f"{receipt.engram.kind}, {receipt.engram.scope}"
    aside = f" It is kept in this project: {REFUSED}." if REFUSED in receipt.reason else ""
    return f"{result}: {where} ({kind}), id {receipt.id}.{aside}", ()


def _said_by_user(cortex: Parts, text: str, mode: Literal["best", "exact"]) -> list[Hit]:
    """Return messages of users that are like ``text``, or contain it."""
    episodes = cortex.scopes.episodes
    if episodes is None:
        return []
    asked = Asked(text, limit=_SAID, mode=mode, role=("user",))
    found = search_all(cortex.context.notebooks, asked, episodes).episodes
    # In a session that an assistant began, the "user" is that assistant.
    children = {info.id for info in episodes.sessions() if info.parent} if found else set()
    return [hit for hit in found if hit.session not in children]


def _is_users(cortex: Parts, text: str) -> bool:
    """Whether the user said it before."""
    wanted = words_of(text)
    both = (cortex.scopes.global_hc, cortex.scopes.project_hc)
    entries = (entry for store in both for entry in cortex.scopes.usable(store))
    if any(entry.source == "user" and wanted in words_of(entry.text) for entry in entries):
        return True
    return bool(_said_by_user(cortex, text, "exact"))


def _waits(said: str, receipt: Receipt) -> str:
    why = flat(receipt.reason, PIECE)
    where = f"It waits in pending.md as {receipt.id}; only the user can decide."
    return f"{said}. {where} Why: {why}."


@_tool(RecallArguments)
def recall(cortex: Parts, given: RecallArguments, session: Session | None) -> _Told:
    """Return the answer, and the pointers that it quotes.

    Args:
        cortex: The Cortex.
        given: The arguments.
        session: The running conversation, if it is known.

    Raises:
        ValueError: If an argument has the right type but is still wrong.
        EngramdownError: If a store cannot be read.
    """
    if given.pointer:
        if given.model_fields_set != {"pointer"}:
            raise ValueError("give a pointer alone, or a query without a pointer")
        return _around(cortex, given.pointer)
    if not (given.query.strip() or given.since or given.until or given.days_back is not None):
        raise ValueError(
            '"query" is missing or empty; give words to look for, a range of time, or a pointer'
        )
    asked = Asked(
        query=given.query,
        limit=given.limit + _SPARE,
        mode=given.mode,
        days_back=given.days_back,
        session=given.session or None,
        role=() if given.role is None else (given.role,),
        since=_moment("since", given.since),
        until=_moment("until", given.until),
    )
    limit = given.limit
    found = search_all(cortex.context.notebooks, asked, cortex.scopes.episodes)
    hits = [it for it in found.episodes if not _is_now(it.session, it.seq, session)][:limit]
    found = found._replace(
        memories=found.memories[:limit],
        episodes=hits,
        journal=found.journal[:limit],
        working=found.working[:limit],
    )
    cortex.scopes.count("recalled", found.memories)
    lost = [] if asked.session or asked.role else cortex.scopes.unreadable()
    if lost and not found:
        raise errors.StoreError(lost[0])  # The answer may be in that file.
    notes = [*found.notes, *(f"could not be read, and is left out: {each}" for each in lost[:1])]
    lines = [f"Note: {inert(note)}" for note in notes]
    if found:
        lines += _found_rows(found, cortex.scopes.citations())
    else:
        wanted = flat(given.query, PIECE)
        lines.append(f"Nothing found for {wanted!r}. Try other words, or fewer filters.")
    return "\n".join(lines), tuple(str(hit.pointer) for hit in hits)


def _moment(name: str, text: str) -> Any:  # noqa: ANN401 - a date, a time or None
    # Imported here: few calls name a time.
    from engramdown.recall.query import time_from

    try:
        return time_from(name, text) if text else None
    except ValueError:
        reason = f'"{name}" is {text!r}; give a day, 2026-02-27, or a time, 2026-02-27T10:15'
        raise ValueError(reason) from None


def _is_now(name: str, seq: object, session: Session | None) -> bool:
    """Whether a line of the session ``name`` belongs to the running turn."""
    began = session.turn_began if session is not None else None
    if began is None or began.session != name:
        return False
    return isinstance(seq, int) and seq >= began.seq


def _found_rows(found: Found, citations: Citations) -> Iterator[str]:
    yield LABEL
    if found.memories:
        yield "\nRemembered:"
        yield from memory_rows(found.memories, found.newer, citations)
    if found.journal:
        yield "\nJournal:"
        yield from map(_day_row, found.journal)
    if found.working:
        yield "\nNotes on sessions:"
        for note in found.working:
            at = f" {flat(note.updated, PIECE)[:16].replace('T', ' ')}".rstrip()
            yield f"- {note.session}{at}: {flat(note.piece, PIECE)}"
    if found.episodes:
        yield "\nSaid:"
        for hit in found.episodes:
            yield f"- {head(hit)}: {flat(hit.snippet, PIECE)}"
        yield f"\n{_AGAIN}"


def _around(cortex: Parts, text: str) -> _Told:
    """Return what a pointer points to, and what was said around it."""
    # Imported here: only this needs them.
    from engramdown.recall.query import Hit
    from engramdown.transcripts.visibility import visible

    episodes = cortex.scopes.episodes
    session, mark, number = text.strip().rpartition("#")
    at = None
    if episodes is not None and mark and number.isascii() and number.isdecimal():
        with contextlib.suppress(errors.InvalidSessionError, errors.SessionNotFoundError):
            lines = visible(episodes.session(session).episodes)
            at = next((each for each in lines if str(each.seq) == number), None)
    if episodes is None or at is None:
        raise ValueError(
            f"{flat(text, PIECE)!r} points to no line that can be shown; "
            "give a pointer as recall returned it, such as 20260227-101500-4f2a#12"
        )
    said = episodes.whole(at)
    hit = Hit(session, at.seq, at.ts, at.role, at.name, said, said, 1.0)
    (context,) = episodes.around([hit])
    whole = inert(said) if len(inert(said)) <= _WHOLE else f"{inert(said)[:_WHOLE]}…"
    rows = [
        f"{LABEL}\n",
        *([f"({context.more_before} more before)"] if context.more_before else []),
        *map(_message_row, context.before),
        f"> {head(hit)}:",
        *(f"> {row}" for row in whole.split("\n")),
        *map(_message_row, context.after),
        *([f"({context.more_after} more after)"] if context.more_after else []),
    ]
    shown: list[Hit | Message] = [*context.before, hit, *context.after]
    return "\n".join(rows), tuple(str(Pointer(each.session, each.seq)) for each in shown)


def _message_row(said: Message) -> str:
    return f"- {head(said)}: {flat(said.text, PIECE)}"


@_tool(TopicArguments)
def recall_topic(cortex: Parts, given: TopicArguments, _: object) -> _Told:
    """Return the lessons of a topic, or which topics there are.

    Raises:
        EngramdownError: If the topic is a path, or memory cannot be read.
    """
    topic = given.topic.strip()
    found = cortex.scopes.recall_topic(topic) if topic else []
    if found:
        rows = [LABEL, f"\nTopic {flat(topic, PIECE)}:"]
        if (left := len(found) - _LESSONS) > 0:
            rows.append(f"({left} older ones; recall finds them)")
        cortex.scopes.count("recalled", found[-_LESSONS:])
        rows += memory_rows(found[-_LESSONS:], {}, cortex.scopes.citations())
        return "\n".join(rows), ()
    known = cortex.scopes.topics()
    names = [f"{flat(name, PIECE)} ({known[name]})" for name in sorted(known)]
    if names[_TOPICS:]:
        names[_TOPICS:] = [f"{len(names) - _TOPICS} more"]
    there = f"there are {', '.join(names)}" if known else "there are none yet"
    sentence = f"No topic {flat(topic, PIECE)!r}; {there}." if topic else f"Topics: {there}."
    return sentence, ()


@_tool(SkillArguments)
def recall_skill(cortex: Parts, given: SkillArguments, _: object) -> _Told:
    """Return how something is done, or a file of it.

    Raises:
        EngramdownError: If the skill does not exist or cannot be read.
    """
    found = cortex.context.skills.recall(given.label, given.file)
    if found.is_error:
        raise errors.EngramdownError(found.text)
    return found.text, ()


@_tool(ForgetArguments, reads=False, takes_away=True)
def forget(cortex: Parts, given: ForgetArguments, _: object) -> _Told:
    """Retire a memory, or let a person be asked about it, and return which.

    Raises:
        ValueError: If no memory has this id, or several have.
        EngramdownError: If nothing may be changed, or it could not be.
    """
    if cortex.scopes.mode == "off":
        raise errors.EngramdownError(_OFF)
    prefix = given.id.strip()
    if not prefix:
        raise ValueError('"id" is empty; recall shows the ids of memories')
    try:
        entry = cortex.scopes.find(prefix)
    except (errors.EntryNotFoundError, errors.AmbiguousIdError) as error:
        raise ValueError(f"{flat(str(error), PIECE)}; recall shows the ids of memories") from None
    receipt = cortex.scopes.retire(entry, given.why)
    quoted = f"{flat(entry.text, PIECE)!r} ({entry.kind}, {entry.scope})"
    if receipt.action == "queued":
        return _waits(f"Not forgotten yet: {quoted}", receipt), ()
    return f"Forgotten: {quoted}. `engramdown restore {entry.id}` brings it back.", ()


@_tool(ReviewArguments)
def review(cortex: Parts, _: object, __: object) -> _Told:
    """Return the pending proposals.

    Raises:
        EngramdownError: If they cannot be read.
    """
    waiting = cortex.review.pending(for_model=True)
    brought = len(cortex.review.pending()) - len(waiting)
    hidden = [f"({brought} came with git and are not approved; only the user sees them)"]
    hidden = hidden if brought > 0 else []
    if not waiting:
        return "\n".join(["Nothing waits for the user.", *hidden]), ()
    rows = [LABEL, "", f"{len(waiting)} wait for the user, who alone can decide:"]
    for each in waiting[:MOST]:
        engram, does = each.engram, "" if each.op == "encode" else f"{each.op}: "
        why = flat(each.reason or each.hold, PIECE)
        facts = ", ".join(filter(None, [engram.kind, engram.scope, f"id {each.id}", why]))
        rows.append(f"- {does}{flat(engram.text, PIECE)} ({facts})")
    if waiting[MOST:]:
        rows.append(f"({len(waiting) - MOST} more)")
    rows += [*hidden, "", "They tick them in pending.md, or run `engramdown review`."]
    return "\n".join(rows), ()


# ---- the way back to the words of a conversation ----
#
# Every row of a message is marked, and a summary is XML that says that it is history, so neither
# can forge anything. Text that tools only repeated is left out.

_LONG_PIECE: Final = 1_000
_NAMED: Final = 60
_OFFERED: Final = 8
_ALL: Final = 1_000_000_000
_BACK: Final = (
    "To read what a summary stands for, call expand with its id; "
    "to read a line and what is around it, call recall with its pointer."
)


@_tool(GrepArguments)
def grep(cortex: Parts, given: GrepArguments, session: Session | None) -> _Told:
    """Return where a conversation contains a text, and the pointers that are quoted.

    Raises:
        ValueError: If the text is empty or the session does not exist.
        EngramdownError: If it cannot be read.
    """
    from engramdown.conversation.lookup import GREP

    if not given.pattern.strip():
        raise ValueError('"pattern" is empty; give a text to look for')
    conversation = _conversation(cortex, given.session, session)
    name, wanted = conversation.session, flat(given.pattern, _NAMED)
    # Without a limit, as some hits are left out afterwards.
    found = conversation.grep(given.pattern, given.scope, _ALL)
    hits = [hit for hit in found if not hit.echo and not _is_now(name, hit.source, session)]
    limit = given.limit or 0
    shown = hits[: limit if limit > 0 else GREP]
    if not shown:
        return (
            f"Nothing found for {wanted!r} in {name}. The very text is looked for, "
            "without wildcards: try less of it, or recall, which also looks into other sessions."
        ), ()
    rows = [LABEL, f"\n{wanted!r} in {name}, the newest first:"]
    for hit in shown:
        if isinstance(hit.source, str):
            gist = conversation.track.fold.gists[hit.source]
            rows.append(_xml(conversation, gist._replace(text=hit.snippet)))
        else:
            below = f" (below {flat(hit.gist, _NAMED)})" if hit.gist else ""
            rows.append(f"- {_head(name, hit)}{below}: {flat(hit.snippet, _LONG_PIECE)}")
    if more := len(hits) - len(shown):
        rows.append(f"\n{more:,} more; give a longer text, or a higher limit.")
    rows.append(f"\n{_BACK}")
    return "\n".join(rows), _pointers(conversation, [hit.source for hit in shown])


@_tool(DescribeArguments)
def describe(cortex: Parts, given: DescribeArguments, session: Session | None) -> _Told:
    """Return a summary with its state, and the lines that it stands for.

    Raises:
        ValueError: If the summary or session does not exist.
        EngramdownError: If it cannot be read.
    """
    conversation = _conversation(cortex, given.session, session)
    gist = _gist(conversation, given.id)
    known = conversation.describe(gist.id)
    size = f"It has {gist.tokens:,} tokens; what it was made from has {gist.source_tokens:,}."
    state = "You are shown it as it is."
    if not known.in_view:
        state = f"You are not shown it: {flat(known.derived, _NAMED)} was made from it."
    rows = [LABEL, "", _xml(conversation, gist), "", size, state]
    return "\n".join(rows), _pointers(conversation, [gist.id])


@_tool(ExpandArguments)
def expand(cortex: Parts, given: ExpandArguments, session: Session | None) -> _Told:
    """Return what a summary was made from, and the lines that are quoted.

    Raises:
        ValueError: If the summary or session does not exist, or the cursor is invalid.
        EngramdownError: If it cannot be read.
    """
    wanted = given.id.strip()
    # A pointer names a message; any other unknown name is answered with the known ones.
    pointed = Pointer.parse(wanted)
    named = given.session if pointed is None else pointed.session
    conversation = _conversation(cortex, named, session)
    name = wanted if pointed else _gist(conversation, wanted).id
    found = conversation.expand(name, given.tokens or 0, given.cursor.strip(), given.depth)
    rows = [LABEL]
    for item in found.items:
        part = " (a part of it)" if item.cut else ""
        if isinstance(item.source, str):
            gist = conversation.track.fold.gists[item.source]
            rows += ["", f"{flat(gist.id, _NAMED)}{part}:"]
            rows.append(_xml(conversation, gist._replace(text=item.text)))
        else:
            rows += ["", f"{_head(conversation.session, item)}{part}:"]
            rows += [f"> {row}" for row in inert(item.text).split("\n")]
    summary = flat(found.gist, 2 * _NAMED)
    if found.truncated:
        more = f'There is more: call expand with id "{summary}" and cursor "{found.cursor}".'
    else:
        more = f"That is the end of what {summary} stands for."
    return "\n".join([*rows, "", more]), _pointers(conversation, [it.source for it in found.items])


def _conversation(cortex: Parts, named: str, session: Session | None) -> Conversation:
    wanted = named.strip() or (session.id if session else "")
    if not wanted:
        raise ValueError('"session" is missing, as no conversation is running; name one')
    try:
        found = cortex.conversations.get(wanted)
        found.view()
    except (errors.InvalidSessionError, errors.SessionNotFoundError):
        hint = "leave it out for this conversation" if session else "recall finds sessions"
        raise ValueError(f"there is no session {flat(wanted, _NAMED)!r}; {hint}") from None
    return found


def _gist(conversation: Conversation, wanted: str) -> Gist:
    try:
        return conversation.describe(wanted.strip()).gist
    except errors.GistNotFoundError:
        known = [item.source for item in conversation.view() if not item.is_message]
        shown = ", ".join(flat(str(each), _NAMED) for each in known[-_OFFERED:])
        there = f"there are {shown}" if shown else "it has none"
        quoted = flat(wanted, _NAMED)
        raise ValueError(f"{conversation.session} has no summary {quoted!r}; {there}") from None


def _pointers(conversation: Conversation, sources: Sequence[int | str]) -> tuple[str, ...]:
    """Return the pointers of messages, and the ranges of lines that summaries stand for."""
    pointers = []
    for source in sources:
        seqs = [*conversation.track.fold.messages(source)]
        last = f"-{seqs[-1]}" if seqs[1:] else ""
        pointers.append(f"{Pointer(conversation.session, seqs[0])}{last}")
    return tuple(dict.fromkeys(pointers))


def _head(session: str, said: FoundMessage | Expanded) -> str:
    """Return pointer, time and speaker of a message."""
    who = f"{said.role} {flat(said.name, _NAMED)}" if said.name else said.role
    return f"{session}#{said.source} {said.ts[:16].replace('T', ' ')} {who}"


def _xml(conversation: Conversation, gist: Gist) -> str:
    from engramdown.consolidation.summaries import format_summary

    return format_summary(gist, conversation.session)


# ---- the journal, and notes on a conversation ----
#
# A secret is never written, and the answer names its kind; in mode off nothing is written.

_NOTHING_WRITTEN: Final = "memory is switched off (mode off), so nothing was written"
_NO_SESSION: Final = "no conversation is running, so there is nothing to keep notes on"
_UNRECORDED: Final = "this conversation is not recorded, so no notes are kept on it"
_WHO: Final = {"agent": "assistant", "person": "person"}


@_tool(JournalArguments, reads=False)
def write_journal(cortex: Parts, given: JournalArguments, session: Session | None) -> _Told:
    """Add an entry to the journal.

    Raises:
        ValueError: If the date is not a day.
        EngramdownError: If nothing may be written, or it could not be.
    """
    _check_on(cortex)
    try:
        day = date.fromisoformat(given.date.strip()) if given.date.strip() else None
    except ValueError:
        raise ValueError(f'"date" is {given.date!r}; give a day, 2026-02-27') from None
    where = cortex.context.notebooks.journal.write(
        _text(given.text),
        by="agent",
        themes=[theme for theme in given.themes.split(",") if theme.strip()],
        session=session.id if session else "",
        day=day,
    )
    heading = where.section.heading
    when = f", which says so: {heading}" if heading[:1].isalpha() else f" at {heading}"
    return f"Written to the journal of {where.day}{when}.{_hidden(where.hidden)}", ()


@_tool(JournalSearchArguments)
def search_journals(cortex: Parts, given: JournalSearchArguments, _: object) -> _Told:
    """Return the entries of the journals that match.

    Raises:
        ValueError: If the query is empty.
    """
    query, limit = given.query, given.limit
    if not query.strip():
        raise ValueError('"query" is empty; give words to look for')
    found: list[Match] = []
    rows = []
    for journal in cortex.context.notebooks.journals():
        try:
            found += journal.search(query, limit)
        except errors.StoreError as error:
            rows.append(f"Note: {inert(str(error))}")
    found.sort(key=lambda match: (-match.score, -match.date.toordinal(), -match.section.line))
    if found:
        rows += [f"{LABEL}\n", *map(_day_row, found[:limit])]
    else:
        rows.append(f"Nothing found for {flat(query, PIECE)!r} in the journal.")
    return "\n".join(rows), ()


@_tool(NotesArguments, reads=False)
def write_notes(cortex: Parts, given: NotesArguments, session: Session | None) -> _Told:
    """Replace the notes on the running conversation, or add to them.

    Raises:
        EngramdownError: If nothing may be written, or it could not be.
    """
    # Imported here: a search does not need it.
    from engramdown.transcripts.episode import is_like

    _check_on(cortex)
    if session is None or not session.id:
        raise errors.EngramdownError(_NO_SESSION)
    chosen = cortex.scopes.settings.episodes
    if not chosen.enabled or is_like(session.id, chosen.ignore):
        raise errors.EngramdownError(_UNRECORDED)
    notes, text = cortex.conversations.notes(session), _text(given.text)
    if given.mode == "append":
        note, done = notes.append(text), "Added to"
    else:
        note, done = notes.write(text), "Replaced"
    return f"{done} the notes on this conversation.{_hidden(note.hidden)}", ()


def _day_row(match: Match) -> str:
    """Return a matching entry of the journal as one line."""
    section = match.section
    themes = flat(", ".join(section.themes), PIECE)
    about = f" (themes: {themes})" if themes else ""
    at = f"{match.date} {flat(section.heading, PIECE)}".rstrip()
    return f"- {at} {_WHO[section.by]}: {flat(match.piece, PIECE)}{about}"


def _check_on(cortex: Parts) -> None:
    if cortex.scopes.mode == "off":
        raise errors.EngramdownError(_NOTHING_WRITTEN)


def _text(text: str) -> str:
    if not text.strip():
        raise ValueError('"text" is empty; say what is to be kept')
    return text


def _hidden(kinds: tuple[str, ...]) -> str:
    return f" A secret in it was hidden, and is kept nowhere: {', '.join(kinds)}." if kinds else ""


RECALL: Final = TOOLS["recall"]  # as the docs of 0.1 named it
