"""What is taken back is gone, nothing else is, and a crash leaves nothing half done."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from engramdown.episodes.forget import UNFINISHED, Forgetting
from engramdown.episodes.memory import EpisodicMemory
from engramdown.errors import (
    EngramdownError,
    EpisodeNotFoundError,
    InvalidSessionError,
    SessionNotFoundError,
)
from engramdown.journal.working_notes import WorkingNotes
from engramdown.settings import EpisodeSettings
from engramdown.storage.disk import Disk
from engramdown.storage.safe_open import patiently
from engramdown.transcripts.episode import Pointer, read_line
from engramdown.transcripts.payloads import digest
from engramdown.transcripts.session_log import SessionLog
from tests.episodes.disks import Fault, FaultyDisk

SECRET = "the heron stands in the willows"
LONG = f"{SECRET} " * 200
TRACE = b"willow"  # with letters that no id has
"""A word of it that the index holds in one piece."""


@pytest.fixture
def memory(tmp_path: Path) -> EpisodicMemory:
    return opened(tmp_path)


def opened(root: Path, disk: Disk | None = None) -> EpisodicMemory:
    """Open the memory of the tests: a session with a secret, one beside it."""
    memory = EpisodicMemory(root, EpisodeSettings(redact="off"), disk)
    if not (root / "episodes").exists():
        memory.start_session("s", title="About birds")
        memory.log("s", "user", SECRET)
        memory.log("s", "assistant", "A grey one?")
        memory.log("s", "tool_result", LONG, name="camera", error="no heron", meta={"a": "heron"})
        memory.log("other", "user", "Hello")
    return memory


def lines(memory: EpisodicMemory, session: str = "s") -> list[bytes]:
    return (memory.folder / f"{session}.jsonl").read_bytes().split(b"\n")[:-1]


def texts(memory: EpisodicMemory, session: str = "s") -> list[str]:
    return [each.text for each in memory.session(session).episodes if each.role != "event"]


def everything(root: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file())


def payloads(memory: EpisodicMemory) -> list[Path]:
    return sorted(memory.folder.glob("payloads/*/*.txt"))


# ---- exclude ----


def test_an_excluded_line_stays_in_the_file_and_is_not_recalled(memory: EpisodicMemory) -> None:
    before = lines(memory)
    done = memory.forgetting().exclude("s", [1])
    assert (done.changed, done.seqs) == (True, (1,))
    assert lines(memory)[:-1] == before
    assert json.loads(lines(memory)[-1]) | {"event": "exclude", "of": [1], "seq": 4} == json.loads(
        lines(memory)[-1]
    )
    assert [str(hit.pointer) for hit in memory.recall("heron", mode="exact")] == ["s#3"]


def test_an_include_brings_it_back(memory: EpisodicMemory) -> None:
    memory.forgetting().exclude("s", [1, 3])
    assert memory.recall("heron") == []
    memory.forgetting().include("s", [1])
    assert [str(hit.pointer) for hit in memory.recall("heron", mode="exact")] == ["s#1"]
    memory.forgetting().include("s")
    assert len(memory.recall("heron", mode="exact")) == 2


def test_a_whole_session_is_excluded(memory: EpisodicMemory) -> None:
    memory.forgetting().exclude("s")
    assert memory.recall("heron") == []
    assert memory.card("s").title == "" or memory.card("s").kind == "empty"
    memory.forgetting().include("s")
    assert len(memory.recall("heron", mode="exact")) == 2


@pytest.mark.parametrize("seqs", [(), (1,), (1, 3)])
def test_what_is_so_already_adds_no_line(memory: EpisodicMemory, seqs: tuple[int, ...]) -> None:
    forgetting = memory.forgetting()
    assert not forgetting.include("s", seqs).changed
    assert forgetting.exclude("s", seqs).changed
    before = lines(memory)
    assert not forgetting.exclude("s", seqs).changed
    assert lines(memory) == before
    assert forgetting.include("s", seqs).changed
    assert not forgetting.include("s", seqs).changed


def test_forgetting_works_while_recording_is_off(tmp_path: Path) -> None:
    opened(tmp_path)
    memory = EpisodicMemory(tmp_path, EpisodeSettings(enabled=False))
    memory.forgetting().exclude("s", [1])
    memory.forgetting().redact("s", [1])
    assert SECRET not in texts(memory)
    memory.forgetting().purge("s")
    assert [info.id for info in memory.sessions()] == ["other"]


# ---- redact ----


def test_a_redacted_line_loses_its_content_and_nothing_else(memory: EpisodicMemory) -> None:
    before = lines(memory)
    memory.forgetting().redact("s", [1])
    after = lines(memory)
    assert after[0] == before[0]
    assert after[2:4] == before[2:4]
    old, new = json.loads(before[1]), json.loads(after[1])
    assert new == old | {"text": "", "redacted": {"sha256": digest(SECRET)}}
    event = json.loads(after[4])
    assert (event["seq"], event["event"], event["of"]) == (4, "redact", [1])


def test_the_payload_error_and_meta_of_a_line_go_with_it(memory: EpisodicMemory) -> None:
    memory.forgetting().redact("s", [3])
    line = json.loads(lines(memory)[3])
    assert line["redacted"] == {"sha256": digest(LONG)}
    assert (line["name"], line["error"]) == ("camera", True)
    assert not line.keys() & {"payload", "cut", "meta"}
    assert payloads(memory) == []


def test_keys_that_we_do_not_know_stay(memory: EpisodicMemory) -> None:
    path = memory.folder / "s.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"role":"user"', b'"mood":[1],"role":"user"'))
    memory.forgetting().redact("s", [1])
    line = read_line(lines(memory)[1])
    assert line is not None
    assert line.more["mood"] == [1]


def test_a_payload_that_another_line_has_stays(memory: EpisodicMemory) -> None:
    memory.log("other", "tool_result", LONG)
    memory.log("s", "tool_result", LONG)
    memory.forgetting().redact("s", [3])
    assert len(payloads(memory)) == 1
    memory.forgetting().redact("s", [4])
    assert len(payloads(memory)) == 1
    told = memory.forgetting().redact("other", [2])
    assert payloads(memory) == []
    assert any("payloads" in str(path) for path in told.files)


def test_the_title_of_a_session_can_be_redacted(memory: EpisodicMemory) -> None:
    memory.forgetting().redact("s", [0])
    start = json.loads(lines(memory)[0])
    assert "title" not in start
    assert start["redacted"] == {"sha256": digest("About birds")}
    assert (start["v"], start["session"], start["event"]) == (1, "s", "start")
    assert memory.card("s").title == SECRET


@pytest.mark.parametrize(
    "beginning",
    [b'{"seq": 1, ', b'{"text":"","seq":1,', b'{"seq":7,"seq":1,', b'{"seq":7,"s\\u0065q":1,'],
)
def test_a_line_is_redacted_however_it_says_its_number(
    memory: EpisodicMemory, beginning: bytes
) -> None:
    path = memory.folder / "s.jsonl"
    path.write_bytes(path.read_bytes().replace(b'{"seq":1,', beginning))
    assert texts(memory)[0]
    assert memory.forgetting().redact("s", [1]).changed
    assert texts(memory)[0] == ""


def test_several_lines_are_redacted_at_once_and_twice_is_a_no_op(memory: EpisodicMemory) -> None:
    done = memory.forgetting().redact("s", [3, 1, 3])
    assert (done.changed, done.seqs) == (True, (1, 3))
    before = lines(memory)
    again = memory.forgetting().redact("s", [1, 3])
    assert not again.changed
    assert lines(memory) == before
    assert memory.forgetting().redact("s", [1, 2]).seqs == (2,)


def test_nothing_of_it_is_left_on_the_disk(memory: EpisodicMemory, tmp_path: Path) -> None:
    assert memory.recall("heron willows")
    assert memory.recall("heron", mode="exact")
    memory.close()
    index = (tmp_path / "cache" / "index.sqlite").read_bytes()
    assert TRACE in index
    memory.forgetting().redact("s", [1, 3])
    assert TRACE not in everything(tmp_path)
    for mode in ("exact", "best"):
        assert memory.recall("heron", mode=mode) == []
    hits = memory.recall("grey")
    assert [str(hit.pointer) for hit in hits] == ["s#2"]
    (context,) = memory.around(hits)
    around = [(each.session, each.seq) for each in (*context.before, *context.after)]
    assert around == [("other", 1)]
    memory.close()
    assert TRACE not in everything(tmp_path)


def test_somebody_who_has_the_index_open_finds_it_no_more(tmp_path: Path) -> None:
    one, two = opened(tmp_path), opened(tmp_path)
    assert two.recall("heron")
    one.forgetting().redact("s", [1, 3])
    assert two.recall("heron") == []
    assert len(two.recall("grey")) == 1


def test_the_piece_of_it_that_was_torn_off_goes_too(memory: EpisodicMemory) -> None:
    own = json.loads(lines(memory)[1])["id"]
    piece = memory.folder / "s.torn-1"
    piece.write_bytes(b'{"seq":1,"id":"%s","text":"the heron' % own.encode())
    other = memory.folder / "s.torn-2"
    other.write_bytes(b'{"seq":2,"id":"another","text":"x')
    told = memory.forgetting().redact("s", [1])
    assert piece in told.files
    assert not piece.exists()
    assert other.exists()


@pytest.mark.parametrize("torn", [b'{"seq":4,"ts"', b""])
def test_the_end_of_a_torn_file_is_mended_first(memory: EpisodicMemory, torn: bytes) -> None:
    path = memory.folder / "s.jsonl"
    path.write_bytes(path.read_bytes() + torn if torn else path.read_bytes()[:-1])
    memory.forgetting().redact("s", [1])
    assert [each.read_bytes() for each in memory.folder.glob("s.torn-*")] == [torn] * bool(torn)
    assert [json.loads(line)["seq"] for line in lines(memory)] == [0, 1, 2, 3, 4]


def test_a_malformed_line_stays_as_it_is(memory: EpisodicMemory) -> None:
    path = memory.folder / "s.jsonl"
    path.write_bytes(path.read_bytes() + b"\xff no line\r\n" + lines(memory)[2] + b"\n")
    memory.forgetting().redact("s", [2])
    assert lines(memory)[4] == b"\xff no line\r"
    assert b"grey" not in path.read_bytes()


def test_an_event_has_nothing_to_redact(memory: EpisodicMemory) -> None:
    memory.end("s")
    before = lines(memory)
    with pytest.raises(EngramdownError, match="s#4: is an event"):
        memory.forgetting().redact("s", [1, 4])
    assert lines(memory) == before


def test_a_page_of_the_persons_own_is_named_and_not_touched(
    memory: EpisodicMemory, tmp_path: Path
) -> None:
    page = tmp_path / "gists" / "s.card.md"
    page.parent.mkdir()
    page.write_text("My heron", encoding="utf-8")
    assert memory.forgetting().redact("s", [1]).card == page
    assert page.read_text(encoding="utf-8") == "My heron"


def test_where_a_recall_has_shown_it_is_told(memory: EpisodicMemory) -> None:
    memory.log("other", "memory_read", SECRET, recalled=("s#1", "s#12"))
    memory.log("other", "memory_read", "nothing", recalled=("s#12",))
    memory.log("other", "user", 'What is "s#1"?')
    assert memory.forgetting().redact("s", [1]).quoted == (Pointer("other", 2),)


def test_where_a_summary_of_it_was_shown_is_told(memory: EpisodicMemory) -> None:
    for recalled in ("s#0-1", "s#1-40", "s#2-40", "s-2#1-9", "s#1-", "s#x-1", "#1", "s"):
        memory.log("other", "tool_result", "told", name="expand", recalled=(recalled,))
    quoted = memory.forgetting().redact("s", [1]).quoted
    assert [pointer.seq for pointer in quoted] == [2, 3, 6]


# ---- purge ----


def test_a_purge_leaves_nothing_of_a_session(memory: EpisodicMemory, tmp_path: Path) -> None:
    memory.recall("heron")
    (tmp_path / "gists").mkdir()
    for name in ("gists/s.card.md", "gists/s.jsonl", "episodes/s.torn-1", "gists/s-2.card.md"):
        (tmp_path / name).write_text("willows", encoding="utf-8")
    memory.log("s-2", "user", "hi")
    told = memory.forgetting().purge("s")
    names = {path.name for path in told.files}
    assert {"s.jsonl", "s.card.md", "s.torn-1"} <= names
    assert payloads(memory) == []
    assert [info.id for info in memory.sessions()] == ["other", "s-2"]
    (tmp_path / "gists" / "s-2.card.md").unlink()
    memory.close()
    assert TRACE not in everything(tmp_path)
    assert memory.recall("heron") == []


def test_a_payload_of_another_session_survives_a_purge(memory: EpisodicMemory) -> None:
    pointer = memory.log("other", "tool_result", LONG)
    memory.forgetting().purge("s")
    assert pointer is not None
    episode = memory.episode(pointer)
    assert episode is not None
    assert memory.whole(episode) == LONG


def test_a_purge_takes_the_text_that_a_broken_line_names(memory: EpisodicMemory) -> None:
    path = memory.folder / "s.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"role":"tool_result"', b'"role":\0'))
    assert len(memory.session("s").malformed) == 1
    told = memory.forgetting().purge("s")
    assert any("payloads" in str(path) for path in told.files)
    assert payloads(memory) == []


def test_a_session_that_goes_on_after_a_purge_begins_anew(memory: EpisodicMemory) -> None:
    assert memory.forgetting().purge("s").running
    memory.log("s", "user", "Still here")
    assert texts(memory) == ["Still here"]
    assert [json.loads(line)["seq"] for line in lines(memory)] == [0, 1]


# ---- what is asked for ----


Act = Callable[..., object]


@pytest.mark.parametrize("name", ["exclude", "include", "redact", "purge"])
def test_a_dry_run_tells_all_and_changes_nothing(
    memory: EpisodicMemory, tmp_path: Path, name: str
) -> None:
    if name == "include":
        memory.forgetting().exclude("s", [1])
    arguments = ("s",) if name == "purge" else ("s", [1])
    before = everything(tmp_path)
    planned = getattr(memory.forgetting(), name)(*arguments, dry_run=True)
    assert everything(tmp_path) == before
    assert planned.changed
    assert getattr(memory.forgetting(), name)(*arguments) == planned


@pytest.mark.parametrize("name", ["exclude", "include", "redact", "purge"])
@pytest.mark.parametrize(
    "session, error",
    [
        pytest.param("nowhere", SessionNotFoundError, id="unknown"),
        pytest.param("../s", InvalidSessionError, id="no-id"),
    ],
)
def test_a_session_that_is_not_there_is_refused(
    memory: EpisodicMemory, name: str, session: str, error: type[Exception]
) -> None:
    arguments = (session,) if name == "purge" else (session, [1])
    with pytest.raises(error):
        getattr(memory.forgetting(), name)(*arguments)


@pytest.mark.parametrize("name", ["exclude", "include", "redact"])
def test_a_line_that_is_not_there_is_refused_before_anything_is_done(
    memory: EpisodicMemory, name: str
) -> None:
    before = lines(memory)
    with pytest.raises(EpisodeNotFoundError, match="s#9") as caught:
        getattr(memory.forgetting(), name)("s", [1, 9])
    assert caught.value.seqs == (9,)
    assert lines(memory) == before


# ---- others write meanwhile ----


def test_a_writer_in_this_process_goes_on_in_the_new_file(memory: EpisodicMemory) -> None:
    memory.forgetting().redact("s", [1])
    pointer = memory.log("s", "user", "And now?")
    assert pointer == Pointer("s", 5)
    assert texts(memory)[-1] == "And now?"


_WRITER = """
import sys
from pathlib import Path
from engramdown.transcripts.session_log import SessionLog
from engramdown.episodes.memory import EpisodicMemory
memory = EpisodicMemory(Path(sys.argv[1]))
for number in range(int(sys.argv[3])):
    memory.log("s", "user", f"{sys.argv[2]} {number}")
