"""While a model thinks for one sleep, nobody else waits: not a session, not another sleep."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from engramdown import Cortex, Engram
from tests.cli.conftest import Runner
from tests.cli.test_sleep import LESSON, session
from tests.consolidation.provider import Provider, Reply, answering, serving

__all__ = ["session"]

_PATIENCE = 60
CODE = "import sys; from engramdown.cli.main import main; sys.exit(main())"


class Slow:
    """Thinks about the first question until it is told to answer."""

    def __init__(self) -> None:
        """Think."""
        self.asked = threading.Event()
        self.go_on = threading.Event()

    def __call__(self, asked: dict[str, Any]) -> Reply:
        """Return what was learned."""
        del asked
        self.asked.set()
        assert self.go_on.wait(_PATIENCE)
        return answering({"items": [LESSON]})


@pytest.fixture
def home(isolated_home: Path) -> Path:
    """Return the folder of the global scope."""
    folder = isolated_home / ".engramdown"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.mark.slow
def test_a_session_and_a_second_sleep_go_on_while_a_model_thinks(
    run: Runner, session: Path, home: Path, child_env: dict[str, str]
) -> None:
    run.ok("sleep", "--no-model")
    slow = Slow()
    project = session.parents[1]
    program = [sys.executable, "-c", CODE, "-C", str(project), "sleep"]
    with serving(slow, answering({"lessons": []})) as url:
        settings = f'[consolidation]\nmodel = "openai/test"\nbase_url = "{url}"\n'
        (home / "config.toml").write_text(settings, encoding="utf-8")
        with subprocess.Popen(program, env=child_env, stdout=subprocess.PIPE) as first:
            try:
                assert slow.asked.wait(_PATIENCE)
                with Cortex.open(project, home).session() as talk:
                    talk.begin_turn("From now on use make.")
                    call = talk.tool_call("shell", {"cmd": "make"})
                    talk.tool_result("shell", "made", call)
                    talk.end_turn("Done")
                run.ok("remember", "--always", "Write tests first")
                second = run("sleep", "--json")
                assert first.poll() is None
            finally:
                slow.go_on.set()
            told = first.communicate(timeout=_PATIENCE)[0].decode()
    assert second.code == 0
    assert str(first.pid) in json.loads(second.out)["busy"]["project"]
    assert first.returncode == 0
    assert "remembered: Take the lock first" in told
    # The first asked what it had to ask, and the second nothing at all.
    assert len(Provider.seen) == 2
    texts = [entry.text for entry in Cortex.open(project, home).entries()]
    assert {"Use uv", "Write tests first", "Take the lock first"} <= set(texts)
    run.ok("sleep", "--no-model")
    texts = [entry.text for entry in Cortex.open(project, home).entries()]
    assert texts.count("Use make") == 1


@pytest.mark.slow
def test_a_sleep_that_is_told_to_end_leaves_its_work_to_the_next(
    run: Runner, session: Path, home: Path, child_env: dict[str, str]
) -> None:
    slow = Slow()
    project = session.parents[1]
    program = [sys.executable, "-c", CODE, "-C", str(project), "sleep"]
    with serving(slow) as url:
        settings = f'[consolidation]\nmodel = "openai/test"\nbase_url = "{url}"\n'
        (home / "config.toml").write_text(settings, encoding="utf-8")
        with subprocess.Popen(program, env=child_env, stdout=subprocess.PIPE) as first:
            try:
                assert slow.asked.wait(_PATIENCE)
                first.terminate()
                first.communicate(timeout=_PATIENCE)
            finally:
                slow.go_on.set()
    told = json.loads(run("sleep", "--no-model", "--json").out)
    assert told["busy"] == {}
    left = [job["left"] for job in told["jobs"] if job["job"] == "replay"]
    assert left == [1]
    cortex = Cortex.open(project, home)
    assert [entry.text for entry in cortex.entries()] == ["Use uv"]
    assert cortex.propose(Engram("Use uv", "always", "project"))[0].action == "merged"
