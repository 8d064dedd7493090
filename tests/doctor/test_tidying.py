"""What doctor --fix may do to transcripts."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import pytest

from engramdown.doctor.recordings import plan_tidying, tidy
from engramdown.episodes.memory import EpisodicMemory
from engramdown.errors import StoreError
from engramdown.settings import EpisodeSettings

USUAL: Final = EpisodeSettings()
# No process has this number: it is larger than any system allows.
NOBODY: Final = 2**30


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Leave a session open, and the note of a process that died."""
    memory = EpisodicMemory(tmp_path)
    memory.log("left", "user", "x", at=datetime(2026, 2, 27, 10, 15, tzinfo=UTC))
    memory.close()
    trouble = {"process": NOBODY, "since": "", "reason": "no room", "waiting": 1, "lost": 0}
    note = memory.folder / f"degraded-{NOBODY}.json"
    note.write_text(json.dumps(trouble), encoding="utf-8")
    return tmp_path


def test_what_can_be_tidied_is_planned_and_done_once(root: Path) -> None:
    plan = plan_tidying(root, USUAL)
    note = root / "episodes" / f"degraded-{NOBODY}.json"
    assert plan.open == ("left",)
    assert [path for path, _ in plan.told] == [note]
    assert "no room" in plan.told[0][1]
    before = (root / "episodes" / "left.jsonl").read_bytes()
    tidy([plan], USUAL)
    assert not note.exists()
    after = (root / "episodes" / "left.jsonl").read_bytes()
    assert after.startswith(before)
    end = json.loads(after.removeprefix(before))
    assert (end["event"], end["reason"]) == ("end", "crash_recovery")
    assert end["ts"] == "2026-02-27T10:15:00.000000Z"
    assert not plan_tidying(root, USUAL)
    tidy([plan], USUAL)
    assert (root / "episodes" / "left.jsonl").read_bytes() == after


def test_where_recording_is_off_nothing_is_planned(root: Path, tmp_path: Path) -> None:
    assert not plan_tidying(root, EpisodeSettings(enabled=False))
    assert not plan_tidying(tmp_path / "nothing", USUAL)


def test_what_cannot_be_ended_is_an_error(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = plan_tidying(root, USUAL)

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("engramdown.storage.disk.Disk.write", full)
    with pytest.raises(StoreError, match=r"left could not be ended: .*No space left"):
        tidy([plan], USUAL)
