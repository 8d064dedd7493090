"""The description of the API, made from the table of routes."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from engramdown import __version__
from engramdown.lazy import entries
from engramdown.web.problems import MEDIA_TYPE
from engramdown.web.routes import Route

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
_KEYS: Final = {
    "program": "The token of programs, which reads and proposes.",
    "person": "The key of a page, which a person got for a code.",
}


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
                    "description": about,
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
