"""What holds for transcripts, as functions of one example each.

Promises: each law raises ``AssertionError`` for an example that breaks it, and returns for one
that does not. Those that need a disk make a folder of their own.
"""

from __future__ import annotations

import errno
import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from engramdown.episodes.memory import EpisodicMemory
from engramdown.episodes.recorder import find_trouble
from engramdown.errors import LockTimeoutError
from engramdown.settings import EpisodeSettings
from engramdown.storage.locks import FolderLock
from engramdown.transcripts.episode import (
    as_text,
    cut,
    encode,
    episode_id,
    is_session_id,
    number,
    read_line,
    stamp,
    write_line,
)
from engramdown.transcripts.payloads import Payloads, digest
from engramdown.transcripts.session_log import SessionLog
from tests.episodes.disks import Fault, FaultyDisk

_MOMENT = "2026-02-27T10:15:00.000000Z"


def _rest(text: str, **more: object) -> bytes:
    known = {"ts": _MOMENT, "id": "01kjf9gc8v000001", "role": "user", "text": text}
    return encode(known | more, {})


def _start() -> bytes:
    return encode({"ts": _MOMENT, "id": "x", "role": "event", "text": "", "event": "start"}, {})


@contextmanager
def _folder() -> Iterator[Path]:
    with TemporaryDirectory() as name:
        yield Path(name)


def _log(folder: Path, disk: FaultyDisk, *, durable: bool = False) -> SessionLog:
    lock = FolderLock(folder / ".lock", disk, 1.0)
    return SessionLog(folder / "s.jsonl", disk, lock, durable=durable)


def _texts(path: Path) -> list[str]:
    """Return what stands in a file, line by line; each must have the number of its place."""
    found = [read_line(line) for line in path.read_bytes().split(b"\n")[:-1]]
    assert [each and each.seq for each in found] == list(range(len(found)))
    return [each.text for each in found if each is not None and each.role != "event"]


# ---- lines and names ----


def a_text_comes_back(text: str) -> None:
    line = number(7, _rest(as_text(text)))
    assert line.count(b"\n") == 1
    read = read_line(line)
    assert read is not None
    assert (read.seq, read.text) == (7, as_text(text))
    assert json.loads(line)["text"] == as_text(text)


def a_line_says_what_it_is_given(key: str, value: object) -> None:
    read = read_line(number(1, _rest("a", **{key: value})))
    assert read is not None
    assert getattr(read, key) == value


def anything_can_be_kept(value: object) -> None:
    line = number(1, _rest("a", meta={"a": value}))
    assert read_line(line) is not None


def unknown_keys_come_back(line: bytes) -> None:
    read = read_line(line)
    assert read is not None
    assert write_line(read) == line


def a_part_is_a_part(text: str, limit: int) -> None:
    shown, length = cut(text, limit)
    assert shown == text[:limit]
    assert (length is None) == (shown == text)


def a_zone_is_carried_over(moment: str, expected: str) -> None:
    assert stamp(datetime.fromisoformat(moment)) == expected


def a_name_is_safe_or_refused(name: str, *, safe: bool) -> None:
    assert is_session_id(name) == safe


def ids_sort_by_time(first: int, second: int) -> None:
    assert (episode_id(first, 9) < episode_id(second, 1)) == (first < second)


# ---- one session ----


def writers_in_turn_lose_nothing(turns: str) -> None:
    with _folder() as folder:
        logs = {name: _log(folder, FaultyDisk()) for name in turns}
        for at, name in enumerate(turns):
            first = logs[name].append([_rest(f"{at}"), _rest("more")], _start)
            assert first == 2 * at + 1
        said = [text for at in range(len(turns)) for text in (f"{at}", "more")]
        assert _texts(folder / "s.jsonl") == said
        assert list(folder.glob("*.torn-*")) == []
        for log in logs.values():
            log.close()


def a_torn_end_is_set_aside(torn: bytes) -> None:
    with _folder() as folder:
        log = _log(folder, FaultyDisk())
        log.append([_rest("a")], _start)
        with (folder / "s.jsonl").open("ab") as out:
            out.write(torn)
        log.append([_rest("b")], _start)
        log.close()
        assert _texts(folder / "s.jsonl") == ["a", "b"]
        assert [path.read_bytes() for path in folder.glob("*.torn-*")] == [torn]


def a_replaced_file_is_gone_on_with() -> None:
    with _folder() as folder:
        path = folder / "s.jsonl"
        log = _log(folder, FaultyDisk())
        log.append([_rest("a")], _start)
        copy = folder / "copy"
        copy.write_bytes(path.read_bytes().replace(b'"text":"a"', b'"text":"x"'))
        copy.replace(path)
        log.append([_rest("b")], _start)
        log.close()
        assert _texts(path) == ["x", "b"]


def a_failed_write_leaves_nothing(after: int) -> None:
    with _folder() as folder:
        disk = FaultyDisk()
        log = _log(folder, disk)
        log.append([_rest("a")], _start)
        before = (folder / "s.jsonl").read_bytes()
        disk.faults = [Fault("write", errno.ENOSPC, after=after, times=1)]
        try:
            log.append([_rest("b")], _start)
        except OSError:
            assert (folder / "s.jsonl").read_bytes() == before
        else:
            raise AssertionError("a write that failed was acknowledged")
        log.append([_rest("c")], _start)
        log.close()
        assert _texts(folder / "s.jsonl") == ["a", "c"]


