"""`examples/anthropic_memory.py` and `examples/langgraph_store.py`, run as a person runs them."""

from __future__ import annotations

import contextlib
import os
import runpy
import signal
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest

from engramdown import Cortex
from tests.conftest import ROOT
from tests.consolidation.wire import http
from tests.integrations.anthropic_server import calls, says, serving

RULES = "/memories/rules.md"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a project."""
    (tmp_path / ".engramdown").mkdir()
    return tmp_path


class Here:
    """Runs an example in a project, in this process: to load the SDKs again takes a second."""

    def __init__(self, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Run in ``project``."""
        self.project = project
        self._patch = monkeypatch

    def runs(self, name: str, *arguments: str, typed: str = "") -> int:
        """Return the exit code of an example into which lines were typed."""
        self._patch.chdir(self.project)
        self._patch.setattr(sys, "argv", [name, *arguments])
        self._patch.setattr(sys, "stdin", StringIO(typed))
        with pytest.raises(SystemExit) as ended:
            runpy.run_path(str(ROOT / "examples" / name), run_name="__main__")
        assert isinstance(ended.value.code, int)
        return ended.value.code


@pytest.fixture
def here(project: Path, monkeypatch: pytest.MonkeyPatch) -> Here:
    """Run examples in the project."""
    for name in [name for name in os.environ if name.startswith("ANTHROPIC_")]:
        monkeypatch.delenv(name)
    return Here(project, monkeypatch)


@pytest.mark.slow
def test_a_model_keeps_its_memory_in_files(project: Path, child_env: dict[str, str]) -> None:
    answers = (
        calls({"command": "view", "path": "/memories"}),
        calls({"command": "create", "path": RULES, "file_text": "## Always\n- Use uv\n"}),
        says("I will."),
        http({"type": "error", "error": {"type": "overloaded"}}, "400 Bad Request"),
        says("uv, as ever."),
    )
    with serving(*answers) as wire:
        done = subprocess.run(
            [sys.executable, str(ROOT / "examples" / "anthropic_memory.py")],
            input="Remember: use uv\nAre you there?\nHow do I install?\n\n",
            cwd=project,
            env={**child_env, "ANTHROPIC_API_KEY": "none", "ANTHROPIC_BASE_URL": wire.url},
            capture_output=True,
            encoding="utf-8",
            timeout=60,
            check=False,
        )
        last = wire.asked[-1]["messages"]
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.split("you> ")
    assert lines[1] == "I will.\n"
    assert lines[2].startswith("No answer: ")
    assert lines[3] == "uv, as ever.\n"
    assert [each["role"] for each in last] == ["user", "assistant", "user"]
    cortex = Cortex.open(project=project)
    assert [entry.text for entry in cortex.entries()] == ["Use uv"]
    assert cortex.episodes is not None
    assert len(cortex.episodes.sessions()) == 1


def test_what_waits_is_told_in_the_end(
    here: Here, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = here.project / ".engramdown" / "memory" / "rules.md"
    rules.parent.mkdir()
    rules.write_text("## Always\n- Use make\n", encoding="utf-8")
    change = {"command": "str_replace", "path": RULES, "old_str": "make", "new_str": "ninja"}
    with serving(calls(change), says("It waits for you.")) as wire:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", wire.url)
        assert here.runs("anthropic_memory.py", typed="Use ninja\n") == 0
    assert capsys.readouterr().out.endswith("1 waiting for you: engramdown review\n")
    assert rules.read_text(encoding="utf-8") == "## Always\n- Use make\n"


def test_without_a_key_one_is_told(here: Here, capsys: pytest.CaptureFixture[str]) -> None:
    assert here.runs("anthropic_memory.py", typed="Hello\n") == 0
    told = capsys.readouterr()
    assert "No answer: " in told.out
    assert "api_key" in told.out
    (here.project / ".engramdown" / "config.toml").write_text("mode = 7\n", encoding="utf-8")
    assert here.runs("anthropic_memory.py", typed="Hello\n") == 2
    assert "mode" in capsys.readouterr().err


@pytest.mark.slow
def test_ctrl_c_ends_the_chat(project: Path, child_env: dict[str, str]) -> None:
    with subprocess.Popen(
        [sys.executable, "-u", str(ROOT / "examples" / "anthropic_memory.py")],
        cwd=project,
        env={**child_env, "ANTHROPIC_API_KEY": "none"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    ) as process:
        assert process.stdout is not None
        assert process.stdout.read(5) == "you> "
        # One that comes before the program waits for its input is not seen there.
        for _ in range(30):
            process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=5)
                break
        assert process.returncode == 0


@pytest.mark.slow
def test_a_graph_remembers_from_run_to_run(
    here: Here, child_env: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    name = "langgraph_store.py"
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / name), "I like my tea green"],
        cwd=here.project,
        env=child_env,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=True,
    )
    assert (done.stdout, done.stderr) == ("I know nothing about that yet.\n", "")
    assert here.runs(name, "Which tea shall I make?") == 0
    assert capsys.readouterr().out == "I like my tea green\n"
    assert here.runs(name) == 2
    (here.project / ".engramdown" / "config.toml").write_text('mode = "off"\n', encoding="utf-8")
    assert here.runs(name, "I like coffee") == 1
    assert "memory is switched off" in capsys.readouterr().err
