"""The index can be deleted, cut short and damaged at any moment, and no result changes."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from threading import Thread

import pytest

from engramdown.episodes.memory import EpisodicMemory
from engramdown.language.terms import spelt, stem, tokens
from engramdown.recall import index, index_file, lines
from engramdown.recall.index import Index
from engramdown.recall.index_file import IndexFile
from engramdown.storage.disk import Disk
from engramdown.transcripts import changes
from tests.conftest import PATIENCE
from tests.episodes.disks import Fault, FaultyDisk
from tests.episodes.transcripts import append, found, line, memory, write

TEXTS = (
    "We went to the lake, and the boat leaked",
    "The boat is repaired now",
    "Planning the release for Friday",
    "我们用的搜索引擎很快",
    "Café Zürich, 100 % sure_",
    "the the the",
    "nothing to see",
)
QUERIES = ("boat", "who went to the lake?", "plans", "搜索", "zurich", "%", "the", "release boat")


@pytest.fixture(autouse=True)
def _list_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let words of a few lines have lists, so that these take part."""
    monkeypatch.setattr(index, "LISTED", 5)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for number in range(8):
        texts = [f"{text} {number % 3}" for text in TEXTS[number % 3 :] * (1 + number)]
        write(tmp_path, f"s{number}", texts, number * 7)
    return tmp_path


def answers(memory: EpisodicMemory) -> list[list[tuple[str, float]]]:
    return [
        [(str(hit.pointer), round(hit.score, 9)) for hit in memory.recall(query, mode=mode)]
        for query in QUERIES
        for mode in ("best", "exact")
    ]


def script(program: str, *arguments: str) -> list[str]:
    """Return what runs a program in a process of its own."""
    head = "import os, sys\nfrom pathlib import Path\n"
    head += "from engramdown.episodes.memory import EpisodicMemory\n"
    return [sys.executable, "-c", head + textwrap.dedent(program), *arguments]


def index_of(root: Path) -> Path:
    return root / "cache" / index_file.FILE


def test_there_are_answers(root: Path) -> None:
    with closing(memory(root)) as reader:
        assert sum(map(bool, answers(reader))) > len(QUERIES)


def test_of_each_word_the_index_knows_the_lines_that_hold_it(root: Path) -> None:
    holders: dict[str, set[tuple[str, int]]] = {}
    for path in (root / "episodes").glob("*.jsonl"):
        for said in lines.read_lines(path.read_bytes()):
            for word in tokens(said.text):
                holders.setdefault(word, set()).add((path.stem, said.seq))

    def known(index: Index, word: str) -> set[tuple[str, int]]:
        places = [divmod(key, lines.CHUNK) for key in index.keys(word)]
        chunks = index.fetch({number for number, _ in places})
        return {(index.name(chunks[n].session), chunks[n].line(at)[1]) for n, at in places}

    with closing(memory(root)) as reader:
        words = {part for text in TEXTS for part in spelt(text)}
        ask = reader._recalling().index.ask
        assert {word: ask(partial(known, word=word)) for word in words} == {
            word: holders[stem(word)] for word in words
        }
        assert index_of(root).stat().st_mode & 0o777 == 0o600


def test_where_nothing_can_be_kept_an_index_in_memory_answers(root: Path) -> None:
    with closing(memory(root)) as indexed:
        expected = answers(indexed)
    shutil.rmtree(root / "cache")
    (root / "cache").write_text("a file is in the way", encoding="utf-8")
    reader = EpisodicMemory(root)
    assert answers(reader) == expected
    append(root / "episodes" / "s0.jsonl", line(99, "zeppelin"))
    assert found(reader, "zeppelin", 1) == ["s0#99"]


def test_the_cache_is_made_when_it_is_needed(root: Path) -> None:
    with closing(EpisodicMemory(root)) as reader:
        assert found(reader, "lake")
    assert index_of(root).exists()


def test_who_only_reads_leaves_the_index_as_it_is(root: Path) -> None:
    # What has just changed is listed again until nothing can have happened since unseen.
    os.utime(root / "episodes", (1_000_000_000, 1_000_000_000))
    seen = []
    for _ in range(3):
        with closing(EpisodicMemory(root)) as reader:
            assert found(reader, "lake")
        files = [index_of(root), root / "cache" / "index.seal"]
        seen.append([(path.stat().st_ino, path.stat().st_mtime_ns) for path in files])
    assert seen[1] == seen[2]


