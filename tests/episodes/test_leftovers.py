"""Law: a whole text whose line was never written goes, and no other text does."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from engramdown.episodes.memory import EpisodicMemory
from engramdown.importers.importer import purge_import
from engramdown.storage.disk import Disk
from engramdown.transcripts.payloads import PAYLOADS, Payloads, digest
from engramdown.transcripts.session_log import SessionLog
from tests.episodes.disks import Fault, FaultyDisk

LONG = "the heron stands in the reeds " * 200
OTHER = "an egret came by " * 300


class Died(BaseException):
    """What no handler takes for an error, as a SIGKILL is none."""


@pytest.fixture
def memory(tmp_path: Path) -> EpisodicMemory:
    memory = EpisodicMemory(tmp_path / "scope")
    memory.log("s", "user", "Hello")
    return memory


def texts(memory: EpisodicMemory) -> set[str]:
    return {path.parent.name + path.stem for path in (memory.folder / PAYLOADS).glob("??/*.txt")}


def notes(memory: EpisodicMemory) -> list[Path]:
    return sorted((memory.folder / PAYLOADS).glob("*.part"))


def die_before_the_line(memory: EpisodicMemory, patch: pytest.MonkeyPatch, text: str) -> None:
    """Record a long text in a program that dies when only the text is written."""
    with patch.context() as dying:
        dying.setattr(SessionLog, "append", _die)
        with pytest.raises(Died):
            EpisodicMemory(memory.folder.parent).log("s", "tool_result", text)
    for note in notes(memory):
        note.rename(note.with_name(f"{digest(text)}.txt.999999999-0badcafe.part"))


def _die(*_: object) -> int:
    raise Died


def grow_old(memory: EpisodicMemory) -> None:
    for note in notes(memory):
        os.utime(note, (1, 1))


def test_a_text_that_was_never_shown_goes_when_the_next_session_begins(
    memory: EpisodicMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    die_before_the_line(memory, monkeypatch, LONG)
    memory.log("s", "tool_result", OTHER)
    assert texts(memory) == {digest(LONG), digest(OTHER)}
    memory.tidy()
    # It may be a process of another machine, which is not seen here and still writes its line.
    assert texts(memory) == {digest(LONG), digest(OTHER)}
    grow_old(memory)
    memory.tidy()
    assert texts(memory) == {digest(OTHER)}
    assert notes(memory) == []


def test_a_text_that_another_line_shows_stays(
    memory: EpisodicMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    die_before_the_line(memory, monkeypatch, LONG)
    memory.log("s", "tool_result", LONG)
    grow_old(memory)
    memory.tidy()
    assert texts(memory) == {digest(LONG)}
    assert notes(memory) == []


def test_a_torn_line_is_none_that_shows_a_text(
    memory: EpisodicMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It tells what it would have shown, if only its last bytes are missing."""
    memory.log("other", "tool_result", LONG)
    line = (memory.folder / "other.jsonl").read_bytes().split(b"\n")[1]
    memory.forgetting().purge("other")
    die_before_the_line(memory, monkeypatch, LONG)
    with (memory.folder / "s.jsonl").open("ab") as out:
        out.write(line[:-1])
    grow_old(memory)
    memory.tidy()
    assert texts(memory) == set()
    memory.log("s", "user", "And on")
    assert len([*memory.folder.glob("s.torn-*")]) == 1


def test_a_line_that_lacks_only_its_end_keeps_its_text(
    memory: EpisodicMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    die_before_the_line(memory, monkeypatch, LONG)
    memory.log("s", "tool_result", LONG)
    path = memory.folder / "s.jsonl"
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    grow_old(memory)
    memory.tidy()
    assert texts(memory) == {digest(LONG)}


@pytest.mark.parametrize("how", ["redact", "purge", "source"])
def test_taking_back_anything_takes_it_with_it(
    memory: EpisodicMemory, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    die_before_the_line(memory, monkeypatch, LONG)
    memory.log("other", "tool_result", OTHER)
    if how == "redact":
        memory.forgetting().redact("s", [1])
    elif how == "purge":
        memory.forgetting().purge("s")
    else:
        purge_import(memory.folder, "claude-code")
    assert texts(memory) == {digest(OTHER)}
    assert notes(memory) == []


def test_what_somebody_is_about_to_show_is_not_swept_away(
    memory: EpisodicMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if they take so long that they are taken for gone, and die later."""
    append: Callable[..., int] = SessionLog.append
    other = EpisodicMemory(memory.folder.parent)

    def meanwhile(*arguments: object) -> int:
        monkeypatch.setattr(SessionLog, "append", append)
        other.forgetting().redact("s", [1])
        assert texts(memory) == {digest(LONG)}
        grow_old(memory)
        other.tidy()
        assert texts(memory) == set()
        return append(*arguments)

    monkeypatch.setattr(SessionLog, "append", meanwhile)
    pointer = memory.log("s", "tool_result", LONG)
    assert pointer is not None
    episode = memory.episode(pointer)
    assert episode is not None
    assert memory.whole(episode) == LONG
    assert notes(memory) == []


def test_a_line_that_cannot_be_written_leaves_no_text_when_its_process_is_gone(
    tmp_path: Path,
) -> None:
    disk = FaultyDisk()
    memory = EpisodicMemory(tmp_path, disk=disk)
    memory.log("s", "user", "Hello")
    disk.faults = [Fault("write", errno.ENOSPC, "s.jsonl")]
    for _ in range(3):
        assert memory.log("s", "tool_result", LONG) is None
    assert len(notes(memory)) == 1
    grow_old(memory)
    EpisodicMemory(tmp_path).tidy()
    assert texts(memory) == set()
    disk.faults = []
    assert memory.recorder.flush()
    assert texts(memory) == {digest(LONG)}
    assert notes(memory) == []


def test_a_note_that_cannot_be_removed_is_removed_later(tmp_path: Path) -> None:
    disk = FaultyDisk(Fault("remove", errno.EIO, ".part", times=1))
    memory = EpisodicMemory(tmp_path, disk=disk)
    assert memory.log("s", "tool_result", LONG) is not None
    assert memory.trouble is None
    assert len(notes(memory)) == 1
    memory.close()
    assert notes(memory) == []
    assert texts(memory) == {digest(LONG)}


@pytest.mark.parametrize("place", ["episodes", "episodes/payloads", "episodes/payloads/shelf"])
def test_what_stands_behind_a_link_is_left_alone(
    memory: EpisodicMemory, tmp_path: Path, place: str
) -> None:
    """A project that was cloned may lead to the texts of another scope."""
    memory.log("s", "tool_result", LONG)
    shelf = Payloads(Path(PAYLOADS), Disk(), durable=False).path(digest(LONG)).parent.name
    place = place.replace("shelf", shelf)
    link = tmp_path / "cloned" / place
    link.parent.mkdir(parents=True)
    link.symlink_to(memory.folder.parent / place)
    note = tmp_path / f"cloned/episodes/payloads/{digest(LONG)}.txt.999999999-0badcafe.part"
    note.touch()
    os.utime(note, (1, 1))
    EpisodicMemory(tmp_path / "cloned").tidy()
    assert texts(memory) == {digest(LONG)}
