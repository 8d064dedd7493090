"""Who refused a memory for all projects gets none: what was meant for it stays in the project."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engramdown import Cortex, Engram
from engramdown.cortex.tools import use
from engramdown.engram import Kind
from tests.cli.conftest import Runner
from tests.git.desk import Desk

FACT = "My name is Ada"
FILED = "Name: Ada"


@pytest.fixture
def nowhere(isolated_home: Path, memory: Path) -> Path:
    """Return where a memory for all projects would be, for somebody who refused one."""
    assert memory.is_dir()
    return isolated_home / ".engramdown"


def lessons(memory: Path) -> str:
    return (memory / "lessons.md").read_text(encoding="utf-8")


def test_a_fact_about_the_user_stays_in_the_project_and_that_is_said(
    run: Runner, memory: Path, nowhere: Path
) -> None:
    done = run.ok("remember", FACT)
    assert not nowhere.exists()
    assert FILED in lessons(memory)
    assert "in this project" in done.out
    assert "`engramdown init --global`" in " ".join(done.out.split())
    assert FILED in run.ok("context").out
    # What was meant for the project needs no word of it.
    assert "init --global" not in run.ok("remember", "Always run the linter").out


@pytest.mark.parametrize("kind", ["profile", "always", "lesson"])
@pytest.mark.parametrize("mode", ["autopilot", "copilot"])
def test_what_a_model_remembers_stays_in_the_project(
    memory: Path, nowhere: Path, kind: Kind, mode: str
) -> None:
    cortex = Cortex.open(mode=mode)
    scope = "project" if kind == "lesson" else "global"
    told = use(cortex, "memorize", {"text": FACT, "kind": kind, "scope": scope}).text
    (receipt,) = cortex.propose(Engram("Prefers short answers", kind, "global", source="llm"))
    assert not nowhere.exists()
    assert receipt.engram.scope == "project"
    assert "for all projects" in receipt.reason
    files = "".join(path.read_text(encoding="utf-8") for path in memory.glob("*.md"))
    assert "Prefers short answers" in files
    if scope == "global":
        assert "for all projects" in told


@pytest.mark.usefixtures("memory")
def test_nothing_that_is_done_in_the_project_makes_it(
    run: Runner, nowhere: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENGRAMDOWN_HOOK_SECONDS", "60")
    Desk(tmp_path)
    (tmp_path / ".engramdown" / "memory" / "soul.md").write_text("Be brief.\n", encoding="utf-8")
    for name in ("SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "SessionEnd"):
        event = {"hook_event_name": name, "session_id": "s", "prompt": FACT, "source": "startup"}
        run.ok("hook", stdin=json.dumps(event).encode())
    with Cortex.open().session() as session:
        session.begin_turn(f"{FACT}, and I prefer short answers")
        session.end_turn("Noted")
    cortex = Cortex.open()
    cortex.maybe_update_identity([f"{FACT}. I live in Paris.", "I always use vim."])
    cortex.compact_all()
    known = cortex.skills.all.known()
    assert [use(cortex, "recall_skill", {"label": each.skill.label}).text for each in known]
    cortex.review.mark_told(cortex.review.arrivals())
    for command in (["sleep"], ["sleep", "--no-model"], ["compact", "--yes"], ["review"], ["list"]):
        run(*command)
    for command in (["stats"], ["doctor"], ["recall", "Ada"], ["worker", "--once"], ["history"]):
        run(*command)
    assert not nowhere.exists()


def test_sleep_says_where_a_fact_about_the_user_is_kept(
    run: Runner, memory: Path, nowhere: Path
) -> None:
    with Cortex.open().session() as session:
        session.begin_turn(f"{FACT}.")
        session.end_turn("Noted")
    said = " ".join(run.ok("sleep", "--no-model").out.split())
    assert "facts about you are kept in this project" in said
    assert "`engramdown init --global`" in said
    assert not nowhere.exists()
    assert "Name: Ada" in lessons(memory)


def test_who_asks_for_it_by_name_gets_it(run: Runner, memory: Path, nowhere: Path) -> None:
    run.ok("remember", "--global", "--dry-run", FACT)
    assert not nowhere.exists()
    run.ok("remember", "--global", FACT)
    assert FILED in (nowhere / "memory" / "profile.md").read_text(encoding="utf-8")
    run.ok("remember", "I prefer short answers")
    assert "short answers" in (nowhere / "memory" / "profile.md").read_text(encoding="utf-8")
    assert FILED not in lessons(memory)


def test_who_changes_their_mind_has_it_from_then_on(run: Runner, nowhere: Path) -> None:
    run.ok("init", "--global")
    run.ok("remember", FACT)
    assert FILED in (nowhere / "memory" / "profile.md").read_text(encoding="utf-8")


def test_who_was_not_asked_has_refused_nothing(
    run: Runner, tmp_path: Path, isolated_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run.ok("init")
    run.ok("remember", FACT)
    assert (isolated_home / ".engramdown" / "memory" / "profile.md").exists()


def test_a_refusal_that_came_with_git_is_nobodys(
    run: Runner, nowhere: Path, tmp_path: Path
) -> None:
    """Else a project that was cloned could have facts about the user put into its own files."""
    desk = Desk(tmp_path)
    desk.git("add", "--force", ".")
    desk.git("commit", "--quiet", "-m", "All of it")
    run.ok("remember", FACT)
    assert (nowhere / "memory" / "profile.md").exists()


def test_a_dry_run_refuses_nothing(
    run: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run.ok("init", "--no-global", "--dry-run")
    assert list(tmp_path.iterdir()) == []
