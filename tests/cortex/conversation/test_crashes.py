"""Law: a compaction that is killed or fails at any call of the system leaves every word covered."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Final

import pytest

from engramdown.consolidation.summaries import Request, Written
from engramdown.conversation.conversation import Compacted, Compaction
from engramdown.conversation.view import Track
from engramdown.episodes.memory import EpisodicMemory
from engramdown.storage.disk import Disk
from tests.episodes.test_kills import DyingDisk, FailingDisk

SESSION: Final = "20260301-101500-4f2a"
MESSAGES: Final = list(range(1, 31))


def spoken(root: Path) -> EpisodicMemory:
    """Return transcripts in which thirty messages were said, and one summary was written."""
    memory = EpisodicMemory(root)
    for seq in MESSAGES:
        memory.log(SESSION, "user", f"said {seq}")
    return memory


def compact(root: Path, disk: Disk, tail: int = 4) -> Compacted:
    track = Track(EpisodicMemory(root, disk=disk), SESSION, disk=disk)
    return Compaction(track, quote, None, tail=tail).run("incremental")


def quote(request: Request) -> Written:
    return Written("|".join(part.text for part in request.parts), "normal")


def view(root: Path) -> tuple[list[str], list[int]]:
    """Return the ids of the summaries, and the messages that the view covers."""
    track = Track(EpisodicMemory(root), SESSION)
    track.refresh()
    fold = track.fold
    return [*fold.gists], [seq for source in fold for seq in fold.messages(source)]


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.parametrize("half", [False, True], ids=["before", "half"])
def test_a_kill_at_any_call_leaves_a_whole_summary_or_none(tmp_path: Path, *, half: bool) -> None:
    left, died, seen = 0, True, set()
    while died:
        root, report = tmp_path / str(left), tmp_path / f"{left}.report"
        spoken(root).close()
        child = os.fork()
        if child == 0:
            done = compact(root, DyingDisk(left, half=half))
            report.write_text(done.gists[0].id, encoding="utf-8")
            os._exit(0)
        died = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
        gists, covered = view(root)
        assert covered == MESSAGES
        seen.add(len(gists))
        if report.exists():
            assert gists == [report.read_text("utf-8")]
        # Whatever was left, the next compaction goes on, and its line is its own.
        compact(root, Disk(), tail=1)
        gists, covered = view(root)
        assert covered == MESSAGES
        assert gists
        left += 1
    assert seen == {0, 1}
    assert left > 10


@pytest.mark.slow
@pytest.mark.parametrize("lasts", [False, True], ids=["once", "sticky"])
@pytest.mark.parametrize(
    "code", [errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EMFILE]
)
def test_a_failing_call_leaves_a_whole_summary_or_none(
    tmp_path: Path, code: int, *, lasts: bool
) -> None:
    left, landed, failed = 0, 1, 0
    while landed:
        root = tmp_path / str(left)
        spoken(root).close()
        disk = FailingDisk(left, code, lasts=lasts)
        try:
            compact(root, disk)
        except OSError:
            failed += 1
        landed = disk.landed
        gists, covered = view(root)
        assert covered == MESSAGES
        assert len(gists) <= 1
        compact(root, Disk(), tail=1)
        assert view(root)[1] == MESSAGES
        left += 1
    assert failed


def test_half_a_line_of_the_log_is_passed_over_and_stays(tmp_path: Path) -> None:
    spoken(tmp_path).close()
    log = tmp_path / "gists" / f"{SESSION}.jsonl"
    log.parent.mkdir()
    half = b'{"kind":"gist","id":"g1","for'
    log.write_bytes(half)
    (gist,) = compact(tmp_path, Disk()).gists
    assert log.read_bytes().split(b"\n")[0] == half
    assert view(tmp_path) == ([gist.id], MESSAGES)


def test_a_line_that_only_lacks_its_end_counts_once_somebody_writes(tmp_path: Path) -> None:
    spoken(tmp_path).close()
    (gist,) = compact(tmp_path, Disk()).gists
    log = tmp_path / "gists" / f"{SESSION}.jsonl"
    log.write_bytes(log.read_bytes().removesuffix(b"\n"))
    assert view(tmp_path) == ([], MESSAGES)
    assert compact(tmp_path, Disk()).gists == ()
    assert view(tmp_path) == ([gist.id], MESSAGES)


def test_a_transcript_that_began_again_is_not_taken_for_the_one_before(tmp_path: Path) -> None:
    memory = spoken(tmp_path)
    assert compact(tmp_path, Disk()).gists
    memory.close()
    (tmp_path / "episodes" / f"{SESSION}.jsonl").unlink()
    spoken(tmp_path).close()
    assert view(tmp_path) == ([], MESSAGES)
