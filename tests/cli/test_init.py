"""``init`` makes what is missing, leaves alone what is there, and says what to do next."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Runner


def names(root: Path) -> set[str]:
    return {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}


def test_a_project_is_set_up_here(
    run: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run.ok("init")
    root = tmp_path / ".engramdown"
    assert {".gitignore", "memory/rules.md", "memory/lessons.md"} <= names(root)
    assert f"Memory for this project is ready: {root}" in " ".join(done.out.split())
    assert "engramdown remember" in done.out


def test_notes_of_other_assistants_are_pointed_out_until_they_came(
    run: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "engramdown migrate" not in run.ok("init").out
    (tmp_path / ".cursor" / "rules").mkdir(parents=True)
    (tmp_path / "CLAUDE.md").write_text("- Use uv\n", encoding="utf-8")
    out = run.ok("init").out
    assert "  engramdown migrate\n      shows what CLAUDE.md, .cursor/rules would bring" in out
    run.ok("migrate", "--yes")
    assert "engramdown migrate" not in run.ok("init").out


def test_a_project_is_set_up_in_a_folder_that_is_named(run: Runner, tmp_path: Path) -> None:
    run.ok("init", str(tmp_path / "new" / "project"))
    assert (tmp_path / "new" / "project" / ".engramdown" / "memory" / "rules.md").is_file()


def test_the_folder_of_the_scope_itself_may_be_named(run: Runner, tmp_path: Path) -> None:
    run.ok("init", str(tmp_path / ".engramdown"))
    assert not (tmp_path / ".engramdown" / ".engramdown").exists()


def test_setting_up_twice_changes_nothing(run: Runner, memory: Path) -> None:
    rules = memory / "rules.md"
    rules.write_text("- mine\n", encoding="utf-8")
    done = run.ok("init")
    assert "is there already" in done.out
    assert rules.read_text(encoding="utf-8") == "- mine\n"


def test_a_file_that_is_missing_comes_back(run: Runner, memory: Path) -> None:
    (memory / "lessons.md").unlink()
    assert "memory/lessons.md" in run.ok("init").out


def test_without_a_terminal_nobody_is_asked(run: Runner, memory: Path, isolated_home: Path) -> None:
    assert memory.is_dir()
    assert not (isolated_home / ".engramdown").exists()
    assert "engramdown init --global" in run.ok("init").out


@pytest.mark.parametrize("option", ["--global", "--yes"])
def test_the_global_scope_is_set_up_on_demand(
    option: str, run: Runner, tmp_path: Path, isolated_home: Path
) -> None:
    done = run.ok("init", str(tmp_path), option)
    assert (isolated_home / ".engramdown" / "memory" / "profile.md").is_file()
    assert "Memory for all projects is ready" in done.out
    assert "--global" not in done.out


def test_yes_does_not_overrule_no(run: Runner, tmp_path: Path, isolated_home: Path) -> None:
    run.ok("init", str(tmp_path), "--no-global", "--yes")
    assert not (isolated_home / ".engramdown").exists()


def test_the_home_folder_is_no_project(run: Runner, isolated_home: Path) -> None:
    done = run("init", str(isolated_home))
    assert done.code == 1
    assert "engramdown init --global" in done.err
    assert not (isolated_home / ".engramdown").exists()


def test_in_the_home_folder_the_global_scope_can_be_set_up(
    run: Runner, isolated_home: Path
) -> None:
    done = run.ok("init", str(isolated_home), "--global")
    assert (isolated_home / ".engramdown" / "memory" / "profile.md").is_file()
    assert "for this project" not in done.out.partition("What to do next")[0]


def test_a_project_above_is_mentioned(run: Runner, memory: Path) -> None:
    inner = memory.parent.parent / "inner"
    done = run.ok("init", str(inner))
    # A path that is longer than a row goes on in the next one.
    note = f"Note: {memory.parent} is above this folder"
    assert "".join(note.split()) in "".join(done.out.split())


def test_a_dry_run_creates_nothing(run: Runner, tmp_path: Path) -> None:
    done = run.ok("init", str(tmp_path / "p"), "--global", "--dry-run")
    assert "memory/profile.md" in done.out
    assert "nothing is written" in done.out
    assert not (tmp_path / "p").exists()


def test_json_names_what_was_created(run: Runner, tmp_path: Path) -> None:
    made = run.ok("init", str(tmp_path), "--json").json
    root = tmp_path / ".engramdown"
    assert made["global"] is None
    assert made["project"]["root"] == str(root)
    assert str(root / "memory" / "rules.md") in made["project"]["created"]


def test_a_file_in_the_way_is_an_error_that_names_it(run: Runner, tmp_path: Path) -> None:
    (tmp_path / ".engramdown").write_text("", encoding="utf-8")
    done = run("init", str(tmp_path))
    assert done.code == 3
    assert str(tmp_path / ".engramdown") in done.err
