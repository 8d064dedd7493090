"""What a test of memory under git gets."""

from __future__ import annotations

import os

import pytest


@pytest.fixture(autouse=True)
def untold(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nobody have told git anything: neither a hook, nor the settings of this machine."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
