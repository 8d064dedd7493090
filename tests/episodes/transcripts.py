"""Transcripts for tests, written as a program that knows nothing of us would write them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from engramdown.episodes.memory import EpisodicMemory
from engramdown.transcripts.episode import stamp

START: Final = datetime(2026, 2, 27, 10, 15, tzinfo=UTC)


def line(seq: int, text: str, minutes: float = 0, **fields: Any) -> bytes:  # noqa: ANN401 - JSON
    """Return a line; ``minutes`` after :data:`START`, by default a minute a line."""
    ts = stamp(START + timedelta(minutes=minutes or seq))
    role = fields.pop("role", "user" if seq % 2 else "assistant")
    known = {"seq": seq, "ts": ts, "id": f"{seq:016d}", "role": role, "text": text, **fields}
    return json.dumps(known, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def write(root: Path, session: str, texts: Iterable[str], minutes: float = 0) -> Path:
    """Write a session that begins ``minutes`` after :data:`START`, a minute a text."""
    path = root / "episodes" / f"{session}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    start = line(0, "", minutes, role="event", event="start", v=1, session=session)
    said = [line(seq, text, minutes + seq) for seq, text in enumerate(texts, 1)]
    path.write_bytes(start + b"".join(said))
    return path


def append(path: Path, data: bytes) -> None:
    """Append bytes to a transcript."""
    with path.open("ab") as file:
        file.write(data)


def memory(root: Path) -> EpisodicMemory:
    """Return the memory of a scope whose cache can be written."""
    (root / "cache").mkdir(parents=True, exist_ok=True)
    return EpisodicMemory(root)


def found(
    memory: EpisodicMemory,
    query: str,
    limit: int = 20,
    **filters: Any,  # noqa: ANN401 - as they are
) -> list[str]:
    """Return where ``query`` is found, in order."""
    return [str(hit.pointer) for hit in memory.recall(query, limit, **filters)]
