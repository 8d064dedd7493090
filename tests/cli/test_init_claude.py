"""``engramdown init --claude``: settings of somebody else, changed by as little as can be."""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path

import pytest

from engramdown.errors import UnfitFileError
from engramdown.hooks.foreign import write
from engramdown.hooks.setup import plan
from tests.cli.conftest import Runner
from tests.cli.terminal import Terminal
from tests.hooks.agent import PROGRAM

THEIRS = '{\n    "model": "any",\n    "hooks": {\n        "Stop": [{"hooks": []}]\n    }\n}'


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def settings(project: Path) -> Path:
    """Return the settings of others that stand there."""
    path = project / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text(THEIRS, encoding="utf-8")
    return path


def test_it_asks_for_a_yes_and_shows_the_diff_before(run: Runner, settings: Path) -> None:
    done = run("init", "--claude", "--no-global")
    assert done.code == 1
    assert " hook session-start" in done.out
    assert "nothing is written without a yes" in done.err
    assert settings.read_text(encoding="utf-8") == THEIRS
    assert not (settings.parent.parent / ".engramdown").exists()


def test_what_it_writes_it_takes_out_again(run: Runner, settings: Path) -> None:
    settings.chmod(0o640)
    run.ok("init", "--claude", "--no-global", "--yes")
    once = settings.read_text(encoding="utf-8")
    assert [event for event in json.loads(once)["hooks"] if event != "Stop"] != []
    assert once.startswith(THEIRS.removesuffix("}\n    }\n}").removesuffix("[]}]\n    }\n}"))
    assert "already" in run.ok("init", "--claude", "--no-global", "--yes").out
    assert settings.read_text(encoding="utf-8") == once
    assert stat.S_IMODE(settings.stat().st_mode) == 0o640
    done = run.ok("init", "--claude", "--remove", "--yes")
    assert "are gone from" in done.out
    assert settings.read_text(encoding="utf-8") == THEIRS
    said = run.ok("init", "--claude", "--remove", "--yes").out
    assert "has no hooks" in " ".join(said.split())
    assert list(settings.parent.iterdir()) == [settings]


@pytest.mark.parametrize("answer", ["y", "n"])
def test_a_person_is_asked_after_the_diff(
    project: Path, child_env: dict[str, str], answer: str
) -> None:
    command = [sys.executable, "-c", PROGRAM, "init", "--claude", "--no-global"]
    with Terminal(command, child_env) as screen:
        screen.expect("Write these hooks?")
        assert "hook session-start" in screen.text
        screen.type(f"{answer}\r")
        assert screen.end() == (0 if answer == "y" else 1)
    made = {each.name for each in project.iterdir()}
    assert made == ({".claude", ".engramdown"} if answer == "y" else set())


def test_a_dry_run_makes_nothing(run: Runner, project: Path) -> None:
    done = run.ok("init", "--claude", "--no-global", "--dry-run")
    assert "would call memory" in done.out
    assert list(project.iterdir()) == []


def test_programs_are_told_what_would_change(run: Runner, settings: Path) -> None:
    done = run.ok("init", "--claude", "--no-global", "--dry-run", "--json")
    told = done.json["claude"]
    assert (told["settings"], told["changed"], told["before"]) == (str(settings), True, THEIRS)
    assert json.loads(told["after"])["model"] == "any"
    assert run("init", "--claude", "--json").code == 1
    run.ok("init", "--claude", "--no-global", "--yes", "--json")
    assert settings.read_text(encoding="utf-8") == told["after"]


def test_those_for_all_projects_stand_at_home(
    run: Runner, project: Path, isolated_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dotfiles = isolated_home / "dotfiles.json"
    dotfiles.write_text("{}\n", encoding="utf-8")
    path = isolated_home / ".claude" / "settings.json"
    path.parent.mkdir()
    path.symlink_to(dotfiles)
    assert "--remove --global" in run.ok("init", "--claude", "--global", "--yes").out
    assert path.is_symlink()
    assert "SessionStart" in dotfiles.read_text(encoding="utf-8")
    assert not (project / ".claude").exists()
    run.ok("init", "--claude", "--global", "--remove", "--yes")
    assert json.loads(dotfiles.read_text(encoding="utf-8")) == {}
    moved = isolated_home / "moved"
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(moved))
    run.ok("init", "--claude", "--global", "--yes")
    assert (moved / "settings.json").is_file()


@pytest.mark.parametrize(
    "text,said",
    [
        ('{\n  // mine\n  "a": 1\n}', "line 2, column 3: a comment"),
        ('{"hooks": []}', '"hooks" should be an object'),
        ("\udcff{}", "is no UTF-8, at byte 1"),
    ],
)
def test_settings_that_cannot_be_edited_are_named_with_what_to_paste(
    run: Runner, settings: Path, text: str, said: str
) -> None:
    settings.write_text(text, encoding="utf-8", errors="surrogateescape")
    done = run("init", "--claude", "--no-global", "--yes")
    assert done.code == 1
    assert said in done.err
    assert "Nothing was written" in done.err
    assert '"SessionStart"' in done.out
    assert settings.read_text(encoding="utf-8", errors="surrogateescape") == text
    assert not (settings.parent.parent / ".engramdown").exists()
    quiet = run("init", "--claude", "--no-global", "--yes", "--json")
    assert (quiet.code, quiet.out) == (1, "")


def test_a_link_that_leads_out_of_the_project_is_refused(run: Runner, project: Path) -> None:
    outside = project.parent / "outside"
    outside.mkdir()
    (project / ".claude").symlink_to(outside)
    done = run("init", "--claude", "--no-global", "--yes")
    assert done.code == 1
    assert "leads to" in done.err
    assert list(outside.iterdir()) == []


def test_what_is_no_file_is_refused(run: Runner, settings: Path) -> None:
    settings.unlink()
    os.mkfifo(settings)
    assert run("init", "--claude", "--no-global", "--yes").code == 3
    settings.unlink()
    settings.mkdir()
    assert run("init", "--claude", "--no-global", "--yes").code == 1


def test_what_a_person_saves_meanwhile_is_not_overwritten(settings: Path) -> None:
    change = plan(settings.parent.parent, everywhere=False)
    settings.write_text("{}", encoding="utf-8")
    with pytest.raises(UnfitFileError, match="changed meanwhile"):
        write(change)
    settings.unlink()
    with pytest.raises(UnfitFileError, match="meanwhile"):
        write(change)
    assert list(settings.parent.iterdir()) == []


def test_where_the_program_is_not_found_by_name_its_place_is_written(
    run: Runner, settings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    done = run.ok("init", "--claude", "--no-global", "--yes")
    assert "not on the PATH" in done.out
    found = json.loads(settings.read_text(encoding="utf-8"))["hooks"]["SessionEnd"]
    [command] = [each["command"] for group in found for each in group["hooks"]]
    assert command.endswith(" hook session-end")
    assert os.sep in command
    assert "already" in run.ok("init", "--claude", "--no-global", "--yes").out


def test_options_that_belong_together_are_given_together(run: Runner, project: Path) -> None:
    assert project.is_dir()
    assert run("init", "--remove").code == 2
