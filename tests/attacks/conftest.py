"""What an attack gets: a person's home, a project, and commands that run in this process."""

from __future__ import annotations

from pathlib import Path

import pytest

from engramdown import Cortex
from tests.cli.conftest import Runner
from tests.cortex.person import Person


@pytest.fixture
def home(isolated_home: Path) -> Person:
    """Return the person at their global memory, in which one rule stands."""
    person = Person(isolated_home / ".engramdown")
    person.saves("rules.md", "# Rules\n\n## Always\n\n- Be kind to reviewers\n")
    (isolated_home / ".engramdown" / "config.toml").write_text(
        'durability = "fast"\n', encoding="utf-8"
    )
    return person


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a project, with an empty ``.engramdown``, and stand in it."""
    folder = tmp_path / "project"
    (folder / ".engramdown" / "memory").mkdir(parents=True)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def there(project: Path) -> Person:
    """Return somebody who edits the project's memory: whoever wrote what was cloned."""
    return Person(project / ".engramdown")


@pytest.fixture
def cortex(home: Person, project: Path) -> Cortex:
    """Open both scopes in autopilot."""
    assert home.memory.is_dir()
    return Cortex.open(project=project, mode="autopilot")


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Runner:
    """Return what runs a command in this process."""
    return Runner(capsys, monkeypatch)