memory.close()
assert memory.trouble is None, memory.trouble
"""


def test_nothing_is_lost_that_others_write_while_lines_are_redacted(tmp_path: Path) -> None:
    memory = opened(tmp_path)
    for number in range(60):
        memory.log("s", "user", f"{SECRET} {number}")
    count = 400
    writers = [
        subprocess.Popen([sys.executable, "-c", _WRITER, str(tmp_path), name, str(count)])
        for name in ("a", "b")
    ]
    thread = threading.Thread(
        target=lambda: [memory.log("s", "user", f"c {number}") for number in range(count)]
    )
    thread.start()
    forgetting = opened(tmp_path).forgetting()
    rounds = 0
    while rounds < 60 and (rounds < 5 or any(writer.poll() is None for writer in writers)):
        forgetting.redact("s", [4 + rounds])
        rounds += 1
    thread.join()
    assert [writer.wait() for writer in writers] == [0, 0]
    memory.close()
    episodes = memory.session("s").episodes
    said = [each.text for each in episodes]
    for name in ("a", "b", "c"):
        assert [text for text in said if re.match(rf"{name} \d", text)] == [
            f"{name} {number}" for number in range(count)
        ]
    assert [each.seq for each in episodes] == list(range(len(episodes)))
    assert sum("redacted" in each.more for each in episodes) == rounds


def test_a_payload_that_comes_up_again_while_it_is_removed_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The text is written before the line, so it may be removed before the line refers to it."""
    memory, other = opened(tmp_path), opened(tmp_path)
    append: Callable[..., int] = SessionLog.append

    def meanwhile(*arguments: object) -> int:
        monkeypatch.setattr(SessionLog, "append", append)
        other.forgetting().redact("s", [3])
        assert payloads(memory) == []
        return append(*arguments)

    monkeypatch.setattr(SessionLog, "append", meanwhile)
    pointer = memory.log("other", "tool_result", LONG)
    assert pointer is not None
    episode = memory.episode(pointer)
    assert episode is not None
    assert memory.whole(episode) == LONG


