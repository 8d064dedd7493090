"""A batch of messages is there once and as a whole, or not at all."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from engramdown import EpisodicMemory
from engramdown.errors import InvalidSessionError, StoreError
from engramdown.settings import EpisodeSettings
from engramdown.transcripts.episode import Pointer
from engramdown.transcripts.payloads import PAYLOADS
from tests.episodes.disks import Fault, FaultyDisk
from tests.episodes.test_kills import DyingDisk

LONG = "line of output\n" * 300
BATCH: list[dict[str, Any]] = [
    {"id": "m-1", "role": "user", "text": "Why is CI red?", "at": "2026-02-27T10:15:00+01:00"},
    {"id": "m-2", "role": "tool_call", "text": {"cmd": "pytest"}, "name": "shell", "call": "c"},
    {"id": "m-3", "role": "tool_result", "text": LONG, "name": "shell", "call": "c", "error": True},
    {"id": "m-4", "role": "assistant", "text": "The clock.", "meta": {"a": 1}},
]


def said(root: Path, session: str = "s") -> list[tuple[str, str]]:
    with closing(EpisodicMemory(root)) as memory:
        found = memory.session(session).episodes
    return [(each.role, each.text[:9]) for each in found if each.role != "event"]


ALL = [("user", "Why is CI"), ("tool_call", '{"cmd": "'), ("tool_result", "line of o")]
ALL += [("assistant", "The clock")]


def test_a_batch_is_written_in_its_order(tmp_path: Path) -> None:
    with closing(EpisodicMemory(tmp_path)) as memory:
        done = memory.ingest(BATCH, "s")
        assert done.pointers == tuple(Pointer("s", seq) for seq in (1, 2, 3, 4))
        assert (done.session, done.new, done.known) == ("s", 4, 0)
        first, _, result, last = memory.session("s").episodes[1:]
        assert first.ts == "2026-02-27T09:15:00.000000Z"
        assert (first.more["ref"], last.meta, result.error) == ("m-1", {"a": 1}, True)
        assert memory.whole(result) == LONG
        (hit,) = memory.recall("CI red", role="user")
        assert hit.pointer == done.pointers[0]
    assert said(tmp_path) == ALL


def test_what_is_there_is_not_written_again(tmp_path: Path) -> None:
    with closing(EpisodicMemory(tmp_path)) as memory:
        memory.ingest(BATCH[:2], "s")
        memory.log("s", "user", "in between")
        other = {"id": "m-1", "role": "user", "text": "other words"}
        done = memory.ingest([other, *BATCH[1:], BATCH[3]], "s")
        assert (done.new, done.known) == (2, 3)
        assert [pointer and pointer.seq for pointer in done.pointers] == [1, 2, 4, 5, 5]
        again = memory.ingest(BATCH, "s")
        assert (again.new, again.known) == (0, 4)
        # Ids are those of one session.
        assert memory.ingest(BATCH[:1], "t").new == 1
        # What goes on is numbered behind it, also by one that had the file open.
        assert memory.log("s", "user", "and now") == Pointer("s", 6)
    assert said(tmp_path)[2] == ("user", "in betwee")


def test_what_was_redacted_or_excluded_does_not_come_again(tmp_path: Path) -> None:
    with closing(EpisodicMemory(tmp_path)) as memory:
        memory.ingest(BATCH, "s")
        memory.forgetting().redact("s", [1])
        memory.forgetting().exclude("s", [4])
        assert memory.ingest(BATCH, "s").new == 0
        assert memory.recall("CI red", role="user") == []


def test_another_process_goes_on_in_the_new_file(tmp_path: Path) -> None:
    with closing(EpisodicMemory(tmp_path)) as one, closing(EpisodicMemory(tmp_path)) as other:
        assert one.log("s", "user", "first") == Pointer("s", 1)
        assert other.ingest(BATCH, "s").pointers[0] == Pointer("s", 2)
        assert one.log("s", "user", "last") == Pointer("s", 6)
        assert other.log("s", "user", "very last") == Pointer("s", 7)


def test_nothing_said_is_nothing(tmp_path: Path) -> None:
    with closing(EpisodicMemory(tmp_path)) as memory:
        assert memory.ingest([], "s").pointers == ()
        assert memory.ingest([{"id": "a", "role": "user", "text": ""}], "s").pointers == (None,)
        assert memory.sessions() == []
        done = memory.ingest([{"id": "a", "role": "user"}, BATCH[0]], "s")
        assert done.pointers == (None, Pointer("s", 1))
        assert (done.new, done.known) == (1, 0)
    off = EpisodicMemory(tmp_path, EpisodeSettings(enabled=False))
    assert off.ingest(BATCH, "off").pointers == (None,) * 4
    ignoring = EpisodicMemory(tmp_path, EpisodeSettings(ignore=("cron-*",)))
    assert ignoring.ingest(BATCH, "cron-1").new == 0
    assert [path.name for path in (tmp_path / "episodes").glob("*.jsonl")] == ["s.jsonl"]


@pytest.mark.parametrize(
    "wrong, told",
    [
        ({"role": "user", "text": "x"}, "message 1 has the id None"),
        ({"id": "", "role": "user", "text": "x"}, "message 1 has the id ''"),
        ({"id": "x" * 501, "role": "user"}, "1 to 500 characters"),
        ({"id": "x", "role": "event"}, "has the role 'event'; use one of user, assistant"),
        ({"id": "x", "role": "judge"}, "has the role 'judge'"),
        ({"id": "x", "role": "user", "speaker": "me"}, "'speaker', which is not a field"),
        ({"id": "x", "role": "user", "at": "soon"}, "has at='soon'"),
        ({"id": "x", "role": "user", "at": 5}, "has at=5"),
        ({"id": "x", "role": "user", "session": "t"}, "to one session, not to 's', 't'"),
        ("text", "message 1 is of the type str"),
        ({"id": "x", "role": "user", "text": None}, "message 1 has text=None; give a string"),
        ({"id": "x", "role": "user", "session": 7}, "message 1 has session=7; give a string"),
        *(
            ({"id": "x", "role": "tool_result", key: value}, f"message 1 has {key}=.*; give {what}")
            for key, what, values in (
                ("name", "a string", (7, ["x"], True)),
                ("call", "a string", (7, {})),
                ("model", "a string", (4.1,)),
                ("ms", "a number of mill", ("fast", "5", True, -1, float("nan"), float("inf"))),
                ("error", "true, false, or the reason", (3, 0, ["x"])),
                ("turn", "a whole number", ("1", 1.5, True, -1)),
                ("recalled", "a list of strings", ("s#1", [1], {"a": 1})),
                ("meta", "an object", ("x", [], 5)),
                ("at", "a datetime", ("0001-01-01T00:00:00+23:00", {"a": "b" * 500})),
            )
            for value in values
        ),
    ],
)
def test_of_a_batch_with_anything_wrong_nothing_is_written(
    tmp_path: Path,
    wrong: Any,  # noqa: ANN401 - whatever a caller may give
    told: str,
) -> None:
    with closing(EpisodicMemory(tmp_path)) as memory:
        with pytest.raises(ValueError, match=told):
            memory.ingest([BATCH[0], wrong], "s")
        with pytest.raises(ValueError, match="name one session"):
            memory.ingest([BATCH[0]])
        with pytest.raises(InvalidSessionError):
            memory.ingest([BATCH[0]], "../x")
        assert memory.sessions() == []
        assert memory.ingest([{**BATCH[0], "session": "s"}]).session == "s"


@pytest.mark.parametrize("call", ["write", "sync"])
def test_what_cannot_be_written_is_not_there_in_part(tmp_path: Path, call: str) -> None:
    with closing(EpisodicMemory(tmp_path)) as memory:
        memory.log("s", "user", "first")
    before = (tmp_path / "episodes" / "s.jsonl").read_bytes()
    disk = FaultyDisk(Fault(call, errno.ENOSPC, name="s.jsonl", after=100))
    with closing(EpisodicMemory(tmp_path, EpisodeSettings(durability="full"), disk)) as memory:
        with pytest.raises((OSError, StoreError)):
            memory.ingest(BATCH, "s")
        assert (tmp_path / "episodes" / "s.jsonl").read_bytes() == before
        disk.faults.clear()
        assert memory.ingest(BATCH, "s").new == 4
    assert said(tmp_path)[1:] == ALL


@pytest.mark.slow
@pytest.mark.parametrize("half", [False, True])
@pytest.mark.parametrize("begun", [False, True])
def test_killed_anywhere_it_is_there_whole_or_not_at_all(
    tmp_path: Path, *, half: bool, begun: bool
) -> None:
    for left in range(200):
        root = tmp_path / str(left)
        if begun:
            with closing(EpisodicMemory(root)) as memory:
                memory.log("s", "user", "first")
        child = os.fork()
        if child == 0:
            EpisodicMemory(root, EpisodeSettings(), DyingDisk(left, half=half)).ingest(BATCH, "s")
            os._exit(0)
        died = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0
        path = root / "episodes" / "s.jsonl"
        there = said(root) if path.exists() and path.stat().st_size else []
        assert there[begun:] in ([], ALL)
        with closing(EpisodicMemory(root)) as memory:
            done = memory.ingest(BATCH, "s")
            assert (done.new, done.known) in ((0, 4), (4, 0))
            assert memory.whole(memory.session("s").episodes[3 + begun]) == LONG
        assert said(root)[begun:] == ALL
        if not died:
            assert left > 10
            return
    pytest.fail("never ended")


WRITER = """
import sys
from engramdown import EpisodicMemory
memory = EpisodicMemory(sys.argv[1])
for start in range(0, 60, 5):
    numbers = range(start, start + 15)
    batch = [{"id": str(n), "role": "user", "text": f"message {n}"} for n in numbers]
    print(memory.ingest(batch, "s").new, flush=True)
