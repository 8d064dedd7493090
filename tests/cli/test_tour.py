"""The tour plays for real, shows what changes, and leaves nothing behind."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from engramdown.cli import tour
from tests.cli.conftest import Runner


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let temporary folders be made in a folder that a test can look into."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def test_the_story_is_told_to_its_end(run: Runner, scratch: Path, isolated_home: Path) -> None:
    done = run.ok("tour")
    for scene in tour.STORY:
        assert scene.title in done.out
    for shown in (
        "$ engramdown remember 'Always run the linter before pushing'",
        "Remembered in rules.md:",
        "Known already: rules.md:",
        "-- Always run the linter before pushing <!--",
        "+- Always run the linter on every commit <!--",
        "verified",
        "Waiting for you in pending.md:",
        "+- [x] Prefer pytest fixtures over setUp",
        "## Your Memory — Project Rules",
        "Undone: step",
        tour.TOUR_END,
    ):
        assert shown in done.out
    assert list(scratch.iterdir()) == []
    assert not (isolated_home / ".engramdown").exists()
    assert list(Path.cwd().iterdir()) == []


def test_what_a_person_has_set_does_not_change_the_story(
    run: Runner, scratch: Path, monkeypatch: pytest.MonkeyPatch, isolated_home: Path
) -> None:
    assert scratch.is_dir()
    monkeypatch.setenv("ENGRAMDOWN_MODE", "off")
    home = isolated_home / ".engramdown"
    home.mkdir()
    (home / "config.toml").write_text('mode = "off"\n', encoding="utf-8")
    assert tour.TOUR_END in run.ok("tour").out


def test_a_program_gets_every_scene(run: Runner, scratch: Path) -> None:
    scenes = run.ok("tour", "--json").json
    assert [scene["title"] for scene in scenes] == [scene.title for scene in tour.STORY]
    assert scenes[1]["printed"].startswith("Remembered in rules.md:")
    (change,) = scenes[1]["changes"]
    assert change["file"].endswith("rules.md")
    assert "Always run the linter" in change["after"]
    assert list(scratch.iterdir()) == []


def test_every_change_of_the_story_is_shown(run: Runner, scratch: Path) -> None:
    assert scratch.is_dir()
    scenes = {scene["title"]: scene for scene in run.ok("tour", "--json").json}
    silent = [title for title, scene in scenes.items() if not scene["changes"]]
    # What was edited is verified in the journal: the file may be open in the editor still.
    assert silent == [tour.STORY[each].title for each in (2, 4, 8)]
