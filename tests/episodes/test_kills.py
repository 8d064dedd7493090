"""Law: a kill at any call of the system loses nothing acknowledged and leaves nothing behind."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, Literal

import pytest

from engramdown.episodes.memory import EpisodicMemory
from engramdown.settings import EpisodeSettings
from engramdown.storage import disk as disk_module
from engramdown.storage.disk import Disk
from engramdown.transcripts.episode import Pointer

LONG: Final = "line of output\n" * 300
SAID: Final = (
    ("user", "heron"),
    ("tool_call", "ls"),
    ("tool_result", LONG),
    ("assistant", "done"),
)


class DyingDisk(Disk):
    """A disk on which the process dies, as by SIGKILL, at the ``left``-th call.

    Attributes:
        left: How many calls there are until then.
        half: Whether it dies in the middle of a write, not before it.
    """

    def __init__(self, left: int, *, half: bool) -> None:
        """Let so many calls happen."""
        super().__init__()
        self.left = left
        self.half = half

    def __getattribute__(self, name: str) -> Any:  # noqa: ANN401 - whatever the disk has
        """Count the calls."""
        found = super().__getattribute__(name)
        if name in {"left", "half", "process"} or not callable(found):
            return found
        return self._counted(name, found) if name in {*vars(Disk)} else found

    def _counted(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any, **more: Any) -> Any:  # noqa: ANN401 - as above
            if self.left == 0:
                if name == "write" and self.half:
                    descriptor, data = arguments
                    os.write(descriptor, data[: len(data) // 2])
                os._exit(9)
            self.left -= 1
            return call(*arguments, **more)

        return counted


def record(memory: EpisodicMemory, report: Path) -> None:
    """Record a conversation, and report each line as soon as it is acknowledged."""
    with report.open("a", encoding="utf-8") as out:
        memory.tidy()
        session = memory.start_session("s", title="T")
        for role, text in SAID:
            found = memory.log(session, role, text)
            if found is not None:
                print(found.seq, role, file=out, flush=True)
        memory.mark(session, "exclude", of=[2])
        memory.end(session)
        memory.close()


def dies(root: Path, report: Path, disk: Disk, durability: Any) -> bool:  # noqa: ANN401
    """Record in a child; whether it died before it was done."""
    child = os.fork()
    if child == 0:
        record(EpisodicMemory(root, EpisodeSettings(durability=durability), disk), report)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.parametrize("half, durability", [(False, "fast"), (True, "full")])
def test_a_kill_at_any_call_loses_nothing_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, durability: str, *, half: bool
) -> None:
    monkeypatch.setattr(disk_module, "_GIVEN_UP", -1.0)
    left, torn, died = 0, 0, True
    while died:
        root, report = tmp_path / str(left), tmp_path / f"{left}.report"
        report.touch()
        died = dies(root, report, DyingDisk(left, half=half), durability)
        acknowledged = [line.split(" ") for line in report.read_text("utf-8").split("\n")[:-1]]
        after = EpisodicMemory(root)
        after.tidy()
        assert list(root.rglob("*.part")) == []
        used = {each.payload for each in after.session("s").episodes} if after.sessions() else set()
        texts = root.glob("episodes/payloads/*/*.txt")
        assert {path.parent.name + path.stem for path in texts} <= used
        assert after.log("s", "user", "egret") is not None
        transcript = after.session("s")
        assert transcript.malformed == ()
        assert [each.seq for each in transcript.episodes] == list(range(len(transcript.episodes)))
        for seq, role in acknowledged:
            episode = transcript.episodes[int(seq)]
            assert episode.role == role
            if role == "tool_result":
                assert after.whole(episode) == LONG
        found = [hit.pointer for hit in after.recall("heron egret")]
        assert Pointer("s", len(transcript.episodes) - 1) in found
        assert not acknowledged or Pointer("s", 1) in found
        after.close()
        torn += len(list((root / "episodes").glob("*.torn-*")))
        left += 1
    assert left > 30
    assert len(acknowledged) == 4
    assert bool(torn) == half


def test_what_another_process_is_making_is_left_alone(tmp_path: Path) -> None:
    disk = Disk()
    ours = tmp_path / f"a.txt.{os.getpid()}-0badcafe.part"
    young = tmp_path / "b.txt.999999999-0badcafe.part"
    gone = tmp_path / "c.txt.999999999-0badcafe.part"
    other = tmp_path / "notes.part"
    for path in (ours, young, gone, other):
        path.touch()
        if path != young:
            os.utime(path, (1, 1))
    disk.remove_unfinished(tmp_path)
    assert sorted(tmp_path.iterdir()) == [ours, young, other]
    disk.remove_unfinished(tmp_path / "none")


@pytest.mark.parametrize("place", [".", "gists", "episodes", "episodes/payloads"])
def test_the_next_session_removes_what_a_dead_process_was_making(
    tmp_path: Path, place: str
) -> None:
    EpisodicMemory(tmp_path).log("s", "user", "heron")
    left = tmp_path / place / "s.card.md.999999999-0badcafe.part"
    left.parent.mkdir(exist_ok=True)
    left.touch()
    os.utime(left, (1, 1))
    EpisodicMemory(tmp_path).tidy()
    assert not left.exists()


class FailingDisk(Disk):
    """A disk on which the ``left``-th call fails, and all after it until it is mended.

    Attributes:
        left: How many calls there are until then; below zero it is whole.
        landed: How many calls failed.
        lasts: Whether it stays broken.
    """

    def __init__(self, left: int, code: int, *, lasts: bool) -> None:
        """Let so many calls happen."""
        super().__init__()
        self.left = left
        self.landed = 0
        self.lasts = lasts
        self._code = code

    def __getattribute__(self, name: str) -> Any:  # noqa: ANN401 - whatever the disk has
        """Count the calls."""
        found = super().__getattribute__(name)
        if name not in FAILING:
            return found

        def counted(*arguments: Any, **more: Any) -> Any:  # noqa: ANN401 - as above
            if self.left == 0:
                self.landed += 1
                self.left -= not self.lasts
                raise OSError(self._code, os.strerror(self._code))
            self.left -= self.left > 0
            return found(*arguments, **more)

        return counted


# To close a file, and to say who one is, cannot fail in a way that anybody could act on.
FAILING: Final = {name for name in vars(Disk) if name.islower() and name[0] != "_"} - {
    "close",
    "process",
    "is_running",
}
CODES: Final = (errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EMFILE)


@pytest.mark.slow
@pytest.mark.parametrize("durability", ["fast", "full"])
@pytest.mark.parametrize("lasts", [False, True], ids=["once", "lasting"])
def test_an_error_at_any_call_raises_nothing_and_loses_nothing(
    tmp_path: Path, durability: Literal["fast", "full"], *, lasts: bool
) -> None:
    left, landed = 0, True
    while landed:
        root, report = tmp_path / str(left), tmp_path / f"{left}.report"
        disk = FailingDisk(left, CODES[left % len(CODES)], lasts=lasts)
        memory = EpisodicMemory(root, EpisodeSettings(durability=durability), disk)
        record(memory, report)
        landed = disk.landed > 0
        disk.left = -1
        assert memory.recorder.flush()
        assert memory.trouble is None or not landed
        episodes = memory.session("s").episodes
        assert [each.seq for each in episodes] == list(range(len(episodes)))
        assert len({each.id for each in episodes}) == len(episodes)
        said = [(each.role, memory.whole(each)) for each in episodes if each.role != "event"]
        assert said == list(SAID)
        events = [each.event for each in episodes if each.event]
        assert (events[0], sorted(events[1:])) == ("start", ["end", "exclude"])
        memory.close()
        assert list(root.rglob("*.part")) == []
        left += 1
    assert left > 30