def test_a_line_waits_until_its_text_can_be_kept_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened(tmp_path)
    disk = FaultyDisk()
    memory, other = opened(tmp_path, disk), opened(tmp_path)
    append: Callable[..., int] = SessionLog.append

    def meanwhile(*arguments: object) -> int:
        monkeypatch.setattr(SessionLog, "append", append)
        other.forgetting().redact("s", [3])
        disk.faults.append(Fault("publish", name=".txt"))
        return append(*arguments)

    monkeypatch.setattr(SessionLog, "append", meanwhile)
    before = texts(memory, "other")
    assert memory.log("other", "tool_result", LONG) is None
    assert disk.landed
    assert "txt" in str(memory.trouble)
    assert texts(memory, "other") == before
    disk.faults.clear()
    assert memory.recorder.flush()
    assert memory.whole(memory.session("other").episodes[-1]) == LONG


# ---- crashes and failing disks ----


class DyingDisk(Disk):
    """A disk on which the process dies, as by SIGKILL, at the ``left``-th change."""

    def __init__(self, left: int) -> None:
        """Let so many changes happen."""
        super().__init__()
        self.left = left

    def _count(self) -> None:
        if self.left == 0:
            os._exit(9)
        self.left -= 1

    def write(self, descriptor: int, data: bytes | memoryview) -> int:
        self._count()
        return super().write(descriptor, data)

    def sync_open(self, descriptor: int) -> None:
        self._count()
        super().sync_open(descriptor)

    def sync_folder(self, path: Path) -> None:
        self._count()
        super().sync_folder(path)

    def unlink(self, path: Path) -> None:
        self._count()
        super().unlink(path)

    def save(self, path: Path, data: bytes, **options: Any) -> bool:  # noqa: ANN401 - passed on
        def naming(act: Callable[..., object], *names: object, **more: object) -> object:
            self._count()
            return patiently(act, *names, **more)

        with mock.patch("engramdown.storage.disk.patiently", naming):
            return super().save(path, data, **options)


