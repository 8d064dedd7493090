"""What the tables of the index must make possible."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from engramdown import EpisodicMemory
from engramdown.recall.index import Index
from engramdown.storage.disk import Disk


def test_who_opens_the_index_reads_no_row_of_every_session(tmp_path: Path) -> None:
    with closing(EpisodicMemory(tmp_path)) as memory:
        memory.log("monday", "user", "Where is the boat?")
        assert memory.recall("boat")
    cache = tmp_path / "cache"
    with closing(sqlite3.connect(cache / "index.sqlite")) as connection:
        asked: list[str] = []
        connection.set_trace_callback(asked.append)
        with Index(connection, tmp_path / "episodes", cache, Disk()).reading():
            pass
        connection.set_trace_callback(None)
        plans = [
            row[3]
            for statement in asked
            if "FROM sessions" in statement
            for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}")
        ]
    assert len(plans) > 1
    assert [plan for plan in plans if " INDEX " not in plan] == []
