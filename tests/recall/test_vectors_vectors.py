"""A vector that was made is kept, and a file that is none of ours is made anew."""

from __future__ import annotations

import os
import sqlite3
import stat
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from engramdown.models.embedders import EmbeddingError
from engramdown.recall import vectors as module
from engramdown.recall.vectors import FILE, Vectors
from engramdown.storage.disk import Disk


@pytest.fixture
def vectors(tmp_path: Path) -> Vectors:
    return Vectors(tmp_path / "cache", Disk())


def kept(vectors: Vectors) -> list[tuple[str, bytes, bytes]]:
    return vectors.each(list)


def test_what_was_kept_is_there_by_model_and_digest(vectors: Vectors) -> None:
    vectors.keep("a", [(b"1", b"x"), (b"2", b"y")])
    vectors.keep("b", [(b"1", b"z")])
    vectors.keep("b", [(b"1", b"w")])
    assert sorted(kept(vectors)) == [("a", b"1", b"x"), ("a", b"2", b"y"), ("b", b"1", b"w")]
    vectors.drop([("a", b"1"), ("b", b"2")])
    vectors.drop([])
    assert sorted(kept(vectors)) == [("a", b"2", b"y"), ("b", b"1", b"w")]


def test_questions_are_kept_apart_and_only_the_last(
    vectors: Vectors, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_QUESTIONS", 2)
    for name in (b"1", b"2", b"3"):
        vectors.keep_question("a", name, name * 2)
    assert [vectors.question("a", name) for name in (b"1", b"2", b"3")] == [None, b"22", b"33"]
    assert vectors.question("b", b"3") is None
    assert kept(vectors) == []
    vectors.drop_questions("a")
    assert vectors.question("a", b"3") is None


@pytest.mark.parametrize("content", [b"garbage" * 1_000, b"SQLite format 3\0" + b"\xff" * 5_000])
def test_a_file_that_is_none_of_ours_is_made_anew(
    vectors: Vectors, tmp_path: Path, content: bytes
) -> None:
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / FILE).write_bytes(content)
    vectors.keep("a", [(b"1", b"x")])
    assert kept(vectors) == [("a", b"1", b"x")]


def test_the_file_is_for_the_user_alone(vectors: Vectors, tmp_path: Path) -> None:
    vectors.keep("a", [])
    mode = stat.S_IMODE((tmp_path / "cache" / FILE).stat().st_mode)
    assert mode == 0o600


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_switches_the_lane_off(
    vectors: Vectors, tmp_path: Path
) -> None:
    (tmp_path / "cache").mkdir(mode=0o500)
    with pytest.raises(EmbeddingError, match=FILE):
        vectors.keep("a", [(b"1", b"x")])


def test_a_table_of_somebody_else_switches_the_lane_off(vectors: Vectors, tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    with closing(sqlite3.connect(tmp_path / "cache" / FILE)) as file, file:
        file.execute("CREATE TABLE vectors(number)")
    with pytest.raises(EmbeddingError, match=FILE):
        kept(vectors)


def test_several_threads_may_keep_at_once(vectors: Vectors) -> None:
    def work(number: int) -> None:
        for at in range(10):
            vectors.keep("a", [(bytes([number, at]), b"x")])

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(kept(vectors)) == 40


def test_what_takes_stops_when_it_is_told_to(vectors: Vectors) -> None:
    vectors.keep("a", [(b"1", b"x")])

    def take(rows: Iterator[tuple[str, bytes, bytes]]) -> None:
        next(rows)
        raise EmbeddingError("enough")

    with pytest.raises(EmbeddingError, match="enough"):
        vectors.each(take)
    assert len(kept(vectors)) == 1