def dies(act: Callable[[Forgetting], None], root: Path, left: int) -> bool:
    """Do it in a child that dies at the ``left``-th change; whether there were so many."""
    child = os.fork()
    if child == 0:
        act(opened(root, DyingDisk(left)).forgetting())
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9


def _redact(forgetting: Forgetting) -> None:
    forgetting.redact("s", [1, 3])


def _purge(forgetting: Forgetting) -> None:
    forgetting.purge("s")


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.parametrize("act", [_redact, _purge])
def test_a_crash_at_any_change_leaves_it_done_or_not_begun(
    tmp_path: Path, act: Callable[[Forgetting], None]
) -> None:
    left, begun, died = 0, False, True
    while died:
        root = tmp_path / str(left)
        whole = opened(root)
        whole.recall("heron")
        (root / "episodes" / "s.torn-1").write_bytes(lines(whole)[1][:-5])
        whole.close()
        died = dies(act, root, left)
        begun = begun or (root / "episodes" / UNFINISHED).exists()
        after = opened(root)
        after.tidy()
        after.log("other", "user", "Going on")
        assert not (root / "episodes" / UNFINISHED).exists()
        assert bool(after.recall("heron")) == (not begun)
        after.close()
        assert (TRACE in everything(root)) == (not begun)
        assert texts(after, "other") == ["Hello", "Going on"]
        left += 1
    assert begun
    assert left > 8


