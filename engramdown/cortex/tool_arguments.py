"""The arguments of each tool for models, and how they are checked.

Every argument is described in as few words as it needs: the whole set of tools costs at most 1,500
tokens (``tests/cortex/test_tools.py``).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from engramdown.engram import Kind, Scope

# What a model gives a tool, held against what it was told to give.
#
# Pure; anything may come in: what is wrong is told in sentences that a model can act on,
# never as an exception, and never in many of them. ``null`` counts as left out, and nothing is made
# into another type.

Schema = Mapping[str, Any]
"""A JSON schema of type ``object``."""

_NAMES: Final = {"string": "a string", "integer": "a whole number", "number": "a number"}
_LIMITS: Final = (
    ("minimum", "at least {}"),
    ("maximum", "at most {}"),
    ("maxLength", "at most {} characters"),
)
_SHOWN: Final = 60
_TOLD: Final = 5
"""How many arguments that are none are named."""
LONGEST: Final = 100_000
"""How many characters a string may have; what is asked for in more is no question."""


class Arguments(BaseModel):
    """The arguments of a tool; each tool's own are a subclass."""

    model_config = ConfigDict(strict=True, frozen=True, allow_inf_nan=False, str_max_length=LONGEST)

    def given(self) -> set[str]:
        """Return the names of what was not left out."""
        return set(self.model_fields_set)


A = TypeVar("A", bound=Arguments)


def schema_of(wanted: type[Arguments]) -> dict[str, Any]:
    """Return the JSON schema that a model is shown, in as few words as say it all.

    That nothing else may be given is not among them: who gives more is told.

    >>> class Greeting(Arguments):
    ...     name: str
    ...     times: int = 1
    >>> schema_of(Greeting)["properties"]
    {'name': {'type': 'string'}, 'times': {'type': 'integer', 'default': 1}}
    """
    full = wanted.model_json_schema()
    schema = {
        "type": "object",
        "properties": {name: _short(each) for name, each in full.get("properties", {}).items()},
        "required": full.get("required", []),
    }
    return {key: value for key, value in schema.items() if value != []}


def read_arguments(arguments: object, wanted: type[A]) -> tuple[A | None, list[str]]:
    """Return what was given, or ``None`` and what is wrong with it.

    Args:
        arguments: An object, or a string with one in JSON, as some models send it.
        wanted: What it must be like.

    >>> class Search(Arguments):
    ...     limit: int = 5
    >>> read_arguments('{"limit": 7}', Search)
    (Search(limit=7), [])
    >>> read_arguments({"limit": "many"}, Search)
    (None, ['"limit" is "many"; it must be a whole number'])
    """
    found = _parsed(arguments) if isinstance(arguments, str) else arguments
    if found is None:
        found = {}
    if not isinstance(found, Mapping):
        return None, [f"the arguments are {_shown(arguments)}; give a JSON object"]
    given = {str(key): value for key, value in found.items() if value is not None}
    wrong = list(_unknown(given, wanted))
    try:
        read = wanted.model_validate(
            {key: given[key] for key in given.keys() & wanted.model_fields}
        )
    except ValidationError as error:
        return None, [*wrong, *_complaints(error, wanted)]
    return (None if wrong else read), wrong


def _short(property_schema: Schema) -> dict[str, Any]:
    """Return the schema of a property without what a model need not be told."""
    # What may be left out is a choice between a type and null, and null counts as left out.
    choices: list[Schema] = property_schema.get("anyOf", [])
    choice = next((each for each in choices if each["type"] != "null"), property_schema)
    whole = {**choice, **property_schema}
    order = ("type", "enum", "minimum", "maximum", "maxLength", "default", "description")
    return {key: whole[key] for key in order if whole.get(key) not in (None, "", LONGEST)}


def _parsed(text: str) -> object:
    try:
        return json.loads(text or "{}")
    except (ValueError, RecursionError):
        return text


def _unknown(given: Mapping[str, object], wanted: type[Arguments]) -> Iterator[str]:
    there = (
        f"there are {', '.join(wanted.model_fields)}" if wanted.model_fields else "it takes none"
    )
    names = [each for each in given if each not in wanted.model_fields]
    for name in names[:_TOLD]:
        yield f"{_shown(name)} is no argument; {there}"
    if names[_TOLD:]:
        yield f"{len(names) - _TOLD} more are none either"


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
        yield f'"{name}" is {_shown(each["input"])}; it must be {_wanted(must)}'


