"""Reads the episodes of Anton: ``.anton/episodes/<session>.jsonl``.

It has the same roles as we, and tool results as long as it kept them. A tool call is the text of a
Python value and stays unchanged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from engramdown.importers.records import (
    FILE,
    Conversation,
    Fields,
    Item,
    Message,
    Record,
    Skipped,
    Source,
)
from engramdown.transcripts import ROLES, as_text


def _knows(value: Any) -> bool:  # noqa: ANN401 - JSON is anything
    return isinstance(value, dict) and value.keys() >= {"session", "turn", "role", "content"}


def _read(records: Iterable[Record]) -> Iterator[Item]:
    known: dict[str, str] = {}
    for record in records:
        value = Fields(record.value)
        if not _knows(value) or value["role"] not in ROLES or value["role"] == "event":
            yield Skipped(record.line, "is not an episode of Anton", damaged=True)
            continue
        own, at, turn = value.text("session"), value.time("ts"), value["turn"]
        if own not in known:
            # One file may hold episodes of several sessions.
            known[own] = FILE if not known else own
            yield Conversation(key=known[own], id=own, at=at)
        meta = value.fields("meta")
        yield Message(
            origin=f"@{record.offset}",
            at=at,
            role=value["role"],
            text=as_text(value["content"]),
            name=meta.text("tool", "name", "tool_name"),
            turn=turn if type(turn) is int and turn >= 0 else None,
            meta=meta,
            key=known[own],
        )


ANTON: Final = Source("anton", "Anton", _knows, _read)