def what_is_synced_is_acknowledged() -> None:
    with _folder() as folder:
        disk = FaultyDisk()
        log = _log(folder, disk, durable=True)
        log.append([_rest("a")], _start)
        disk.faults = [Fault("sync", name="s.jsonl", times=1)]
        try:
            log.append([_rest("b")], _start)
        except OSError:
            pass
        else:
            raise AssertionError("what was not synced was acknowledged")
        log.close()


def what_is_prepared_is_done_while_nobody_writes() -> None:
    with _folder() as folder:
        log, other = _log(folder, FaultyDisk()), FolderLock(folder / ".lock", FaultyDisk(), 0.01)
        seen: list[str] = []

        def prepare() -> None:
            try:
                other.take()
            except LockTimeoutError:
                seen.extend(["nobody", *_texts(folder / "s.jsonl")])
            else:
                other.release()

        log.append([_rest("a")], _start)
        log.append([_rest("b")], _start, None, prepare)
        log.close()
        other.close()
        assert seen == ["nobody", "a"]


def a_lock_that_was_removed_is_not_trusted() -> None:
    with _folder() as folder:
        disk = FaultyDisk()
        lock = FolderLock(folder / ".lock", disk, 0.01)
        lock.take()
        (folder / ".lock").unlink()
        lock.renew()
        held = disk.open(folder / ".lock", write=True)
        assert not disk.lock(held), "two hold a lock of that name"
        disk.close(held)
        lock.release()
        lock.close()


def a_payload_is_whole_or_nothing() -> None:
    with _folder() as folder:
        payloads = Payloads(folder, FaultyDisk(), durable=False)
        name = digest("heron" * 9)
        payloads.keep(name, "heron" * 9)
        assert payloads.fetch(name) == "heron" * 9
        payloads.path(name).write_text("egret" * 9, encoding="utf-8")
        assert payloads.fetch(name) is None
        payloads.path(name).write_text("heron", encoding="utf-8")
        payloads.keep(name, "heron" * 9)
        assert payloads.fetch(name) == "heron" * 9


def a_payload_is_noted_until_a_line_points_to_it() -> None:
    with _folder() as folder:
        disk = FaultyDisk()
        payloads = Payloads(folder, disk, durable=False)
        name = digest("heron")
        payloads.keep(name, "heron")
        assert [each.path.name[:64] for each in disk.unfinished(folder)] == [name]
        payloads.release([name])
        assert list(disk.unfinished(folder)) == []
        assert payloads.fetch(name) == "heron"


# ---- all sessions ----


def nothing_that_was_said_is_cut(role: str) -> None:
    with _folder() as root:
        memory = EpisodicMemory(root, EpisodeSettings(input_limit=3, output_limit=3))
        memory.log("s", role, "heron and egret")
        (episode,) = memory.session("s").episodes[1:]
        assert memory.whole(episode) == "heron and egret"
        if role in ("user", "assistant", "system"):
            assert episode.text == "heron and egret"
        memory.close()


def recording_never_fails_in_silence(failing: int) -> None:
    with _folder() as root:
        disk = FaultyDisk()
        memory = EpisodicMemory(root, EpisodeSettings(), disk)
        memory.log("s", "user", "first")
        disk.faults = [Fault("write", errno.ENOSPC, "s.jsonl", failing)]
        for at in range(failing):
            assert memory.log("s", "user", f"{at}") is None
            trouble = memory.trouble
            assert trouble is not None
            assert trouble.waiting == at + 1
            assert [told.waiting for _, told in find_trouble(memory.folder, disk)] == [at + 1]
        assert memory.recorder.failures == failing
        assert memory.log("s", "user", "last") is not None
        assert memory.trouble is None
        assert find_trouble(memory.folder, disk) == []
        assert memory.log("s", "user", "and on") is not None
        said = ["first", *map(str, range(failing)), "last", "and on"]
        assert _texts(memory.folder / "s.jsonl") == said
        memory.close()


def a_session_in_trouble_keeps_its_title() -> None:
    with _folder() as root:
        disk = FaultyDisk(Fault("make_folder", errno.EROFS, times=1))
        memory = EpisodicMemory(root, EpisodeSettings(), disk)
        memory.start_session("s", title="CI")
        memory.log("s", "user", "a")
        (info,) = memory.sessions()
        assert info.title == "CI"
        memory.close()


def what_a_queue_cannot_hold_is_told(size: int) -> None:
    with _folder() as root:
        disk = FaultyDisk()
        memory = EpisodicMemory(root, EpisodeSettings(), disk)
        memory.log("s", "user", "first")
        disk.faults = [Fault("write", errno.ENOSPC, "s.jsonl", 3)]
        for text in ("x" * size, "y" * size, "small"):
            memory.log("s", "user", text)
        memory.recorder.flush()
        lost = [each for each in memory.session("s").episodes if each.event == "lost"]
        assert [each.more["count"] for each in lost] == [2]
        assert _texts(memory.folder / "s.jsonl") == ["first", "x" * size]
        memory.close()


def what_is_refused_is_told(session: str) -> None:
    with _folder() as root:
        memory = EpisodicMemory(root / "scope", EpisodeSettings())
        memory.end(session)
        memory.mark(session, "exclude")
        assert memory.log(session, "nobody", "a") is None
        assert memory.trouble is not None
        assert memory.recorder.failures == (1 if is_session_id(session) else 3)
        written = [path.name for path in root.rglob("*.jsonl")]
        assert written == ([f"{session}.jsonl"] if is_session_id(session) else [])
        if written:
            events = [each.event for each in memory.session(session).episodes]
            assert events == ["start", "exclude", "lost"]
        memory.close()
