"""What a row of the table of routes is, and what its handler is given and gives back.

A handler is a plain function. It runs in a thread that has a Cortex of its own, and may raise any
error of ours: :mod:`engramdown.web.problems` turns it into an answer. The models of a row check the
query and the body before the handler is called, and describe both in ``/openapi.json``.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar
from urllib.parse import urlencode

from pydantic import BaseModel, ConfigDict, Field

from engramdown.clock import moment_of
from engramdown.web.address import Address
from engramdown.web.events import Events
from engramdown.web.keys import Keys, Kind
from engramdown.web.problems import ProblemError

if TYPE_CHECKING:
    from engramdown import Cortex, Entry

T = TypeVar("T")
Method = Literal["GET", "POST", "PATCH", "DELETE"]
# Which key a route needs: none, the token of programs or a person's, or a person's.
Need = Literal["nothing", "program", "person"]
JSON: Final = "application/json"


class Form(BaseModel):
    """A query or a body: what is not named in it is refused."""

    model_config = ConfigDict(extra="forbid", defer_build=True)


class Paged(Form):
    """The query of a list."""

    limit: int = Field(100, ge=1, le=500, description="At most so many.")
    after: str = Field(
        "", max_length=200, description="Where the page before ended; its Link header says it."
    )


@dataclass(frozen=True)
class Service:
    """What all calls of a server share.

    Attributes:
        address: Where it listens.
        keys: The keys that it knows.
        events: What it tells of as it happens.
        routes: Its table.
        is_read_only: Whether it only shows memory.
    """

    address: Address
    keys: Keys
    events: Events
    routes: Sequence[Route]
    is_read_only: bool = False


@dataclass(frozen=True)
class Call:
    """One request, after it was checked.

    Attributes:
        cortex: The Cortex of this thread.
        service: What all calls share.
        path: The parts of the path, by their names in the route.
        query: The query, of the model that the route names.
        body: The body, of the model that the route names.
        headers: The headers, by their names in lower case.
        kind: The kind of key that was shown; ``None`` only where none is needed.
        read: What was read for it, by name.
    """

    cortex: Cortex
    service: Service
    path: Mapping[str, str] = field(default_factory=dict)
    query: Any = None
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    kind: Kind | None = None
    read: dict[str, list[Entry]] = field(default_factory=dict)

    def entries(self) -> list[Entry]:
        """Return the memories, which are read once for a page and all that it asks of the API."""
        if "entries" not in self.read:
            self.read["entries"] = self.cortex.entries()
        return self.read["entries"]

    @property
    def by_person(self) -> bool:
        """Whether a person's key was shown."""
        return self.kind == "person"


@dataclass(frozen=True)
class Reply:
    """An answer.

    Attributes:
        data: A value for JSON; text or bytes if ``media`` is another type.
        status: The status.
        headers: Headers beside those that every answer has.
        media: The type of the content.
        stream: Pieces that are sent as they come, instead of ``data``.
    """

    data: Any = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    media: str = JSON
    stream: AsyncIterator[bytes] | None = None


@dataclass(frozen=True)
class Route:
    """A row of the table.

    Attributes:
        method: The method.
        path: The path, with ``{name}`` for its parts.
        handler: What answers. The first line of its docstring is the summary of the route.
        shape: What it answers, as ``shapes.txt`` calls it: ``Memory``, or ``[Memory]`` for a list.
        need: Which key it needs.
        changes: Whether it changes anything; with ``--read-only`` it is not there.
        query: The model of its query.
        body: The model of its body. An empty body counts as ``{}``.
        takes: The headers that it reads, for the description.
        answers: More about what it answers on success, by status, for the description.
        media: The type of what it answers.
        is_repeatable: Whether a repeated ``Idempotency-Key`` gets the first answer again.
        is_listed: Whether it stands in ``/openapi.json``.
    """

    method: Method
    path: str
    handler: Callable[[Call], Reply]
    shape: str = "object"
    need: Need = "program"
    changes: bool = False
    query: type[Form] | None = None
    body: type[Form] | None = None
    takes: Sequence[str] = ()
    answers: Mapping[int, str] = field(default_factory=lambda: {200: "As asked."})
    media: str = JSON
    is_repeatable: bool = False
    is_listed: bool = True

    @property
    def name(self) -> str:
        """The name of the route, which no other one that is listed has."""
        return self.handler.__name__.strip("_")


# What changes memory needs a person, but for what a program may propose.
ChangeRoute: Final = partial(Route, need="person", changes=True)


def page_of(
    call: Call, items: Sequence[T], name: Callable[[T], str], data: Callable[[T], object]
) -> Reply:
    """Return a page of a list, with a link to the next one.

    A page begins behind the last item of the one before, also if others came or went meanwhile.

    Args:
        call: The request, whose query is a :class:`Paged`.
        items: The whole list.
        name: Returns the id of an item.
        data: Returns what JSON shows of it.
    """
    start = _start(items, call.query.after, name)
    end = start + call.query.limit
    headers = {"X-Total-Count": str(len(items))}
    if end < len(items):
        headers["Link"] = next_page(call, f"{end - 1}.{name(items[end - 1])}")
    return Reply([data(each) for each in items[start:end]], headers=headers)


def next_page(call: Call, after: str) -> str:
    """Return the ``Link`` header that leads to the same query, behind ``after``."""
    asked = call.query.model_dump(exclude_unset=True, exclude_none=True) | {"after": after}
    joined = {
        key: ",".join(map(str, it)) if isinstance(it, list) else it for key, it in asked.items()
    }
    return f'<?{urlencode(joined)}>; rel="next"'


def _start(items: Sequence[T], after: str, name: Callable[[T], str]) -> int:
    """Return where a page begins.

    Raises:
        ProblemError: If ``after`` is not what a link said.
    """
    if not after:
        return 0
    number, _, wanted = after.partition(".")
    if not (number.isascii() and number.isdecimal()) or not wanted:
        raise ProblemError("invalid", "take it from the Link header of the page before", "after")
    at = min(int(number), len(items))
    if at < len(items) and name(items[at]) == wanted:
        return at + 1
    # Something came or went before it; if it went itself, the next one is in its place.
    return next((i + 1 for i, each in enumerate(items) if name(each) == wanted), at)


def when(text: str, name: str, *, end: bool = False) -> datetime | None:
    """Return a day or a time of the person's clock; ``None`` for ``""``.

    Args:
        text: What was given.
        name: The name of the field.
        end: Take a day for its last moment.

    Raises:
        ProblemError: If it is neither.
    """
    try:
        return moment_of(text, end=end) if text else None
    except (ValueError, OverflowError):
        why = f"{text!r} is not a day or a time; write 2026-02-27 or 2026-02-27T10:15"
        raise ProblemError("invalid", why, name) from None
