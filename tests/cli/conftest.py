"""What a test of the command line gets: commands that run in this process, and a project."""

from __future__ import annotations

import io
import json
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from engramdown.cli.main import main
from tests.cli.prepared import Preparing
from tests.cli.program import Program


class Done(NamedTuple):
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:  # noqa: ANN401 - JSON is anything
        """What it printed, as JSON."""
        return json.loads(self.out)


class Runner:
    """Runs commands in this process, without a terminal."""

    def __init__(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        """Read what is printed through ``capsys``."""
        self._capsys = capsys
        self._monkeypatch = monkeypatch

    def __call__(self, *arguments: str, stdin: bytes = b"") -> Done:
        """Run ``engramdown`` with ``arguments``."""
        self._capsys.readouterr()
        stream = io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")
        self._monkeypatch.setattr("sys.stdin", stream)
        code = main(arguments)
        return Done(code, *self._capsys.readouterr())

    def ok(self, *arguments: str, stdin: bytes = b"") -> Done:
        """Run a command that must succeed."""
        done = self(*arguments, stdin=stdin)
        assert done.code == 0, done
        return done

    def remember(self, *arguments: str) -> str:
        """Remember something and return its id."""
        found: str = self.ok("remember", "--json", *arguments).json["id"]
        return found


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Runner:
    """Return what runs commands."""
    return Runner(capsys, monkeypatch)


@pytest.fixture(scope="session")
def begun(fresh_folders: Iterator[Path]) -> Path:
    """Return where the scope of a project is that just began, once a test has had one."""
    return next(fresh_folders) / ".engramdown"


@pytest.fixture
def memory(tmp_path: Path, run: Runner, monkeypatch: pytest.MonkeyPatch, begun: Path) -> Path:
    """Stand in a project, and return its memory folder."""
    monkeypatch.chdir(tmp_path)
    if begun.exists():
        shutil.copytree(begun, ".engramdown", symlinks=True)
    else:
        run.ok("init", "--no-global")
        shutil.copytree(".engramdown", begun, symlinks=True)
    return tmp_path / ".engramdown" / "memory"


@pytest.fixture
def reader(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a terminal without colours read what is printed."""
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setattr("engramdown.cli.process.is_terminal", lambda stream: stream is sys.stdout)


@pytest.fixture(scope="session")
def preparing() -> Iterator[Preparing]:
    """Return what starts programs that have imported everything."""
    made = Preparing()
    yield made
    made.close()


@pytest.fixture
def start(child_env: dict[str, str]) -> Iterator[Callable[..., Program]]:
    """Return what starts ``engramdown`` in a process of its own, which is killed at the end."""
    programs: list[Program] = []

    def start(*words: str) -> Program:
        programs.append(Program(child_env, *words))
        return programs[-1]

    yield start
    for program in programs:
        program.process.kill()
        program.process.communicate()
