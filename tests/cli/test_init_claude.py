"""``engramdown init --claude`` and its like: files of others, changed by as little as can be."""

from __future__ import annotations

import json
import os
import stat
import sys
import tomllib
from pathlib import Path

import pytest

from engramdown.errors import UnfitFileError
from engramdown.integrations.agents_md import write
from engramdown.integrations.claude_code.install import plan
from tests.cli.conftest import Runner
from tests.cli.terminal import Terminal
from tests.integrations.claude_code.agent import PROGRAM

THEIRS = '{\n    "model": "any",\n    "hooks": {\n        "Stop": [{"hooks": []}]\n    }\n}'


@pytest.fixture
def project(tmp_path: Path, programs: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in an empty folder, where the program is found by its name."""
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
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
    assert "is removed from" in " ".join(done.out.split())
    assert settings.read_text(encoding="utf-8") == THEIRS
    said = run.ok("init", "--claude", "--remove", "--yes").out
    assert "has no memory set up" in " ".join(said.split())
    assert list(settings.parent.iterdir()) == [settings]


@pytest.mark.parametrize("answer", ["y", "n"])
def test_a_person_is_asked_after_the_diff(
    project: Path, child_env: dict[str, str], answer: str
) -> None:
    command = [sys.executable, "-c", PROGRAM, "init", "--claude", "--no-global"]
    with Terminal(command, child_env) as screen:
        screen.expect("Write this?")
        assert "hook session-start" in screen.text
        screen.type(f"{answer}\r")
        assert screen.end() == (0 if answer == "y" else 1)
    made = {each.name for each in project.iterdir()}
    assert made == ({".claude", ".engramdown", ".mcp.json"} if answer == "y" else set())


def test_a_dry_run_makes_nothing(run: Runner, project: Path) -> None:
    done = run.ok("init", "--claude", "--no-global", "--dry-run")
    assert "would be set up in" in " ".join(done.out.split())
    assert list(project.iterdir()) == []


def test_programs_are_told_what_would_change(run: Runner, settings: Path) -> None:
    done = run.ok("init", "--claude", "--no-global", "--dry-run", "--json")
    assert done.json["agents"]["names"] == ["claude"]
    told, server = done.json["agents"]["files"]
    assert (told["path"], told["changed"], told["before"]) == (str(settings), True, THEIRS)
    assert json.loads(server["after"])["mcpServers"]["engramdown"]["args"] == ["mcp"]
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
        ("\udcff{}", "is not UTF-8"),
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
    [change] = plan(settings.parent.parent)
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


@pytest.mark.parametrize(
    "name, hooks, server",
    [
        ("claude", ".claude/settings.json", ".mcp.json"),
        ("codex", ".codex/hooks.json", ".codex/config.toml"),
        ("gemini", ".gemini/settings.json", ".gemini/settings.json"),
        ("cursor", ".cursor/hooks.json", ".cursor/mcp.json"),
    ],
)
def test_hooks_and_tools_of_an_agent_come_in_one_step_and_go_in_one(
    run: Runner, project: Path, name: str, hooks: str, server: str
) -> None:
    run.ok("init", f"--{name}", "--no-global", "--yes")
    found = json.loads((project / hooks).read_text(encoding="utf-8"))
    said = json.dumps(found["hooks"])
    assert said.count("engramdown hook") == len(found["hooks"])
    text = (project / server).read_text(encoding="utf-8")
    servers = (
        tomllib.loads(text)["mcp_servers"]
        if server.endswith(".toml")
        else json.loads(text)["mcpServers"]
    )
    assert servers["engramdown"]["command"] == "engramdown"
    assert servers["engramdown"]["args"][-1] == "mcp"
    before = {path: path.read_bytes() for path in (project / hooks, project / server)}
    again = " ".join(run.ok("init", f"--{name}", "--no-global", "--yes").out.split())
    assert again.count("is set up already") == len(before)
    assert {path: path.read_bytes() for path in before} == before
    run.ok("init", f"--{name}", "--remove", "--yes")
    assert not [path for path in before if path.exists()]


def test_several_agents_are_one_diff_and_one_question(
    project: Path, child_env: dict[str, str]
) -> None:
    command = [sys.executable, "-c", PROGRAM, "init", "--claude", "--gemini", "--no-global"]
    with Terminal(command, child_env) as screen:
        screen.expect("Write this?")
        screen.type("y\r")
        assert screen.end() == 0
    assert screen.text.count("Write this?") == 1
    made = {each.name for each in project.iterdir()}
    assert made == {".claude", ".engramdown", ".mcp.json", ".gemini"}


def test_a_config_of_codex_keeps_every_byte(run: Runner, project: Path) -> None:
    path = project / ".codex" / "config.toml"
    path.parent.mkdir()
    for text in ('a = "x"  # mine\n', "a = 1", "a = 1\r\n", "a = 1\n\n", '[x]\ny = "y"\n\n# end\n'):
        path.write_bytes(text.encode())
        run.ok("init", "--codex", "--no-global", "--yes")
        now = path.read_bytes().decode()
        assert now.startswith(text)
        assert tomllib.loads(now)["mcp_servers"]["engramdown"]["args"] == ["mcp"]
        run.ok("init", "--codex", "--remove", "--yes")
        assert path.read_bytes() == text.encode()
    for broken in ("a = ", "mcp_servers = {}\n"):
        path.write_text(broken, encoding="utf-8")
        done = run("init", "--codex", "--no-global", "--yes")
        assert done.code == 1
        assert "[mcp_servers.engramdown]" in done.out
        assert path.read_text(encoding="utf-8") == broken


def test_taking_ours_out_leaves_what_was_never_ours(run: Runner, project: Path) -> None:
    """Also a file in which nothing stands, and one that a link leads to."""
    kept = project / "kept.json"
    kept.write_text("{}\n", encoding="utf-8")
    link = project / ".mcp.json"
    link.symlink_to(kept)
    bare = project / ".cursor" / "mcp.json"
    bare.parent.mkdir()
    bare.write_text("{}\n", encoding="utf-8")
    run.ok("init", "--cursor", "--remove", "--yes")
    assert bare.read_text(encoding="utf-8") == "{}\n"
    run.ok("init", "--claude", "--no-global", "--yes")
    shown = run.ok("init", "--claude", "--remove", "--dry-run").out
    assert "+++ /dev/null" in shown
    assert (project / ".claude" / "settings.json").is_file()
    run.ok("init", "--claude", "--remove", "--yes")
    assert link.is_symlink()
    assert kept.read_text(encoding="utf-8") == "{}\n"
    assert not (project / ".claude" / "settings.json").exists()


def test_without_the_extra_the_tools_are_left_out_and_said(
    run: Runner, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engramdown.cli.init.find_spec", lambda _: None)
    done = run.ok("init", "--claude", "--no-global", "--yes")
    assert "engramdown[mcp]" in done.out
    assert (project / ".claude" / "settings.json").is_file()
    assert not (project / ".mcp.json").exists()