"""


def test_several_processes_with_the_same_messages_write_each_once(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITER, str(tmp_path)]
    writers = [
        subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8") for _ in range(3)
    ]
    assert writers[0].stdout is not None
    writers[0].stdout.readline()
    writers[0].send_signal(signal.SIGKILL)
    counts = [writer.communicate(timeout=120)[0] for writer in writers]
    assert [writer.returncode for writer in writers[1:]] == [0, 0]
    texts = [text for _, text in said(tmp_path)]
    assert sorted(texts) == sorted(f"message {n}"[:9] for n in range(70))
    assert sum(map(int, "".join(counts[1:]).split())) <= 70


def test_secrets_of_tools_are_hidden_and_whole_texts_kept_once(tmp_path: Path) -> None:
    key = "ghp_" + "a1B2c3D4e5F6" * 3
    with closing(EpisodicMemory(tmp_path)) as memory:
        batch = [{"id": str(n), "role": "tool_result", "text": f"{key} {LONG}"} for n in range(2)]
        memory.ingest(batch, "s")
        assert key not in (tmp_path / "episodes" / "s.jsonl").read_text("utf-8")
        kept = list((tmp_path / "episodes" / PAYLOADS).rglob("*.txt"))
        assert [key in path.read_text("utf-8") for path in kept] == [False]


def test_what_is_null_is_not_said(tmp_path: Path) -> None:
    nothing = dict.fromkeys(
        ("session", "name", "call", "ms", "error", "model", "turn", "recalled", "meta", "at")
    )
    with closing(EpisodicMemory(tmp_path)) as memory:
        assert memory.ingest([{**nothing, **BATCH[0], "at": None}], "s").new == 1
        (said,) = memory.session("s").episodes[1:]
        assert (said.name, said.ms, said.error, said.turn, said.meta) == ("", None, False, None, {})


def test_times_without_a_zone_are_utc(tmp_path: Path) -> None:
    with closing(EpisodicMemory(tmp_path)) as memory:
        at = datetime(2026, 2, 27, 10, 15, tzinfo=UTC)
        batch = [{"id": "a", "role": "user", "text": "x", "at": at}]
        batch.append({"id": "b", "role": "user", "text": "y", "at": at.replace(tzinfo=None)})
        memory.ingest(batch, "s")
        assert {hit.time for hit in memory.messages()} == {"2026-02-27T10:15:00.000000Z"}
