"""Routes about the server itself: its version, its keys, events, and its own description.

The description is OpenAPI 3.1, made from the table of routes and the models of their queries and
bodies; what they answer stands in ``shapes.txt``.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, Field
from pydantic.json_schema import models_json_schema

from engramdown import __version__
from engramdown.lazy import entries
from engramdown.web.problems import MEDIA_TYPE, ProblemError
from engramdown.web.routes import Call, Form, Paged, Reply, Route

EVENT_STREAM: Final = "text/event-stream"
_SCHEMAS: Final = "#/components/schemas/{model}"
_PART: Final = re.compile(r"\{(\w+)\}")
_PROBLEM: Final = {
    "type": "object",
    "description": "Problem details (RFC 9457).",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "field": {"type": "string"},
    },
}
_NO_CONTENT: Final = 204
_PAGE: Final = "A page of them; `Link` leads to the next one."
_KEYS: Final = {
    "program": "The token of programs, which reads and proposes.",
    "person": "The key of a page, which a person got for a code.",
}


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
    Route("GET", "/health", health, need="nothing"),
    Route("GET", "/openapi.json", openapi, need="nothing"),
    Route(
        "POST", "/v1/keys", new_key, need="nothing", body=Code, answers={201: "The id and the key."}
    ),
    Route("GET", "/v1/keys", keys, "[object]", need="person"),
    Route("DELETE", "/v1/keys", revoke_keys, need="person"),
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


# ---- the description ----


def document(routes: Iterable[Route]) -> dict[str, Any]:
    """Return the description of ``routes`` as OpenAPI 3.1."""
    listed = [route for route in routes if route.is_listed]
    models = [model for route in listed for model in (route.query, route.body) if model]
    refs, definitions = models_json_schema(
        [(model, "validation") for model in dict.fromkeys(models)], ref_template=_SCHEMAS
    )
    schemas = definitions.get("$defs", {})
    paths: dict[str, dict[str, Any]] = {}
    for route in listed:
        operation = _operation(route)
        if route.query is not None:
            operation["parameters"] += _query(route.query, schemas)
        if route.body is not None:
            operation["requestBody"] = {
                "required": any(each.is_required() for each in route.body.model_fields.values()),
                "content": {"application/json": {"schema": refs[route.body, "validation"]}},
            }
        paths.setdefault(route.path, {})[route.method.lower()] = operation
    named_for_queries = {route.query.__name__ for route in listed if route.query}
    for name in named_for_queries - {route.body.__name__ for route in listed if route.body}:
        schemas.pop(name, None)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Engramdown", "version": __version__},
        "paths": paths,
        "components": {
            "schemas": {**schemas, **_shapes(), "Problem": _PROBLEM},
            "securitySchemes": {
                name: {"type": "http", "scheme": "bearer", "description": about}
                for name, about in _KEYS.items()
            },
        },
    }


def _operation(route: Route) -> dict[str, Any]:
    summary, _, more = (inspect.getdoc(route.handler) or "").partition("\n\n")
    problem = {"schema": {"$ref": "#/components/schemas/Problem"}}
    is_json = route.media == "application/json"
    answer = {"schema": _schema(route.shape if is_json else "string")}
    parameters: list[dict[str, Any]] = [
        {"name": part, "in": "path", "required": True, "schema": {"type": "string"}}
        for part in _PART.findall(route.path)
    ]
    parameters += [
        {"name": header, "in": "header", "schema": {"type": "string"}} for header in route.takes
    ]
    is_page = route.query is not None and issubclass(route.query, Paged)
    keys = {"nothing": [], "program": ["program", "person"], "person": ["person"]}[route.need]
    return {
        "operationId": route.name,
        "summary": " ".join(summary.split()),
        **({"description": more} if more else {}),
        "parameters": parameters,
        "security": [{key: []} for key in keys],
        "responses": {
            **{
                str(status): {
                    "description": _PAGE if is_page else about,
                    **({"content": {route.media: answer}} if status != _NO_CONTENT else {}),
                }
                for status, about in route.answers.items()
            },
            "default": {"description": "A problem.", "content": {MEDIA_TYPE: problem}},
        },
    }


@cache
def _shapes() -> dict[str, Any]:
    """Return the schemas of what routes answer, from the table beside this module."""
    shapes: dict[str, Any] = {}
    for name, lines in entries(Path(__file__).with_name("shapes.txt")):
        properties: dict[str, Any] = {}
        required: list[str] = []
        for line in lines:
            kind, _, fields = line.partition(":")
            properties |= {field: _schema(kind.removeprefix("-")) for field in fields.split()}
            required += fields.split() if not kind.startswith("-") else []
        shapes[name] = {"type": "object", "properties": properties, "required": required}
    return shapes


def _schema(kind: str) -> dict[str, Any]:
    """Return the schema of a type as the table names it."""
    if kind.startswith("["):
        return {"type": "array", "items": _schema(kind[1:-1])}
    if kind[:1].isupper():
        return {"$ref": _SCHEMAS.format(model=kind)}
    return {"type": [kind[:-1], "null"] if kind.endswith("?") else kind}


def _query(model: type[BaseModel], schemas: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the parameters that a model of a query describes."""
    schema = schemas[model.__name__]
    return [
        {
            "name": name,
            "in": "query",
            "required": name in schema.get("required", ()),
            **({"style": "form", "explode": False} if prop.get("type") == "array" else {}),
            **({"description": about} if (about := prop.get("description")) else {}),
            "schema": {key: value for key, value in prop.items() if key != "description"},
        }
        for name, prop in schema["properties"].items()
    ]
