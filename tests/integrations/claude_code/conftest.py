"""What every test of hooks gets: time, however busy the machine is."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def patient(isolated_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a hook take as long as it has to: no law of these tests is about time."""
    assert isolated_home.is_dir()
    monkeypatch.setenv("ENGRAMDOWN_HOOK_SECONDS", "60")
