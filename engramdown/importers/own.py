"""Reads sessions that ``engramdown export --format json`` wrote.

A session comes back as it was: the same id, the same lines, the same whole texts.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from engramdown.importers.records import Conversation, Item, Kept, Record, Skipped, Source, mapping
from engramdown.transcripts import is_session_id, read_line

FORMAT: Final = "engramdown"
"""The key that tells an export of ours, with the version of the format."""


def _knows(value: Any) -> bool:  # noqa: ANN401 - JSON is anything
    return (
        isinstance(value, dict)
        and FORMAT in value
        and isinstance(value.get("session"), str)
        and isinstance(value.get("episodes"), list)
    )


def _read(records: Iterable[Record]) -> Iterator[Item]:
    for record in records:
        value = record.value
        if not _knows(value) or not is_session_id(value["session"]):
            yield Skipped(record.line, "is no session of engramdown", damaged=True)
            continue
        key: str = value["session"]
        yield Conversation(key=key, everywhere=True, whole=True, id=key, as_it_was=True)
        yield from _episodes(record.line, value, key)


def _episodes(line: int, value: Mapping[str, Any], key: str) -> Iterator[Item]:
    payloads = mapping(value.get("payloads"))
    for told in value["episodes"]:
        episode = read_line(json.dumps(told).encode())
        if episode is None:
            yield Skipped(line, "is no episode", damaged=True)
        else:
            whole = payloads.get(episode.payload)
            yield Kept(episode, whole if isinstance(whole, str) else None, key)


OWN: Final = Source("engramdown", "engramdown export", _knows, _read)
