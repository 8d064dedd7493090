"""Vectors are compared by their direction, and rankings by their ranks."""

from __future__ import annotations

import os
import random
import sqlite3
import stat
import sys
import threading
from array import array
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.models.embedders import EmbeddingError
from engramdown.recall import vectors as module
from engramdown.recall.vectors import (
    FILE,
    LONGEST,
    Spoken,
    Vectors,
    digest_of,
    fused,
    nearness,
    packed,
    shown_to_model,
)
from engramdown.storage.disk import Disk
from tests.episodes.transcripts import append, line, write

VECTORS = st.lists(
    st.lists(st.floats(-1e300, 1e300), min_size=3, max_size=3).filter(any), min_size=1, max_size=9
)


@given(VECTORS)
def test_a_packed_vector_has_length_1(vectors: list[list[float]]) -> None:
    for vector in vectors:
        made = packed(vector)
        assert len(made) == 4 * len(vector)
        assert nearness(made, [made]) == [pytest.approx(1, abs=1e-5)]


@pytest.mark.parametrize("vector", [[], [float("nan")], [float("inf"), 1.0]])
def test_what_is_no_vector_is_refused(vector: list[float]) -> None:
    with pytest.raises(ValueError, match="empty, or has a value that is not a finite number"):
        packed(vector)


def test_a_vector_of_zeros_is_near_to_nothing() -> None:
    assert nearness(packed([1, 2]), [packed([0, 0])]) == [0.0]


def test_the_real_numpy_gives_the_same() -> None:
    pytest.importorskip("numpy")
    dice = random.Random(1)
    blocks = [packed([dice.uniform(-1, 1) for _ in range(384)]) for _ in range(50)]
    found = nearness(blocks[0], blocks)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "numpy", None)
        assert nearness(blocks[0], blocks) == found


def test_without_numpy_it_is_counted_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numpy", None)
    found = nearness(packed([1, 0]), [packed([2, 0]), packed([0, 3]), packed([-1, -1])])
    assert found == [1.0, 0.0, -0.70711]


class Table:
    """As much of numpy's array as is used."""

    def __init__(self, numbers: Sequence[float]) -> None:
        """Hold numbers, in one row."""
        self.numbers = numbers
        self.rows = 1

    def reshape(self, rows: int, _: int) -> Table:
        self.rows = rows
        return self

    def astype(self, _: object) -> Table:
        return self

    def __matmul__(self, other: Table) -> Table:
        """Multiply each row with a vector."""
        size = len(self.numbers) // self.rows
        parts = [self.numbers[at * size : (at + 1) * size] for at in range(self.rows)]
        return Table([sum(map(float.__mul__, part, other.numbers)) for part in parts])

    def tolist(self) -> list[float]:
        return list(self.numbers)


class Numpy:
    """As much of numpy as is used."""

    float32 = "f"
    float64 = "d"

    @staticmethod
    def frombuffer(data: bytes, dtype: str) -> Table:
        return Table(array(dtype, data).tolist())


def test_with_numpy_it_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numpy", Numpy)
    found = nearness(packed([1, 0]), [packed([2, 0]), packed([0, 3]), packed([-1, -1])])
    assert found == [1.0, 0.0, -0.70711]


def test_what_stands_in_both_rankings_comes_first() -> None:
    scores = fused(["a", "b"], ["c", "b"])
    assert sorted(scores, key=scores.__getitem__, reverse=True) == ["b", "a", "c"]
    assert fused([], []) == {}


def test_the_first_by_words_comes_before_what_meaning_alone_finds() -> None:
    words, meaning = [f"w{at}" for at in range(9)], [f"m{at}" for at in range(9)]
    scores = fused(words, meaning)
    order = sorted(scores, key=scores.__getitem__, reverse=True)
    assert order[:10] == [*words[:9], "m0"]


# ---- a vector that was made is kept, and a file that is none of ours is made anew ----


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


def test_a_link_is_replaced_and_not_followed(vectors: Vectors, tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / FILE).symlink_to(tmp_path / "elsewhere")
    vectors.keep("a", [(b"1", b"x")])
    assert kept(vectors) == [("a", b"1", b"x")]
    assert not (tmp_path / "elsewhere").exists()


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


# ---- what was said is known by the digests of its texts, and known anew when a file changes ----


class Reads(Disk):
    """Counts the files that are read whole."""

    def __init__(self) -> None:
        """Begin with none."""
        super().__init__()
        self.read_whole: list[str] = []

    def load(self, path: Path) -> bytes | None:
        """Read a file."""
        self.read_whole.append(path.stem)
        return super().load(path)


def said(spoken: Spoken) -> list[tuple[str, int, bool]]:
    return [(each.session, each.seq, each.hidden) for each in spoken.all(lambda: None)]


def test_people_and_assistants_speak_and_nobody_else(tmp_path: Path) -> None:
    path = write(tmp_path, "lake", ["one", "two", "  "])
    append(path, line(4, "four", role="tool_result") + line(5, "five", role="scratchpad"))
    append(path, b"not json\n" + line(6, "six") + b'{"seq":7')
    assert said(Spoken(tmp_path / "episodes", Disk())) == [
        ("lake", 1, False),
        ("lake", 2, False),
        ("lake", 6, False),
    ]


def test_a_line_is_read_again_by_its_place(tmp_path: Path) -> None:
    write(tmp_path, "lake", ["one", "naïve 😀", "three"])
    spoken = Spoken(tmp_path / "episodes", Disk())
    found = [spoken.episode(each) for each in spoken.all(lambda: None)]
    assert [each.text for each in found if each] == ["one", "naïve 😀", "three"]


def test_a_line_that_is_another_by_now_is_none(tmp_path: Path) -> None:
    path = write(tmp_path, "lake", ["one"])
    spoken = Spoken(tmp_path / "episodes", Disk())
    (utterance,) = spoken.all(lambda: None)
    path.write_bytes(path.read_bytes().replace(b"one", b"two"))
    assert spoken.episode(utterance) is None
    path.unlink()
    assert spoken.episode(utterance) is None


def test_only_files_that_changed_are_read_again(tmp_path: Path) -> None:
    disk = Reads()
    spoken = Spoken(tmp_path / "episodes", disk)
    assert said(spoken) == []
    lake = write(tmp_path, "lake", ["one"])
    write(tmp_path, "sea", ["one"])
    assert len(said(spoken)) == len(said(spoken)) == 2
    append(lake, line(2, "two"))
    assert len(said(spoken)) == 3
    assert disk.read_whole == ["lake", "sea", "lake"]
    lake.unlink()
    assert said(spoken) == [("sea", 1, False)]


def test_what_was_excluded_is_hidden(tmp_path: Path) -> None:
    path = write(tmp_path, "lake", ["one", "two"])
    append(path, line(3, "", role="event", event="exclude", of=[2]))
    spoken = Spoken(tmp_path / "episodes", Disk())
    assert said(spoken) == [("lake", 1, False), ("lake", 2, True)]
    append(path, line(4, "", role="event", event="exclude"))
    assert all(hidden for _, _, hidden in said(spoken))


def test_a_look_can_be_stopped(tmp_path: Path) -> None:
    write(tmp_path, "lake", ["one"])

    def stop() -> None:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        Spoken(tmp_path / "episodes", Disk()).all(stop)


def test_a_model_is_shown_a_page_in_characters_that_can_be_sent() -> None:
    assert shown_to_model("x" * 3_000) == "x" * LONGEST
    assert shown_to_model("a\ud800b") == "a?b"
    assert digest_of("x" * 3_000) == digest_of("x" * LONGEST)
    assert digest_of("a") != digest_of("b")
