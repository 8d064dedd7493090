"""Two scopes on the disk, and a cortex over them."""

from __future__ import annotations

from pathlib import Path

import pytest

from engramdown import Cortex


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
