"""What a connection keeps in mind of the index is what stands there now."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from engramdown.episodes.index import shelf, sqlite
from tests.episodes.transcripts import append, found, line, memory, write


def test_chunks_that_somebody_else_added_to_are_looked_up_again(tmp_path: Path) -> None:
    path = write(tmp_path, "s1", ["the boat leaked"])
    with closing(memory(tmp_path)) as reader, closing(memory(tmp_path)) as other:
        assert found(reader, "boat") == found(other, "boat") == ["s1#1"]
        append(path, line(2, "the boat floats"))
        assert sorted(found(other, "boat")) == ["s1#1", "s1#2"]
        assert sorted(found(reader, "boat")) == ["s1#1", "s1#2"]
        append(path, line(3, "the boat sank"))
        assert sorted(found(reader, "boat")) == ["s1#1", "s1#2", "s1#3"]


def test_no_more_chunks_are_kept_than_are_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "s1", [f"boat {at}" for at in range(200)])
    with closing(memory(tmp_path)) as reader:
        whole = found(reader, "boat", 200)
    monkeypatch.setattr(sqlite, "_KEPT", 2)
    monkeypatch.setattr(sqlite, "_AT_ONCE", 3)
    with closing(memory(tmp_path)) as reader:
        assert [found(reader, "boat", 200) for _ in range(3)] == [whole] * 3


def test_an_index_gives_back_what_it_does_not_need(tmp_path: Path) -> None:
    path = write(tmp_path, "s1", [f"boat number{at} {at * 7919:x}" for at in range(3000)])
    with closing(memory(tmp_path)) as reader:
        for seq in range(1000, 1080):
            append(path, line(seq, f"the boat leaked {seq:x}"))
            assert found(reader, "leaked", 1)
    with closing(sqlite3.connect(tmp_path / "cache" / shelf.FILE)) as index:
        assert index.execute("PRAGMA freelist_count").fetchone() == (0,)
        assert index.execute("PRAGMA integrity_check").fetchone() == ("ok",)
