"""Two scopes on the disk, a cortex over them, and a person who edits their files."""

from __future__ import annotations

from pathlib import Path

import pytest

from engramdown import Cortex
from tests.cortex.person import Person


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return the folder of a project without memory."""
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def cortex(project: Path, isolated_home: Path) -> Cortex:
    """Open both scopes in autopilot; durability is not what is tested here."""
    home = isolated_home / ".engramdown"
    home.mkdir()
    (home / "config.toml").write_text('durability = "fast"\n', encoding="utf-8")
    return Cortex.open(project=project, mode="autopilot")


@pytest.fixture
def copilot(cortex: Cortex) -> Cortex:
    """Open both scopes in copilot."""
    cortex.mode = "copilot"
    return cortex


@pytest.fixture
def person(project: Path) -> Person:
    """Return somebody who edits the project's memory."""
    return Person(project / ".engramdown")


@pytest.fixture
def at_home(isolated_home: Path) -> Person:
    """Return somebody who edits the global memory."""
    return Person(isolated_home / ".engramdown")
