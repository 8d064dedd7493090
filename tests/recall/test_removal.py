"""Sessions leave the index with every word of theirs, and nothing else is made anew for it."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from engramdown.episodes.memory import EpisodicMemory
from engramdown.recall import index, index_file
from engramdown.recall import index_file as removing
from engramdown.recall.index_file import removal
from engramdown.storage.disk import EpisodeDisk
from engramdown.storage.locks import FolderLock
from tests.episodes.disks import Fault, FaultyDisk
from tests.episodes.transcripts import append, found, line, memory, write

TEXTS = (
    "We went to the lake, and the boat leaked",
    "The boat is repaired now",
    "我们用的搜索引擎很快",
    "Café Zürich, 100 % sure_",
    "the the the",
    "...",
)
SECRET = ("The password of the boat is zyzzyva", "Zyzzyvas everywhere", "no more of it")
QUERIES = ("boat", "who went to the lake?", "搜索", "the", "password", "zyzzyva", "kazimir")


@pytest.fixture(autouse=True)
def _list_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let words of a few lines have lists, so that these take part."""
    monkeypatch.setattr(index, "LISTED", 5)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for number in range(8):
        write(tmp_path, f"s{number}", TEXTS * 7, number * 60)
    path = write(tmp_path, "secret", SECRET * 15, 200)
    append(path, line(46, "Kazimir speaks", 300, name="Kazimir", role="user"))
    append(path, line(47, "and shows", 301, name="shredder", role="tool_call"))
    append(path, line(48, "recalled", 302, role="memory_read"))
    append(path, line(49, "", 303, role="event", event="exclude", of=[2]))
    append(path, b"broken\n")
    write(tmp_path, "t", TEXTS, 600)
    with closing(memory(tmp_path)) as first:
        assert first.recall("boat")
        # These come into the list of what is new.
        append(path, line(51, "password of the lake", 304))
        append(tmp_path / "episodes" / "t.jsonl", line(7, "one boat more", 610))
        assert found(first, "one boat more", 1) == ["t#7"]
        append(path, line(52, "password of the lake again", 305))
        assert first.recall("lake")
    return tmp_path


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Return the list of indexes that are made anew meanwhile."""
    paths: list[Path] = []
    make = index_file.Shelf._make

    def noting(self: index_file.Shelf) -> object:
        paths.append(self.cache)
        return make(self)

    monkeypatch.setattr(index_file.Shelf, "_make", noting)
    return paths


def remove(root: Path, *sessions: str, disk: EpisodeDisk | None = None) -> None:
    disk = disk or EpisodeDisk()
    with removal(root / "episodes", root / "cache", sessions, disk) as replace:
        replace()
    for session in sessions:
        (root / "episodes" / f"{session}.jsonl").unlink(missing_ok=True)


def everything(root: Path) -> bytes:
    return b"".join(path.read_bytes() for path in (root / "cache").iterdir() if path.is_file())


def answers(memory: EpisodicMemory) -> list[list[tuple[str, float]]]:
    return [
        [(str(hit.pointer), round(hit.score, 9)) for hit in memory.recall(query, mode=mode)]
        for query in QUERIES
        for mode in ("best", "exact")
    ]


def known(root: Path) -> dict[str, list[tuple[object, ...]]]:
    """Return what an index knows, without the numbers that it gave."""
    with closing(sqlite3.connect(root / "cache" / index_file.FILE)) as index:
        told = {
            "words": "SELECT term, doc FROM counts ORDER BY term",
            "names": "SELECT name, speaks FROM names ORDER BY name",
            "sessions": "SELECT name, taken, digest, lines FROM sessions ORDER BY name",
            "excluded": "SELECT name, seq FROM excluded JOIN sessions ON session = number",
            "facts": "SELECT name, value FROM facts WHERE name IN ('total', 'recalled')",
            "lines": """SELECT name, place, chunks.start, end, length(facts)
                FROM chunks JOIN sessions ON session = sessions.number ORDER BY name, place""",
        }
        return {name: index.execute(question).fetchall() for name, question in told.items()}


def test_what_is_left_is_an_index_that_never_knew_the_session(root: Path, made: list[Path]) -> None:
    remove(root, "secret", "s3")
    with closing(memory(root)) as after:
        told = answers(after)
    assert made == []
    left = known(root)
    (root / "cache" / index_file.FILE).unlink()
    with closing(memory(root)) as anew:
        assert told == answers(anew)
    assert made
    assert left == known(root)
    assert sum(map(bool, told)) > 5


def test_not_a_word_stays_in_the_file(root: Path) -> None:
    assert all(word in everything(root) for word in (b"zyzzyv", b"Kazimir", b"shredder"))
    remove(root, "secret")
    left = everything(root).lower()
    assert not any(word in left for word in (b"zyzzy", b"yzzyv", b"password", b"kazim", b"shred"))
    assert b"repair" in left


def test_a_session_that_is_still_there_comes_back(root: Path, made: list[Path]) -> None:
    with closing(memory(root)) as before:
        told = answers(before)
    path = root / "episodes" / "secret.jsonl"
    kept = path.read_bytes()
    remove(root, "secret")
    path.write_bytes(kept)
    with closing(memory(root)) as after:
        assert answers(after) == told
    assert made == []


def test_who_has_the_index_open_goes_on_in_the_new_one(root: Path, made: list[Path]) -> None:
    with closing(memory(root)) as reader:
        assert reader.recall("zyzzyva")
        remove(root, "secret")
        write(root, "later", ["A boat called heron"], 900)
        assert not reader.recall("zyzzyva")
        assert found(reader, "heron") == ["later#1"]
    assert made == []


def test_a_session_that_is_not_known_takes_nothing_away(root: Path, made: list[Path]) -> None:
    with closing(memory(root)) as before:
        told = answers(before)
    remove(root, "nobody")
    with closing(memory(root)) as after:
        assert answers(after) == told
    assert made == []


def test_all_sessions_can_go(tmp_path: Path, made: list[Path]) -> None:
    write(tmp_path, "s", TEXTS)
    with closing(memory(tmp_path)) as reader:
        assert reader.recall("boat")
        made.clear()
        remove(tmp_path, "s")
        assert reader.recall("boat") == []
    assert made == []


def test_a_transcript_that_is_another_one_by_now_takes_the_index_along(root: Path) -> None:
    write(root, "secret", ["rewritten"])
    remove(root, "secret")
    assert [path.name for path in (root / "cache").iterdir()] == [index_file.LOCK]


def test_an_index_that_is_not_as_it_was_left_goes(root: Path) -> None:
    (root / "cache" / index_file.SEAL).write_bytes(b"1 2 3")
    remove(root, "secret")
    assert not (root / "cache" / index_file.FILE).exists()


def test_an_index_of_another_version_goes(root: Path) -> None:
    with closing(sqlite3.connect(root / "cache" / index_file.FILE)) as index:
        index.execute("PRAGMA user_version = 99")
        index.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    index_file.note(root / "cache", EpisodeDisk())
    remove(root, "secret")
    assert not (root / "cache" / index_file.FILE).exists()


def test_more_names_than_can_be_told_apart_take_the_index_along(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(removing, "_CAPPED", 0)
    remove(root, "secret")
    assert not (root / "cache" / index_file.FILE).exists()


def test_where_there_is_no_cache_nothing_is_made(tmp_path: Path) -> None:
    write(tmp_path, "s", TEXTS)
    remove(tmp_path, "s")
    assert not (tmp_path / "cache").exists()


def test_an_index_that_somebody_removed_meanwhile_does_not_come_back(root: Path) -> None:
    folder, cache = root / "episodes", root / "cache"
    with removal(folder, cache, ["secret"], EpisodeDisk()) as replace:
        (cache / index_file.FILE).unlink()
        replace()
    assert not list(cache.glob("index.s*"))


def test_what_is_not_put_in_its_place_leaves_the_index_as_it_is(
    root: Path, made: list[Path]
) -> None:
    before = (root / "cache" / index_file.FILE).read_bytes()
    with removal(root / "episodes", root / "cache", ["secret"], EpisodeDisk()):
        pass
    assert (root / "cache" / index_file.FILE).read_bytes() == before
    with closing(memory(root)) as reader:
        assert reader.recall("zyzzyva")
    assert made == []
    assert not list((root / "cache").glob(f"*{index_file.PART}"))


def test_while_somebody_makes_an_index_it_is_removed(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(removing, "PATIENCE", 0.05)
    lock = FolderLock(root / "cache" / index_file.LOCK, EpisodeDisk(), 1.0)
    with lock.hold():
        remove(root, "secret")
    lock.close()
    assert not (root / "cache" / index_file.FILE).exists()


def test_a_transcript_that_cannot_be_read_takes_the_index_along(root: Path) -> None:
    disk = FaultyDisk(Fault("open", name="secret.jsonl"))
    remove(root, "secret", disk=disk)
    assert disk.landed
    assert not (root / "cache" / index_file.FILE).exists()


def test_who_has_another_index_open_does_not_wait_for_itself(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []
    wait = FolderLock.take

    def noting(self: FolderLock, timeout: float | None = None) -> None:
        start = time.monotonic()
        try:
            wait(self, timeout)
        finally:
            waits.append(time.monotonic() - start)

    with closing(memory(root)) as reader:
        assert reader.recall("boat")
        remove(root, "secret")
        monkeypatch.setattr(FolderLock, "take", noting)
        assert reader.recall("boat")
    assert waits
    assert max(waits) < 0.5
