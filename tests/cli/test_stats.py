"""``stats`` counts what is there."""

from __future__ import annotations

import errno
from pathlib import Path

from freezegun import freeze_time

from engramdown.episodes.memory import EpisodicMemory
from tests.cli.conftest import Runner
from tests.episodes.disks import Fault, FaultyDisk


def test_everything_is_counted(run: Runner, memory: Path) -> None:
    with freeze_time("2026-01-01 12:00"):
        run.remember("Always log in UTC")
    with freeze_time("2026-03-30 12:00"):
        run.remember("--source", "llm", "--topic", "CI", "CI is slow")
        run.remember("--global", "Never push to main")
        run.ok("forget", run.remember("Soon gone"))
        run.ok("--mode", "copilot", "remember", "--source", "llm", "Staging is reset")
    with (memory / "lessons.md").open("a", encoding="utf-8") as lessons:
        lessons.write("- By hand\n")
    with freeze_time("2026-03-31 12:00"):
        found = run.ok("stats", "--json").json
    assert found["memories"] == 4
    assert found["by_scope"] == {"global": 1, "project": 3}
    assert found["by_kind"] == {"never": 1, "always": 1, "lesson": 2}
    assert found["by_source"] == {"user": 3, "llm": 1}
    assert found["by_basis"] == {"told": 3, "inferred": 1}
    assert found["by_age"] == {"up to a week": 2, "up to a year": 1, "without a date": 1}
    assert list(found["by_file"]) == [
        "rules.md (global)",
        "rules.md (project)",
        "lessons.md (project)",
    ]
    assert (found["pending"], found["archived"]) == (1, 1)
    assert found["context_tokens"] > 0
    assert found["history_steps"] >= 6
    assert (
        found["history_bytes"]
        == sum(
            path.stat().st_size
            for path in (memory.parent.parent.parent).rglob("history.jsonl")
            if path.parent == memory.parent
        )
        + _global_journal()
    )


def _global_journal() -> int:
    return (Path.home() / ".engramdown" / "history.jsonl").stat().st_size


def test_a_person_reads_words(run: Runner, memory: Path) -> None:
    assert memory.is_dir()
    run.remember("--source", "llm", "CI is slow")
    out = run.ok("stats").out
    assert out.startswith("1 memory\n")
    assert "  1  the assistant\n" in out
    assert "  0  waiting in pending.md\n" in out


def test_an_empty_memory_has_no_memories(run: Runner, memory: Path) -> None:
    assert memory.is_dir()
    assert run.ok("stats").out.startswith("0 memories\n")


def test_transcripts_are_counted_and_their_trouble_is_told(run: Runner, memory: Path) -> None:
    disk = FaultyDisk()
    episodes = EpisodicMemory(memory.parent, disk=disk)
    episodes.log("s", "user", "hello")
    disk.faults = [Fault("write", errno.ENOSPC, "s.jsonl")]
    episodes.log("s", "assistant", "hello")
    found = run.ok("stats", "--json").json
    assert (found["sessions"], found["episodes"]) == (1, 1)
    assert found["episode_bytes"] == (memory.parent / "episodes" / "s.jsonl").stat().st_size
    out = run.ok("stats").out
    assert "sessions in the transcripts" in out
    assert "Memory is degraded: transcripts are not written: [Errno 28]" in out
    assert run("doctor").code == 1