def no_index(path: Path) -> None:
    path.unlink()


def no_cache(path: Path) -> None:
    shutil.rmtree(path.parent)


def no_seal(path: Path) -> None:
    (path.parent / "index.seal").unlink()


def cut_short(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def emptied(path: Path) -> None:
    os.truncate(path, 0)


def no_sqlite(path: Path) -> None:
    path.write_bytes(b"not a database" * 1000)


def damaged(path: Path) -> None:
    """Change bytes in the middle of every page, as no check of SQLite would see."""
    with path.open("r+b") as file:
        for page in range(1, path.stat().st_size // 8192):
            file.seek(page * 8192 + 4000)
            file.write(b"\x5a" * 64)


def older(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA user_version = 0")
    index_file.note_state(path.parent, Disk())


HARM = (no_index, no_cache, no_seal, cut_short, emptied, no_sqlite, damaged, older)


@pytest.mark.slow
@pytest.mark.parametrize("harm", HARM)
@pytest.mark.parametrize("is_open", [False, True], ids=["closed", "open"])
def test_whatever_happens_to_the_index_no_result_changes(
    root: Path,
    harm: Callable[[Path], None],
    is_open: bool,  # noqa: FBT001 - pytest passes it
) -> None:
    reader, other = memory(root), EpisodicMemory(root)
    before = answers(reader)
    assert answers(other) == before
    if not is_open:
        reader.close()
        other.close()
    harm(index_of(root))
    assert answers(other) == before
    append(root / "episodes" / "s1.jsonl", line(999, "zeppelin"))
    assert found(reader, "zeppelin", 1) == found(other, "zeppelin", 1) == ["s1#999"]
    before = answers(reader)
    assert answers(other) == before
    reader.close()
    other.close()
    with closing(memory(root)) as third:
        assert answers(third) == before


def test_an_index_that_was_never_filled_is_none(root: Path) -> None:
    with closing(memory(root)) as reader:
        before = answers(reader)
    with closing(sqlite3.connect(index_of(root))) as database:
        database.execute("DELETE FROM lists")
        database.execute("INSERT INTO words(words) VALUES ('delete-all')")
        database.commit()
    index_file.note_state(root / "cache", Disk())
    with closing(memory(root)) as reader:
        assert answers(reader) == before


def test_the_order_in_which_lines_came_changes_nothing(tmp_path: Path, root: Path) -> None:
    there = tmp_path / "there"
    with closing(memory(there)) as reader:
        paths = sorted((root / "episodes").glob("*.jsonl"))
        lines = {path: path.read_bytes().split(b"\n")[:-1] for path in paths}
        (there / "episodes").mkdir(parents=True)
        for turn in range(max(map(len, lines.values()))):
            for path in reversed(paths):
                if turn < len(lines[path]):
                    append(there / "episodes" / path.name, lines[path][turn] + b"\n")
            if turn % 7 == 0:
                reader.recall("boat")
        with closing(memory(root)) as whole:
            assert answers(reader) == answers(whole)


def test_an_index_is_used_again(root: Path) -> None:
    with closing(memory(root)) as reader:
        assert found(reader, "boat")
    inode = index_of(root).stat().st_ino
    append(root / "episodes" / "s1.jsonl", line(999, "zeppelin"))
    with closing(memory(root)) as reader:
        assert found(reader, "zeppelin", 1) == ["s1#999"]
        before = answers(reader)
    with closing(memory(root)) as reader:
        assert answers(reader) == before
    assert index_of(root).stat().st_ino == inode


def test_a_long_log_of_sqlite_is_moved_into_the_file(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_file, "_LONG_LOG", 0)
    with closing(memory(root)) as reader:
        found(reader, "boat")
        inode = index_of(root).stat().st_ino
        append(root / "episodes" / "s1.jsonl", line(999, "zeppelin"))
        assert found(reader, "zeppelin")
        assert (root / "cache" / "index.sqlite-wal").stat().st_size == 0
        with closing(memory(root)) as other:
            assert found(other, "zeppelin")
        assert index_of(root).stat().st_ino == inode


def test_who_closes_the_file_waits_for_no_reader(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "_PATIENCE", 10 * PATIENCE)
    folder, cache = root / "episodes", root / "cache"
    first, other = (IndexFile(folder, cache, Disk()) for _ in range(2))
    assert first.ask(lambda it: it.total) == other.ask(lambda it: it.total)
    append(folder / "s1.jsonl", line(999, "zeppelin"))

    def while_reading(_: Index) -> bool:
        append(folder / "s1.jsonl", line(1000, "zeppelins"))
        first.ask(lambda it: it.total)
        # As a garbage collection does, in whichever thread.
        closes = Thread(target=first.close, daemon=True)
        closes.start()
        closes.join(PATIENCE)
        return closes.is_alive()

    assert not other.ask(while_reading)
    assert first.ask(lambda it: it.total) == other.ask(lambda it: it.total)
    first.close()
    other.close()


def test_a_line_of_another_process_is_found_at_once(root: Path) -> None:
    with closing(memory(root)) as reader:
        assert found(reader, "zeppelin") == []
        program = """
            with_it = EpisodicMemory(Path(sys.argv[1]))
            with_it.log("new", "user", "a zeppelin")
            with_it.close()
        """
        subprocess.run(script(program, str(root)), check=True)
        assert found(reader, "zeppelin", 1) == ["new#1"]


def test_a_torn_last_line_waits_and_a_broken_one_is_passed_over(root: Path) -> None:
    path = root / "episodes" / "s1.jsonl"
    with closing(memory(root)) as reader:
        whole = line(999, "zeppelin")
        append(path, whole[:20])
        assert found(reader, "zeppelin") == []
        append(path, whole[20:])
        assert found(reader, "zeppelin", 1) == ["s1#999"]
        append(path, b"no json\n" + line(1001, "dirigible"))
        assert found(reader, "dirigible", 1) == ["s1#1001"]


def test_a_file_that_was_replaced_cut_short_or_removed_is_read_again(root: Path) -> None:
    path = root / "episodes" / "s1.jsonl"
    with closing(memory(root)) as reader:
        assert found(reader, "lake", session="s0")
        original = path.read_bytes()
        path.with_suffix(".new").write_bytes(original.replace(b"boat", b"xebec"))
        path.with_suffix(".new").replace(path)
        assert found(reader, "boat", session="s1") == []
        assert found(reader, "xebec", session="s1")
        path.write_bytes(line(0, "", role="event", event="start") + line(1, "zeppelin"))
        assert found(reader, "xebec") == []
        assert found(reader, "zeppelin", 1) == ["s1#1"]
        path.unlink()
        assert found(reader, "zeppelin") == []
        assert found(reader, "lake", session="s0")


def test_a_session_that_ended_without_a_word_costs_no_new_index(root: Path) -> None:
    with closing(memory(root)) as reader, closing(EpisodicMemory(root)) as writer:
        before = answers(reader)
        inode = index_of(root).stat().st_ino
        name = writer.start_session()
        writer.mark(name, "exclude")
        assert answers(reader) == before
        (root / "episodes" / f"{name}.jsonl").unlink()
        assert answers(reader) == before
        empty = writer.start_session()
        assert answers(reader) == before
        writer.end(empty)
        assert not (root / "episodes" / f"{empty}.jsonl").exists()
        later = writer.start_session()
        writer.log(later, "user", "a boat called heron")
        assert found(reader, "heron") == [f"{later}#1"]
        assert index_of(root).stat().st_ino == inode
        (root / "episodes" / f"{later}.jsonl").unlink()
        assert answers(reader) == before
        assert index_of(root).stat().st_ino != inode


def test_a_file_that_was_changed_in_place_is_read_again(root: Path) -> None:
    path = root / "episodes" / "s1.jsonl"
    with closing(memory(root)) as reader:
        assert found(reader, "boat", session="s1")
        time.sleep(0.02)
        path.write_bytes(path.read_bytes().replace(b"boat", b"ship"))
        assert found(reader, "boat", session="s1") == []


def test_a_file_that_was_only_copied_costs_no_new_index(root: Path) -> None:
    path = root / "episodes" / "s1.jsonl"
    with closing(memory(root)) as reader:
        before = answers(reader)
        inode = index_of(root).stat().st_ino
        shutil.copy(path, path.with_suffix(".new"))
        path.with_suffix(".new").replace(path)
        assert answers(reader) == before
        assert index_of(root).stat().st_ino == inode


def test_what_is_no_transcript_is_left_alone(root: Path) -> None:
    folder = root / "episodes"
    (folder / "folder.jsonl").mkdir()
    (folder / "link.jsonl").symlink_to(folder / "s1.jsonl")
    (folder / "s1.torn-1").write_bytes(line(5, "zeppelin"))
    with closing(memory(root)) as reader:
        assert found(reader, "zeppelin") == []
        assert {hit.session for hit in reader.recall("boat", 99)} <= {f"s{n}" for n in range(8)}


def test_a_transcript_that_cannot_be_read_is_read_when_it_can(root: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    path = write(root, "locked", ["zeppelin"])
    path.chmod(0)
    with closing(memory(root)) as reader:
        assert found(reader, "zeppelin") == []
        path.chmod(0o600)
        assert found(reader, "zeppelin", 1) == ["locked#1"]


def test_no_transcripts_are_no_hits(tmp_path: Path) -> None:
    with closing(EpisodicMemory(tmp_path)) as reader:
        assert found(reader, "boat", 1) == found(reader, "boat", mode="exact") == []
        write(tmp_path, "first", ["a boat"])
        assert found(reader, "boat", 1) == ["first#1"]


def test_lists_of_words_grow_with_the_transcripts(root: Path) -> None:
    with closing(memory(root)) as reader:
        found(reader, "boat")
        path = root / "episodes" / "s2.jsonl"
        for number in range(40):
            append(path, line(1000 + number, f"boat number{number}", 9000 + number))
            assert found(reader, f"number{number}", 1) == [f"s2#{1000 + number}"]
        newest = found(reader, "boat", 5, mode="exact")
        assert newest == [f"s2#{seq}" for seq in range(1039, 1034, -1)]
        indexed = answers(reader)
    shutil.rmtree(root / "cache")
    with closing(memory(root)) as reader:
        assert answers(reader) == indexed


def test_of_many_sessions_those_are_looked_at_that_change(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "MANY", 4)
    monkeypatch.setattr(changes, "RECENT", 2)
    for number in range(8):
        os.utime(root / "episodes" / f"s{number}.jsonl", (number, number))
    time.sleep(0.15)
    with closing(memory(root)) as reader, closing(EpisodicMemory(root)) as writer:
        found(reader, "boat")
        found(reader, "boat")
        append(root / "episodes" / "s7.jsonl", line(999, "zeppelin"))
        assert found(reader, "zeppelin", 1) == ["s7#999"]
        pointer = writer.log("s0", "user", "a dirigible")
        assert found(reader, "dirigible", 1) == [str(pointer)]
        again = writer.log("s0", "user", "a balloon")
        assert found(reader, "balloon", 1) == [str(again)]
        write(root, "new", ["a kite"])
        assert found(reader, "kite", 1) == ["new#1"]
        append(root / "episodes" / "s3.jsonl", line(999, "a glider"))
        os.utime(root / "episodes" / "s3.jsonl", (3, 3))
        monkeypatch.setattr(changes, "_SELDOM", -1.0)
        monkeypatch.setattr(changes, "_SHARE", 0)
        assert found(reader, "glider", 1) == ["s3#999"]


def test_a_killed_process_leaves_an_index_that_answers(root: Path) -> None:
    program = """
        reader = EpisodicMemory(Path(sys.argv[1]))
        print(len(reader.recall("boat")), flush=True)
        while True:
            with open(Path(sys.argv[1]) / "episodes" / "s3.jsonl", "ab") as file:
                file.write(bytes.fromhex(sys.argv[2]))
            reader.recall("boat")
    """
    arguments = [str(root), line(77, "a boat again").hex()]
    for delay in (0.0, 0.01, 0.03, 0.06, 0.1):
        with subprocess.Popen(script(program, *arguments), stdout=subprocess.PIPE) as process:
            if delay and process.stdout:
                process.stdout.readline()
            time.sleep(delay)
            process.send_signal(signal.SIGKILL)
    with closing(memory(root)) as reader:
        indexed = answers(reader)
    shutil.rmtree(root / "cache")
    with closing(memory(root)) as reader:
        assert answers(reader) == indexed


@pytest.mark.slow
def test_eight_processes_ask_while_two_write(root: Path) -> None:
    program = """
        both = EpisodicMemory(Path(sys.argv[1]))
        me = sys.argv[2]
        for number in range(25):
            if me in "01":
                both.log("shared", "user", f"kite{number} of writer{me}")
                assert len(both.recall(f"kite{number} writer{me}", 50)) >= 1
            assert both.recall("boat")
        both.close()
    """
    (root / "cache").mkdir()
    processes = [subprocess.Popen(script(program, str(root), str(number))) for number in range(8)]
    assert [process.wait(120) for process in processes] == [0] * 8
    with closing(memory(root)) as reader:
        assert len(found(reader, "writer1", 50, mode="exact")) == 25
        indexed = answers(reader)
    shutil.rmtree(root / "cache")
    with closing(memory(root)) as reader:
        assert answers(reader) == indexed


def test_a_child_process_does_not_use_what_its_parent_opened(root: Path) -> None:
    program = """
        reader = EpisodicMemory(Path(sys.argv[1]))
        before = [hit.pointer for hit in reader.recall("boat")]
        child = os.fork()
        if not child:
            same = [hit.pointer for hit in reader.recall("boat")] == before
            reader.close()
            os._exit(0 if same else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert [hit.pointer for hit in reader.recall("boat")] == before
    """
    (root / "cache").mkdir()
    subprocess.run(script(program, str(root)), check=True)


@pytest.mark.parametrize("made", [False, True])
def test_nothing_of_an_index_that_was_being_made_stays(root: Path, *, made: bool) -> None:
    (root / "cache").mkdir()
    if made:
        with closing(memory(root)) as reader:
            assert found(reader, "boat")
    part = f"{index_file.FILE}.0badcafe.part"
    for name in (part, f"{part}-journal", f"{index_file.SEAL}.999999999-0badcafe.part"):
        (root / "cache" / name).write_bytes(b"half")
    with closing(memory(root)) as reader:
        assert found(reader, "boat")
    assert sorted(path.name for path in (root / "cache").iterdir()) == [
        "index.lock",
        "index.seal",
        "index.sqlite",
    ]


# ---- what a connection keeps in mind of the index is what stands there now ----


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


class TornDisk(Disk):
    """A disk on which one transcript can be opened and not be read beyond some byte."""

    bad = -1

    def __init__(self, good: int = 0) -> None:
        """Let the first ``good`` bytes be read."""
        super().__init__()
        self.good = good

    def open(self, path: Path | str, *, write: bool = False, new: bool = False) -> int:
        descriptor = super().open(path, write=write, new=new)
        self.bad = descriptor if "s2" in str(path) else self.bad
        return descriptor

    def read_at(self, descriptor: int, start: int, end: int) -> bytes:
        if descriptor == self.bad and end > self.good:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return super().read_at(descriptor, start, end)

    def close(self, descriptor: int) -> None:
        self.bad = -1 if descriptor == self.bad else self.bad
        super().close(descriptor)


def test_a_transcript_on_a_bad_sector_hides_no_other(tmp_path: Path) -> None:
    for number in range(4):
        write(tmp_path, f"s{number}", ["the boat leaked"])
    with closing(EpisodicMemory(tmp_path, disk=TornDisk())) as reader:
        for _ in range(2):
            assert sorted(found(reader, "boat")) == ["s0#1", "s1#1", "s3#1"]
    with closing(memory(tmp_path)) as reader:
        assert len(found(reader, "boat")) == 4


def test_a_bad_sector_far_behind_in_a_transcript_hides_nothing_before_it(tmp_path: Path) -> None:
    for number in range(4):
        write(tmp_path, f"s{number}", ["the boat leaked", "and the ship sank"])
    with (tmp_path / "episodes" / "s2.jsonl").open(encoding="utf-8") as file:
        first = len(file.readline()) + len(file.readline())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(index, "_BLOCK", first)
        with closing(EpisodicMemory(tmp_path, disk=TornDisk(first))) as reader:
            for _ in range(2):
                assert {"s0#1", "s1#1", "s2#1", "s3#1"} <= {*found(reader, "boat")}
                assert "s2#2" not in found(reader, "ship")
    with closing(memory(tmp_path)) as reader:
        assert "s2#2" in found(reader, "ship")


def test_where_nothing_was_said_a_cache_that_links_to_itself_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "cache").symlink_to("cache")
    with closing(EpisodicMemory(tmp_path)) as reader:
        assert found(reader, "boat") == []


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


# ---- what the tables of the index must make possible ----


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
