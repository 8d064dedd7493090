"""What sleep has done is known afterwards, and what it was about to write is not lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from freezegun import freeze_time

from engramdown import Engram
from engramdown.episodes.forget import WORK
from engramdown.errors import StoreError
from engramdown.sleep.progress import NAME, Mark, Part, SleepState, Work, digest_of, slept_at
from engramdown.transcripts.episode import Episode

MARK = Mark("replay", "s1", "2026-03-01T10:00:00.000000Z", 7)
ENGRAMS = (
    Engram("Use uv", "always", "project", "high", source="user", origin="s1#4"),
    Engram("Café closes", "lesson", "global", topic="api", via="tool", expires="2026-04-01"),
)
WORKING = Work((Part(MARK, 3, "d1"), Part(MARK._replace(session="s2"), 0, "d2")), ENGRAMS)


def test_what_was_done_is_known_to_the_next(tmp_path: Path) -> None:
    state = SleepState(tmp_path)
    assert state.done("replay", "s1", MARK.born).seq == 0
    assert list(tmp_path.iterdir()) == []
    state.add(MARK)
    state.add(Mark("compaction", digest="abc"))
    for known in (state, SleepState(tmp_path)):
        assert known.done("replay", "s1", MARK.born) == MARK
        assert known.done("compaction").digest == "abc"
        assert known.done("identity", "s1", MARK.born).seq == 0


def test_it_is_known_when_it_slept_last(tmp_path: Path) -> None:
    assert slept_at(tmp_path) == ""
    with freeze_time("2026-03-01 10:00"):
        SleepState(tmp_path).add(MARK)
    with (tmp_path / NAME).open("ab") as file:
        file.write(b'{"ts":"2026-04-01T00:00:00')
    assert slept_at(tmp_path) == "2026-03-01T10:00:00.000000Z"


def test_a_session_that_has_the_id_of_another_is_another(tmp_path: Path) -> None:
    SleepState(tmp_path).add(MARK)
    assert SleepState(tmp_path).done("replay", "s1", "2026-04-01T10:00:00.000000Z").seq == 0


def test_a_try_that_gave_nothing_is_counted_and_is_not_done(tmp_path: Path) -> None:
    state = SleepState(tmp_path)
    for _ in range(2):
        state.add(MARK._replace(outcome="failed"))
    known = SleepState(tmp_path)
    assert known.done("replay", "s1", MARK.born).seq == 0
    assert known.attempts(MARK).times == 2
    assert known.attempts(MARK._replace(seq=9)).times == 0


def test_it_is_known_when_a_try_failed_last_until_it_is_done(tmp_path: Path) -> None:
    state = SleepState(tmp_path)
    for hour in (10, 11):
        with freeze_time(f"2026-03-01 {hour}:00"):
            state.add(MARK._replace(outcome="failed"))
    for known in (state, SleepState(tmp_path)):
        assert known.attempts(MARK) == (2, "2026-03-01T11:00:00.000000Z")
    state.add(MARK)
    for known in (state, SleepState(tmp_path)):
        assert known.attempts(MARK) == (0, "")


def test_what_the_worker_keeps_here_is_no_sleep(tmp_path: Path) -> None:
    SleepState(tmp_path).add(MARK._replace(job="card"))
    assert slept_at(tmp_path) == ""


def test_that_there_is_nothing_in_a_session_is_known_until_it_goes_on(tmp_path: Path) -> None:
    SleepState(tmp_path).add(empty := MARK._replace(outcome="empty"))
    assert SleepState(tmp_path).seen(MARK) == empty
    assert SleepState(tmp_path).seen(MARK._replace(seq=9)) is None


@pytest.mark.parametrize("size", [1, 20, -1])
def test_what_a_crash_cut_spoils_no_other_line(tmp_path: Path, size: int) -> None:
    SleepState(tmp_path).add(MARK)
    path = tmp_path / NAME
    line = path.read_bytes()
    path.write_bytes(line + line[:size])
    other = MARK._replace(session="s2")
    SleepState(tmp_path).add(other)
    known = SleepState(tmp_path)
    assert known.done("replay", "s1", MARK.born) == MARK
    assert known.done("replay", "s2", MARK.born) == other


@pytest.mark.parametrize(
    "line",
    [
        *(b"", b"[]", b"{}", b'"x"', b"\xff", b"[" * 100_000, b'{"job":1}'),
        *(json.dumps(MARK._asdict() | {"seq": wrong}).encode() for wrong in ("7", 7.0, True)),
    ],
)
def test_what_is_no_mark_is_passed_over(tmp_path: Path, line: bytes) -> None:
    (tmp_path / NAME).write_bytes(line + b"\n")
    state = SleepState(tmp_path)
    assert state.done("replay", "s1", MARK.born).seq == 0
    state.add(MARK)
    assert SleepState(tmp_path).done("replay", "s1", MARK.born) == MARK


def test_what_is_in_hand_comes_back_as_it_was(tmp_path: Path) -> None:
    state = SleepState(tmp_path)
    assert state.work() is None
    state.begin(WORKING._replace(parts=()))
    state.begin(WORKING)
    assert SleepState(tmp_path).work() == WORKING
    assert [path.name for path in tmp_path.iterdir()] == [WORK]
    state.end()
    state.end()
    assert SleepState(tmp_path).work() is None


def test_what_waits_is_known_until_the_session_goes_on(tmp_path: Path) -> None:
    waiting = MARK._replace(outcome="waits", messages=3)
    SleepState(tmp_path).add(waiting, MARK._replace(session="s2"))
    known = SleepState(tmp_path)
    assert known.seen(MARK) == waiting
    assert known.seen(MARK._replace(seq=9)) is None
    assert known.seen(MARK._replace(session="s2")) is None
    assert known.done("replay", "s1", MARK.born).seq == 0
    assert known.attempts(MARK).times == 0
    known.add(MARK._replace(outcome="idle"))
    assert known.seen(MARK) == MARK._replace(outcome="idle")
    assert known.done("replay", "s2", MARK.born).seq == MARK.seq


def test_what_a_crash_left_of_what_was_in_hand_goes_with_it(tmp_path: Path) -> None:
    left = tmp_path / f"{WORK}.123-0011aabb.part"
    left.write_bytes(b'{"parts"')
    (tmp_path / "sleep.lock").write_bytes(b"{}")
    SleepState(tmp_path).end()
    assert [path.name for path in tmp_path.iterdir()] == ["sleep.lock"]


@pytest.mark.parametrize(
    "data",
    [
        *(b"", b"{", b"[]", b'{"engrams":[{"text":""}]}', b'{"engrams":1}'),
        *(b'{"engrams":[],"parts":[[["replay",1,"",7,"","done",0],3,"d1"]]}', b'{"engrams":[]}'),
        b'{"engrams":[],"parts":[[["replay","","",7,"","done",0],1e999,"d1"]]}',
    ],
)
def test_what_is_no_work_is_none(tmp_path: Path, data: bytes) -> None:
    (tmp_path / WORK).write_bytes(data)
    assert SleepState(tmp_path).work() is None


def test_files_that_cannot_be_used_are_named(tmp_path: Path) -> None:
    (tmp_path / NAME).mkdir()
    with pytest.raises(StoreError, match=NAME):
        SleepState(tmp_path)
    (tmp_path / NAME).rmdir()
    state = SleepState(tmp_path)
    (tmp_path / NAME).mkdir()
    with pytest.raises(StoreError, match=NAME):
        state.add(MARK)
    (tmp_path / WORK).mkdir()
    with pytest.raises(StoreError, match=WORK):
        state.begin(WORKING)


def test_what_cannot_be_removed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    state = SleepState(tmp_path)
    state.begin(WORKING)

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("engramdown.storage.disk.Disk.unlink", refuse)
    with pytest.raises(StoreError, match=WORK):
        state.end()


def test_a_digest_tells_whether_lines_say_the_same() -> None:
    lines = [Episode(1, "t", "i", "user", "a"), Episode(2, "t", "j", "assistant", "b")]
    digest = digest_of(lines)
    assert digest == digest_of(iter(lines))
    assert digest != digest_of(lines[:1])
    assert digest != digest_of([lines[0], lines[1]._replace(text="c")])
    assert digest != digest_of([lines[0], lines[1]._replace(role="user")])