@pytest.mark.parametrize("call", ["publish", "write", "sync"])
def test_a_disk_that_fails_changes_nothing(tmp_path: Path, call: str) -> None:
    opened(tmp_path).close()
    disk = FaultyDisk(Fault(call, name="s.jsonl"))
    memory = opened(tmp_path, disk)
    before = lines(memory)
    with pytest.raises(OSError, match=r"s\.jsonl"):
        memory.forgetting().redact("s", [1])
    assert disk.landed
    assert lines(memory) == before
    assert sorted(path.name for path in memory.folder.iterdir()) == [
        ".gitignore",
        ".lock",
        "other.jsonl",
        "payloads",
        "s.jsonl",
    ]


@pytest.mark.parametrize("call, name", [("remove", ".txt"), ("sync_folder", "episodes")])
def test_what_a_failing_disk_left_is_finished_by_the_next_call(
    tmp_path: Path, call: str, name: str
) -> None:
    opened(tmp_path).close()
    # The folder is synced twice: when the note is written, and when the file was replaced.
    disk = FaultyDisk(Fault(call, name=name, times=1, spared=int(call == "sync_folder")))
    memory = opened(tmp_path, disk)
    with pytest.raises(OSError, match=re.escape(name)):
        memory.forgetting().redact("s", [3])
    assert len(payloads(memory)) == 1
    memory.forgetting().exclude("other")
    assert payloads(memory) == []
    assert not (memory.folder / UNFINISHED).exists()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no JSON",
        b"[]",
        b'{"action": "purge"}',
        b'{"action":"purge","session":"../s","seqs":[],"payloads":[],"first":""}',
        b'{"action":"redact","session":"s","seqs":[],"payloads":["../../x"],"first":""}',
        b'{"action":"redact","session":"gone","seqs":[1],"payloads":[],"first":""}',
    ],
)
def test_a_note_that_means_nothing_is_harmless(memory: EpisodicMemory, data: bytes) -> None:
    (memory.folder / UNFINISHED).write_bytes(data)
    before = lines(memory)
    memory.forgetting().finish()
    assert lines(memory) == before


