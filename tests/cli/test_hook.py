"""``engramdown hook`` as a person meets it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from freezegun import freeze_time

from engramdown.storage import complain
from tests.cli.conftest import Runner
from tests.cli.terminal import Terminal
from tests.integrations.claude_code.agent import PROGRAM


@pytest.mark.parametrize(
    "words,said",
    [([], "name an event"), (["pre-compact"], "no event 'pre-compact'"), (["--bogus"], "bogus")],
)
def test_a_person_at_a_terminal_is_told_of_wrong_usage(
    memory: Path, child_env: dict[str, str], words: list[str], said: str
) -> None:
    assert memory.is_dir()
    with Terminal([sys.executable, "-c", PROGRAM, "hook", *words], child_env) as screen:
        assert screen.end() == 2
        assert said in screen.text


def test_a_terminal_is_not_waited_for(memory: Path, run: Runner, child_env: dict[str, str]) -> None:
    assert memory.is_dir()
    run.remember("Always run the linter")
    with Terminal([sys.executable, "-c", PROGRAM, "hook", "session-start"], child_env) as screen:
        assert screen.end() == 0
        assert "Always run the linter" in screen.text


def test_a_hook_answers_in_this_process_too(memory: Path, run: Runner) -> None:
    assert memory.is_dir()
    run.remember("--lesson", "Staging listens on port 8443")
    words = ["prompt-submit", "--session", "s1", "--text", "restart staging"]
    assert "port 8443" in run.ok("hook", *words).out
    assert run.ok("hook", *words).out == ""
    assert "port 8443" in run.ok("hook", "SessionStart", "--source", "resume").out


@pytest.mark.parametrize("said", ["9" * 400, "0", "-1", "soon", "٣"])
def test_a_limit_that_is_none_is_passed_over(
    memory: Path, run: Runner, monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    assert memory.is_dir()
    monkeypatch.setenv("ENGRAMDOWN_HOOK_SECONDS", said)
    run.remember("Always run the linter")
    assert "linter" in run.ok("hook", "session-start").out


@pytest.mark.slow
def test_doctor_tells_of_trouble_within_a_week(memory: Path, run: Runner) -> None:
    with freeze_time("2026-03-01"):
        complain(memory.parent, "stop", "no room\nleft")
    with freeze_time("2026-03-05"):
        done = run.ok("doctor")
        assert "hook-trouble" in done.out
        assert "stop: no room left" in " ".join(done.out.split())
    with freeze_time("2026-03-20"):
        assert "hook-trouble" not in run.ok("doctor").out


def test_a_log_of_trouble_does_not_grow_for_ever(memory: Path) -> None:
    for at in range(400):
        complain(memory.parent, "stop", f"{at} " + "x" * 300)
    log = memory.parent / "cache" / "hooks" / "trouble.log"
    assert log.stat().st_size < 100_000
    assert "stop: 399 x" in log.read_text(encoding="utf-8")
