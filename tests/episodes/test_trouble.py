"""What a process in trouble leaves for the others: read if it is ours, and else nothing."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from engramdown.episodes.recorder import Trouble, find_trouble, marker
from engramdown.storage.disk import Disk

OURS = {"process": os.getpid(), "since": "2026", "reason": "disk full", "waiting": 2, "lost": 1}


def found(folder: Path, data: bytes) -> list[Trouble]:
    (folder / marker(1)).write_bytes(data)
    return [trouble for _, trouble in find_trouble(folder, Disk())]


def test_a_marker_tells_what_waits_and_what_is_lost(tmp_path: Path) -> None:
    (trouble,) = found(tmp_path, json.dumps(OURS).encode())
    assert str(trouble) == (
        "transcripts are not written: disk full; 2 episodes in the queue, 1 episode lost"
    )


@pytest.mark.parametrize(
    "key, value",
    [
        ("process", 10**400),
        ("process", "1"),
        ("waiting", None),
        ("waiting", "2"),
        ("lost", []),
        ("lost", True),
        ("more", 1),
    ],
)
def test_a_marker_of_somebody_else_tells_nothing(tmp_path: Path, key: str, value: object) -> None:
    assert found(tmp_path, json.dumps(OURS | {key: value}).encode()) == []


def test_a_marker_of_many_levels_tells_nothing(tmp_path: Path) -> None:
    assert found(tmp_path, b"[" * 100_000) == []