def test_a_purge_that_is_finished_late_spares_a_new_session_of_that_id(
    memory: EpisodicMemory,
) -> None:
    first = digest(lines(memory)[0].decode())
    note = {"action": "purge", "session": "s", "seqs": [], "payloads": [], "first": first}
    (memory.folder / "s.jsonl").unlink()
    memory.log("s", "user", "New")
    (memory.folder / UNFINISHED).write_text(json.dumps(note), encoding="utf-8")
    assert memory.forgetting().finish()
    assert texts(memory) == ["New"]


# ---- hide ----

WORD = "plum-" + "7x-pear"
TOLD = f"my password is {WORD}, and the heron is grey"


def told(root: Path) -> EpisodicMemory:
    """Return the memory of the tests with a session that tells a password in five places."""
    memory = opened(root)
    memory.start_session("t", title=f"password: {WORD}")
    memory.log("t", "user", TOLD)
    memory.log("t", "assistant", "I shall keep it", error=f"password: {WORD}")
    memory.log("t", "tool_result", f"{LONG} password: {WORD}")
    memory.log("t", "tool_result", LONG)
    memory.log("t", "user", "Nothing of it here")
    return memory


def test_a_secret_in_a_line_is_hidden_and_the_rest_of_it_stays(tmp_path: Path) -> None:
    memory = told(tmp_path)
    assert memory.recall("password")
    before = memory.session("t").episodes
    found = memory.forgetting().lines_with_secrets("t")
    assert [seq for seq, _ in found] == [0, 1, 2, 3]
    assert WORD not in repr(found)
    done = memory.forgetting().hide("t", [seq for seq, _ in found])
    assert (done.changed, done.seqs) == (True, (0, 1, 2, 3))
    assert WORD.encode() not in everything(tmp_path)
    after = memory.session("t").episodes
    assert after[1].text == "my password is [redacted: password], and the heron is grey"
    assert (after[2].text, after[2].error) == ("I shall keep it", "password: [redacted: password]")
    assert (after[3].cut, after[3].payload, after[4:6]) == (before[3].cut, "", before[4:6])
    assert len(payloads(memory)) == 1
    assert [hit.seq for hit in memory.recall("heron", session="t")] != []
    memory.close()