def _wanted(wanted: Schema) -> str:
    """Say what a property must be."""
    if "enum" in wanted:
        return "one of " + ", ".join(wanted["enum"])
    limits = [words.format(wanted[key]) for key, words in _LIMITS if key in wanted]
    return ", ".join([_NAMES[wanted["type"]], *limits])


def _shown(value: object) -> str:
    try:
        text = json.dumps(value, default=repr)
    except (ValueError, TypeError, RecursionError):
        # Too deep, in itself, or a number with thousands of digits: no JSON, but some programs
        # pass it on.
        text = f"a {type(value).__name__} that cannot be shown"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


_LONGEST: Final = 10_000

_Said = Literal[
    "user", "assistant", "tool_call", "tool_result", "scratchpad", "memory_read", "memory_write"
]
_Session = Annotated[str, Field(description="By default this one.")]
_Gist = Annotated[str, Field(description="Of a summary: g0123456789abcdef.")]


class MemorizeArguments(Arguments):
    """What ``memorize`` is given."""

    text: Annotated[str, Field(max_length=_LONGEST, description="One memory, true by itself.")]
    kind: Annotated[
        Kind,
        Field(description="Rules: always, never, when X do Y; lesson: fact; profile: the user."),
    ]
    scope: Annotated[Scope, Field(description="global: all projects.")] = "project"
    topic: Annotated[str, Field(description="Of a lesson: a few words.")] = ""


class ForgetArguments(Arguments):
    """What ``forget`` is given."""

    id: Annotated[str, Field(description="As recall shows it.")]
    why: str = ""


class ReviewArguments(Arguments):
    """What ``review`` is given: nothing."""


class TopicArguments(Arguments):
    """What ``recall_topic`` is given."""

    topic: Annotated[str, Field(description="Left out: lists the topics.")] = ""


class SkillArguments(Arguments):
    """What ``recall_skill`` is given."""

    label: str
    file: Annotated[str, Field(description="One of its files instead.")] = ""


class RecallArguments(Arguments):
    """What ``recall`` is given."""

    query: Annotated[str, Field(description="Words or a question.")] = ""
    pointer: Annotated[str, Field(description="A line to read in full, and around it.")] = ""
    mode: Annotated[
        Literal["best", "exact"], Field(description="exact: the very string, newest first.")
    ] = "best"
    limit: Annotated[int, Field(ge=1, le=50)] = 20
    days_back: Annotated[float | None, Field(ge=0)] = None
    session: Annotated[str, Field(description="Only this one: before the #.")] = ""
    role: _Said | None = None
    since: Annotated[str, Field(description="A day or time, UTC: 2026-02-27.")] = ""
    until: Annotated[str, Field(description="The same, included.")] = ""


class GrepArguments(Arguments):
    """What ``grep`` is given."""

    pattern: Annotated[str, Field(description="No wildcards.")]
    scope: Literal["both", "messages", "summaries"] = "both"
    limit: Annotated[int | None, Field(le=100, description="20 by default.")] = None
    session: _Session = ""


class DescribeArguments(Arguments):
    """What ``describe`` is given."""

    id: _Gist
    session: _Session = ""


class ExpandArguments(Arguments):
    """What ``expand`` is given."""

    id: _Gist
    tokens: Annotated[int | None, Field(le=20_000, description="4000 by default.")] = None
    cursor: Annotated[str, Field(description="From the last answer, to go on.")] = ""
    depth: Annotated[int, Field(ge=1)] = 1
    session: _Session = ""


class JournalArguments(Arguments):
    """What ``write_journal`` is given."""

    text: Annotated[str, Field(description="In markdown.")]
    themes: Annotated[str, Field(description="Words, with commas between.")] = ""
    date: Annotated[str, Field(description="A day that has passed: 2026-02-27.")] = ""


class JournalSearchArguments(Arguments):
    """What ``search_journals`` is given."""

    query: Annotated[str, Field(description="Words, or a day: 2026-02-27.")]
    limit: Annotated[int, Field(ge=1, le=20)] = 5


class NotesArguments(Arguments):
    """What ``write_notes`` is given."""

    text: Annotated[str, Field(description="In markdown.")]
    mode: Annotated[
        Literal["replace", "append"], Field(description="replace: these are all notes.")
    ] = "replace"
