"""Whatever the umask, nobody else may read what holds transcripts, nor any folder on the way."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from engramdown import Cortex, Engram
from engramdown.gate.model_runs import ledger_of
from engramdown.models.ledger import Call
from tests.cli.conftest import Runner

CALL: Final = Call("2026-11-21T10:00:00Z", "replay", "openai/small", 1, 1, 1, "ok")


@pytest.fixture(params=[0o000, 0o022, 0o077], ids=["000", "022", "077"])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    """Run with a umask."""
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def live(project: Path, home: Path) -> None:
    """Use everything that makes a file."""
    cortex = Cortex.open(project=project, home=home, mode="copilot")
    cortex.propose([Engram("Use uv", "always", "project", confidence="high", source="user")])
    cortex.propose([Engram("The build needs two passes", "lesson", "project", topic="ci")])
    cortex.propose([Engram("Name: Ada", "profile", "global", confidence="high", source="user")])
    with cortex.session() as session:
        session.begin_turn("Remember: we deploy on Monday")
        session.tool_call("shell", {"cmd": "pytest"})
        session.tool_result("shell", "2 failed\n" * 9_000, error=True)
        session.end_turn("Done.")
    assert cortex.episodes is not None
    cortex.episodes.recall("deploy")
    cortex.episodes.close()
    cortex.sleep()
    ledger_of(cortex.scopes).add(CALL)


def open_to_others(folder: Path) -> list[str]:
    return sorted(
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if stat.S_IMODE(path.lstat().st_mode) & 0o077
    )


@pytest.mark.usefixtures("umask")
def test_all_that_is_made_is_for_the_user_alone(tmp_path: Path) -> None:
    project, home = tmp_path / "a" / "b", tmp_path / "c" / "d"
    live(project, home)
    made = {path.name for path in tmp_path.rglob("*") if path.is_file()}
    assert {"rules.md", "profile.md", "history.jsonl", ".lock", "index.sqlite"} <= made
    # What git is to leave alone is nobody's secret, and git reads it.
    assert [name for name in open_to_others(tmp_path) if not name.endswith(".gitignore")] == []


@pytest.mark.usefixtures("umask")
def test_what_is_exported_and_imported_is_for_the_user_alone(
    run: Runner, project: Path, isolated_home: Path, tmp_path: Path
) -> None:
    live(project, isolated_home / ".engramdown")
    assert run("export", "--all", "-o", str(tmp_path / "out" / "deep")).code == 0
    found = tmp_path / "out"
    assert [path for path in found.rglob("*") if path.is_file()]
    assert not stat.S_IMODE(found.stat().st_mode) & 0o077
    assert open_to_others(found) == []


@pytest.mark.usefixtures("umask")
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644, 0o664])
def test_a_memory_file_keeps_the_mode_that_a_person_gave_it(project: Path, mode: int) -> None:
    cortex = Cortex.open(project=project, mode="autopilot")
    first = cortex.scopes.project_hc.encode_rule("Use uv", kind="always")
    rules = project / ".engramdown" / "memory" / "rules.md"
    rules.chmod(mode)
    cortex.scopes.project_hc.update(first.id, "Use uv, never pip")
    cortex.scopes.project_hc.forget(first.id)
    assert stat.S_IMODE(rules.stat().st_mode) == mode
