"""What a connection keeps in mind of the index is what stands there now."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from engramdown.episodes.memory import EpisodicMemory
from engramdown.recall import index, index_file
from tests.episodes.disks import Fault, FaultyDisk
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
    monkeypatch.setattr(index, "_KEPT", 2)
    monkeypatch.setattr(index, "_AT_ONCE", 3)
    with closing(memory(tmp_path)) as reader:
        assert [found(reader, "boat", 200) for _ in range(3)] == [whole] * 3


def test_an_index_gives_back_what_it_does_not_need(tmp_path: Path) -> None:
    path = write(tmp_path, "s1", [f"boat number{at} {at * 7919:x}" for at in range(3000)])
    with closing(memory(tmp_path)) as reader:
        for seq in range(1000, 1080):
            append(path, line(seq, f"the boat leaked {seq:x}"))
            assert found(reader, "leaked", 1)
    with closing(sqlite3.connect(tmp_path / "cache" / index_file.FILE)) as index:
        assert index.execute("PRAGMA freelist_count").fetchone() == (0,)
        assert index.execute("PRAGMA integrity_check").fetchone() == ("ok",)


@pytest.mark.parametrize("known", [0, 1], ids=["a new index", "one that is there"])
def test_what_could_not_be_read_once_is_read_by_the_next_question(
    tmp_path: Path, known: int
) -> None:
    write(tmp_path, "s1", ["the boat leaked"])
    if known:
        with closing(memory(tmp_path)) as reader:
            assert found(reader, "boat") == ["s1#1"]
    write(tmp_path, "s2", ["the boat sank"])
    # Nothing comes or goes there any more, so that nobody looks for names.
    os.utime(tmp_path / "episodes", (1_000_000_000, 1_000_000_000))
    disk = FaultyDisk(Fault("open", errno.EMFILE, "s2", times=1))
    with closing(EpisodicMemory(tmp_path, disk=disk)) as reader:
        found(reader, "boat")
    assert disk.landed == 1
    with closing(memory(tmp_path)) as reader:
        assert sorted(found(reader, "boat")) == ["s1#1", "s2#1"]


def test_a_folder_that_cannot_be_listed_once_is_not_taken_for_an_empty_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "s1", ["the boat leaked"])
    os.utime(tmp_path / "episodes", (1_000_000_000, 1_000_000_000))
    scandir = os.scandir
    failed: list[str] = []

    def failing(path: str) -> Iterator[os.DirEntry[str]]:
        if Path(path).name == "episodes" and not failed:
            failed.append(path)
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE), path)
        return scandir(path)

    with monkeypatch.context() as patch, closing(memory(tmp_path)) as reader:
        patch.setattr(os, "scandir", failing)
        assert found(reader, "boat") == ["s1#1"]
    assert failed
    with closing(memory(tmp_path)) as reader:
        assert found(reader, "boat") == ["s1#1"]
