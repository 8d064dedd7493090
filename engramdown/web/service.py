"""Routes about the server itself: its version, its description, and the keys of pages."""

from __future__ import annotations

from typing import Final

from pydantic import Field

from engramdown import __version__
from engramdown.web.openapi import document
from engramdown.web.problems import ProblemError
from engramdown.web.routes import Call, Form, Reply, Route

EVENT_STREAM: Final = "text/event-stream"


class Code(Form):
    """A code from the terminal."""

    code: str = Field(max_length=100)


def health(_: Call) -> Reply:
    """Say which version runs."""
    return Reply({"version": __version__})


def openapi(call: Call) -> Reply:
    """Describe this API."""
    return Reply(document(call.service.routes))


def new_key(call: Call) -> Reply:
    """Give a key to a page for a code.

    `engramdown serve --code` prints a code, which counts once and for a minute.
    """
    key = call.service.keys.trade(call.body.code)
    if key is None:
        why = "the code was used, is older than a minute, or was never given"
        raise ProblemError("no-key", f"{why}; `engramdown serve --code` prints another", "code")
    return Reply({"id": key.id, "key": key.secret}, 201)


def keys(call: Call) -> Reply:
    """List the keys of pages, without the keys themselves."""
    return Reply(call.service.keys.listed())


def revoke_key(call: Call) -> Reply:
    """Revoke the key of a page."""
    if not call.service.keys.revoke(call.path["id"]):
        raise ProblemError("not-found", f"no key {call.path['id']!r}; GET /v1/keys lists them")
    return Reply(status=204)


def revoke_keys(call: Call) -> Reply:
    """Revoke the keys of all pages, this one included."""
    return Reply({"revoked": call.service.keys.revoke()})


def events(call: Call) -> Reply:
    """Tell what happens to memory, as it happens: server-sent events.

    `change`, `proposal` and `trouble` have what `engramdown watch --json` prints, `session` says
    which transcript was written, and `reset` that too much happened: load anew what you show. With
    `Last-Event-ID` it begins with what happened since.
    """
    if call.service.events.is_full:
        raise ProblemError("busy", "too many clients listen already; close another page")
    known = call.service.keys
    key = call.headers["authorization"].partition(" ")[2].strip()
    stream = call.service.events.stream(
        call.headers.get("last-event-id", ""), lambda: known.kind_of(key) is not None
    )
    return Reply(stream=stream, media=EVENT_STREAM)


ROUTES: Final = (
    Route("GET", "/health", health, need="nothing", answers={200: "The version."}),
    Route("GET", "/openapi.json", openapi, need="nothing", answers={200: "OpenAPI 3.1."}),
    Route(
        "POST", "/v1/keys", new_key, need="nothing", body=Code, answers={201: "The id and the key."}
    ),
    Route(
        "GET",
        "/v1/keys",
        keys,
        shape="[object]",
        need="person",
        answers={200: "Each id, and since when."},
    ),
    Route("DELETE", "/v1/keys", revoke_keys, need="person", answers={200: "How many there were."}),
    Route("DELETE", "/v1/keys/{id}", revoke_key, need="person", answers={204: "It is revoked."}),
    Route(
        "GET",
        "/v1/events",
        events,
        takes=["Last-Event-ID"],
        answers={200: "Events, until either side ends."},
        media=EVENT_STREAM,
    ),
)
