"""Reads sessions that ``engramdown export --format json`` wrote.

A session returns unchanged: the same id, the same lines, the same whole texts.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, Final

from engramdown.importers.records import Conversation, Fields, Item, Line, Record, Skipped, Source
from engramdown.transcripts import is_session_id, read_line

# The key of an export of ours; its value is the version of the format.
FORMAT: Final = "engramdown"


def _knows(value: Any) -> bool:  # noqa: ANN401 - JSON is anything
    return (
        isinstance(value, dict)
        and FORMAT in value
        and isinstance(value.get("session"), str)
        and isinstance(value.get("episodes"), list)
    )


def _read(records: Iterable[Record]) -> Iterator[Item]:
    for record in records:
        value = Fields(record.value)
        if not _knows(value) or not is_session_id(value["session"]):
            yield Skipped(record.line, "is not a session of engramdown", damaged=True)
            continue
        key, payloads = value["session"], value.fields("payloads")
        yield Conversation(key=key, everywhere=True, whole=True, id=key, as_it_was=True)
        for each in value["episodes"]:
            episode = read_line(json.dumps(each).encode())
            if episode is None:
                yield Skipped(record.line, "is not an episode", damaged=True)
                continue
            whole = payloads.get(episode.payload)
            yield Line(episode, whole if isinstance(whole, str) else None, key)


OWN: Final = Source("engramdown", "engramdown export", _knows, _read)
