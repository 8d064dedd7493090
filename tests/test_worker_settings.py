"""`engramdown.settings`: what the background worker does, and who may say so."""

from __future__ import annotations

from pathlib import Path

import pytest

from engramdown.errors import SettingsError
from engramdown.settings import Settings, WorkerSettings, load


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Make the folder of a global scope."""
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


def configure(folder: Path, said: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.toml").write_text(f"[worker]\n{said}\n", encoding="utf-8")


def test_what_holds_without_a_word() -> None:
    assert Settings().worker == WorkerSettings(300, 60, 5, 10, 5, 30, 5)


def test_the_global_scope_says_what_the_worker_does(home: Path) -> None:
    configure(home, "every = 60\npause = 0\nbatch = 0\nidle_minutes = 1.5")
    found = load(home, None).worker
    assert (found.every, found.pause, found.batch, found.idle_minutes) == (60, 0, 0, 1.5)
    assert found.attempts == 5


@pytest.mark.parametrize("key", WorkerSettings._fields)
def test_a_project_says_nothing_of_it(key: str, home: Path, tmp_path: Path) -> None:
    project = tmp_path / "p" / ".engramdown"
    configure(project, f"{key} = 1")
    with pytest.raises(SettingsError, match="may only be in"):
        load(home, project)


@pytest.mark.parametrize(
    "said, allowed",
    [
        *(("every = 0", "above 0"), ("every = -1", "above 0"), ("timeout = 0", "above 0")),
        *(("pause = -1", "0 to"), ("batch = -1", "whole number"), ("batch = 1.5", "whole number")),
        *(("attempts = true", "whole number"), ("idle_minutes = -1", "0 to")),
        *(("idle_messages = -1", "whole number"), ("interval = 5", "every, timeout, pause")),
    ],
)
def test_a_wrong_value_says_what_is_allowed(said: str, allowed: str, home: Path) -> None:
    configure(home, said)
    with pytest.raises(SettingsError, match=allowed):
        load(home, None)
