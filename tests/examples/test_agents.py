"""`examples/openai_agents.py` and `examples/pydantic_ai_agent.py`, run as a person runs them."""

from __future__ import annotations

import json
import os
import runpy
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from engramdown import Cortex, Engram
from tests.conftest import ROOT
from tests.consolidation.wire import Sends, Wire, call, completion, http, tools, wired

PROGRAMS = ["openai_agents.py", "pydantic_ai_agent.py"]
PROMPT = "you> "
MEMORY = json.dumps({"text": "Deploy on Tuesdays", "kind": "always"})


def says(text: str) -> bytes:
    return http(completion({"role": "assistant", "content": text}))


@pytest.fixture(params=PROGRAMS)
def program(request: pytest.FixtureRequest) -> str:
    """Return one of the examples."""
    return str(ROOT / "examples" / request.param)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a project."""
    folder = tmp_path / "project"
    (folder / ".engramdown").mkdir(parents=True)
    return folder


class Terminal:
    """Runs a program in a project."""

    def __init__(self, program: str, project: Path, env: dict[str, str]) -> None:
        """Run ``program`` in ``project``."""
        self.command = [sys.executable, program]
        self.project = project
        self.env = {**env, "OPENAI_API_KEY": "none", "OPENAI_MODEL": "small"}

    def types(self, wire: Wire, typed: str, *names: str) -> subprocess.CompletedProcess[str]:
        """Type lines into it, and return what came of it."""
        return subprocess.run(
            [*self.command, *names],
            input=typed,
            cwd=self.project,
            env={**self.env, "OPENAI_BASE_URL": wire.url},
            capture_output=True,
            encoding="utf-8",
            timeout=60,
            check=False,
        )


@pytest.fixture
def terminal(program: str, project: Path, child_env: dict[str, str]) -> Terminal:
    """Return a terminal with an example."""
    return Terminal(program, project, child_env)


@pytest.mark.slow
def test_what_one_process_learns_the_next_one_knows(terminal: Terminal) -> None:
    sends: list[Sends] = [
        tools(call(MEMORY, "memorize")),
        says("Noted."),
        http({"error": {"message": "out of order"}}, "400 Bad Request"),
        says("On Tuesdays."),
    ]
    with wired(*sends) as wire:
        first = terminal.types(wire, "I always deploy on Tuesdays\n", "monday")
        second = terminal.types(wire, "Hello?\nWhen do I deploy?\n\n", "monday")
    assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
    assert "Noted." in first.stdout
    assert "No answer:" in second.stdout
    assert "On Tuesdays." in second.stdout
    system = [each["content"] for each in wire.asked[-1]["messages"] if each["role"] == "system"]
    assert system[0].startswith("You are a brief, helpful assistant.")
    assert "Deploy on Tuesdays" in system[-1]
    said = [each["content"] for each in wire.asked[-1]["messages"] if each["role"] == "user"]
    assert said[0] == "I always deploy on Tuesdays"
    assert said[-1].endswith("When do I deploy?")
    rules = (terminal.project / ".engramdown/memory/rules.md").read_text(encoding="utf-8")
    assert "Deploy on Tuesdays" in rules


# The two ask alike, and the other one takes long to start.
@pytest.mark.slow
@pytest.mark.parametrize("program", [str(ROOT / "examples" / PROGRAMS[1])])
def test_ctrl_c_ends_it_in_order(terminal: Terminal) -> None:
    with wired(says("Hello.")) as wire:
        running = subprocess.Popen(
            terminal.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=terminal.project,
            env={**terminal.env, "OPENAI_BASE_URL": wire.url, "PYTHONUNBUFFERED": "1"},
            encoding="utf-8",
        )
        assert running.stdin is not None
        assert running.stdout is not None
        watch = threading.Timer(60, running.kill)
        watch.start()
        running.stdin.write("Hi\n")
        running.stdin.flush()
        while "Hello." not in running.stdout.readline():
            assert running.poll() is None
        assert running.stdout.read(len(PROMPT)) == PROMPT
        os.kill(running.pid, signal.SIGINT)
        _, errors = running.communicate()
        watch.cancel()
    assert (running.returncode, errors) == (0, "")
    transcript = (terminal.project / ".engramdown/episodes/chat.jsonl").read_text(encoding="utf-8")
    assert '"event":"end","reason":"finished"' in transcript


def test_a_wrong_name_and_a_missing_key_are_told(
    program: str,
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(project)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    main = runpy.run_path(program)["main"]
    for argument, told in (("", "empty"), ("My Talk", "OPENAI_API_KEY")):
        monkeypatch.setattr(sys, "argv", [program, argument])
        assert main() == 2
        assert told in capsys.readouterr().err


def test_what_waits_is_asked_about_between_turns(
    program: str,
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    cortex = Cortex.open(project=project, mode="copilot")
    for text in ("Use uv", "Use ruff", "Use mypy"):
        cortex.propose(Engram(text, "always", "project"))
    answers = iter(["Hi", "y", "n", "", ""])
    monkeypatch.chdir(project)
    monkeypatch.setattr("builtins.input", lambda _: next(answers))
    monkeypatch.setattr(sys, "argv", [program])
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with wired(says("Hello.")) as wire:
        monkeypatch.setenv("OPENAI_BASE_URL", wire.url)
        assert runpy.run_path(program)["main"]() == 0
    assert [entry.text for entry in cortex.entries()] == ["Use uv"]
    assert [each.engram.text for each in cortex.pending()] == ["Use mypy"]
    assert capsys.readouterr().out == "Hello.\nencoded\ndiscarded\n"