def test_what_is_hidden_is_hidden_once(tmp_path: Path) -> None:
    memory = told(tmp_path)
    memory.forgetting().hide("t", [1])
    written = lines(memory, "t")
    assert memory.forgetting().hide("t", [1, 5]).changed is False
    assert lines(memory, "t") == written
    assert [seq for seq, _ in memory.forgetting().lines_with_secrets("t")] == [0, 2, 3]
    assert [seq for seq, _ in memory.forgetting().lines_with_secrets("t", {"tool_result"})] == [3]
    memory.close()


def test_a_dry_run_hides_nothing(tmp_path: Path) -> None:
    memory = told(tmp_path)
    before = everything(memory.folder)
    assert memory.forgetting().hide("t", [1], dry_run=True).changed
    assert everything(memory.folder) == before
    memory.close()


@pytest.mark.parametrize("call", ["publish", "sync_folder", "remove", "write"])
@pytest.mark.parametrize("spared", range(4))
def test_hiding_that_an_error_interrupts_is_finished_or_was_not_begun(
    tmp_path: Path, call: str, spared: int
) -> None:
    told(tmp_path).close()
    disk = FaultyDisk(Fault(call, spared=spared))
    broken = EpisodicMemory(tmp_path, EpisodeSettings(redact="off"), disk)
    with suppress(OSError, EngramdownError):
        broken.forgetting().hide("t", [0, 1, 2, 3])
    broken.close()
    memory = opened(tmp_path)
    memory.forgetting().finish()
    left = memory.forgetting().lines_with_secrets("t")
    assert len(left) in (0, 4)
    assert (WORD.encode() in everything(memory.folder)) == bool(left)
    assert len(memory.session("t").episodes) >= 6
    memory.close()


# ---- notes on the session ----


def noted(root: Path) -> tuple[EpisodicMemory, WorkingNotes]:
    """Return a scope with a session, notes on it, and notes that were replaced."""
    memory = EpisodicMemory(root)
    memory.start_session("s")
    memory.log("s", "user", "hunter2")
    memory.close()
    notes = WorkingNotes(root, "s")
    notes.write("the word is hunter2")
    notes.write("nothing")
    WorkingNotes(root, "s-2").write("other")
    return memory, notes


def test_a_purge_takes_the_notes(tmp_path: Path) -> None:
    memory, notes = noted(tmp_path)
    left = notes.path.with_name(f".s.md.{'0' * 16}.{'0' * 16}.00000000.tmp")
    left.write_text("hunter2", encoding="utf-8")
    told = memory.forgetting().purge("s", dry_run=True)
    assert {notes.path, left, tmp_path / "gists/s.jsonl"} <= set(told.files)
    assert notes.path.exists()
    assert memory.forgetting().purge("s").notes is None
    assert [path.name for path in notes.path.parent.glob("*s*.md*")] == ["s-2.md"]
    assert notes.history() == []


def test_a_redaction_names_the_notes_and_takes_what_they_said_before(tmp_path: Path) -> None:
    memory, notes = noted(tmp_path)
    assert [version.text for version in notes.history()] == ["the word is hunter2"]
    assert memory.forgetting().redact("s", [1]).notes == notes.path
    assert notes.read().text == "nothing"
    assert notes.history() == []


def test_without_notes_none_are_named(tmp_path: Path) -> None:
    memory, notes = noted(tmp_path)
    notes.path.unlink()
    assert memory.forgetting().redact("s", [1]).notes is None
    assert memory.forgetting().exclude("s").notes is None
