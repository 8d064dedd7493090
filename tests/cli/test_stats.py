"""``stats`` counts what is there."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest
from freezegun import freeze_time

from engramdown.clock import moment
from engramdown.episodes.memory import EpisodicMemory
from engramdown.models.ledger import Call, Ledger
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


def test_when_sleep_last_did_something_is_told(run: Runner, memory: Path) -> None:
    found = run.ok("stats", "--json").json
    assert found["slept"] == {"global": "", "project": ""}
    assert "`engramdown sleep` learns" in run.ok("stats").out
    with freeze_time("2026-03-01 12:00"):
        run.ok("log", "user", "From now on use uv.")
        run.ok("log", "end")
        run.ok("sleep")
    assert memory.is_dir()
    found = run.ok("stats", "--json").json["slept"]
    assert found["project"].startswith("2026-03-01T12:00:")
    assert "sleep last finished a step on 2026-03-01 " in run.ok("stats").out


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


def test_what_models_were_asked_is_summed(run: Runner, memory: Path) -> None:
    assert memory.is_dir()
    assert run.ok("stats", "--json").json["models"]["calls"] == 0
    assert "language models" not in run.ok("stats").out
    ledger = Ledger(Path.home() / ".engramdown")
    call = Call(moment(), "replay", "openai/small", 1200, 80, 2340, "ok")
    ledger.add(call._replace(ts="2020-01-01T00:00:00.000000Z"))
    ledger.add(call._replace(job="identity", tokens_out=0, outcome="timeout"))
    ledger.add(call._replace(outcome="refused_spend"))
    with (Path.home() / ".engramdown" / "ledger.jsonl").open("ab") as file:
        file.write(b'{"ts":"20')
    found = run.ok("stats", "--json").json["models"]
    assert (found["calls"], found["failed"]) == (2, 1)
    assert (found["tokens_in"], found["tokens_out"], found["ms"]) == (2400, 80, 4680)
    assert list(found["by_job"]) == ["replay", "identity"]
    assert found["by_model"]["openai/small"]["calls"] == 2
    assert found["by_outcome"] == {"ok": 1, "timeout": 1, "refused_spend": 1}
    assert found["window"] == {"hours": 24, "calls": 1, "tokens": 1200}
    assert found["torn_lines"] == 1
    out = run.ok("stats").out
    assert "calls of language models, for all projects" in out
    assert "1  replay" in out
    assert "1,200 tokens in, 80 out, 2.3 s" in out
    assert "1  no answer in time" in out
    assert "in the last 24 hours: 1 call, 1,200 tokens" in out
    assert "1 line of ledger.jsonl is cut short" in out


@pytest.mark.usefixtures("memory")
def test_what_was_used_and_what_never_was_is_told(run: Runner) -> None:
    used, never = run.remember("The build takes nine minutes"), run.remember("Never push to main")
    assert run.ok("stats", "--json").json["used"]["never"] == [never, used]
    assert "It was never shown and never recalled." in run.ok("why", used).out
    run.ok("recall", "build")
    data = run.ok("stats", "--json").json["used"]
    assert (data["shown"], data["recalled"], data["never"]) == (0, 1, [never])
    assert f"never: {never}\n" in run.ok("stats").out
    run.ok("context")
    assert run.ok("stats", "--json").json["used"]["never"] == []
    assert "It was shown 1 time (last on 20" in run.ok("why", used).out
