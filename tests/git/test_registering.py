"""Setting up git writes what was planned, in this clone alone, and nothing twice."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from engramdown.errors import GitError, StoreError
from engramdown.git.driver import is_unregistered, plan_setup, program, set_up


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, check=False)
    return done.stdout.decode().strip()


@pytest.fixture
def scope(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a scope at the top of a new repository."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    top = tmp_path / "a project"
    top.mkdir()
    git(top, "init", "--quiet")
    root = top / ".engramdown"
    (root / "memory").mkdir(parents=True)
    return root


def test_a_clone_is_set_up_once(scope: Path) -> None:
    plan = plan_setup(scope, hook=True)
    assert not (scope.parent / ".gitattributes").exists()
    set_up(plan)
    assert git(scope, "check-attr", "merge", "memory/topics/a.md").endswith(": engramdown")
    assert git(scope, "check-attr", "merge", "memory/rules.md").endswith(": engramdown")
    assert git(scope, "check-attr", "merge", "config.toml").endswith(": unspecified")
    assert program()[0] in git(scope, "config", "merge.engramdown.driver")
    assert os.access(scope.parent / ".git" / "hooks" / "pre-commit", os.X_OK)
    again = plan_setup(scope, hook=True)
    assert again.is_done
    assert again.hook_kept is None


def test_a_line_is_added_to_the_attributes_of_a_person(scope: Path) -> None:
    file = scope.parent / ".gitattributes"
    file.write_bytes(b"*.png binary")
    file.chmod(0o640)
    set_up(plan_setup(scope, hook=False))
    assert file.read_bytes().startswith(b"*.png binary\n")
    assert file.stat().st_mode & 0o777 == 0o640
    assert not [*scope.parent.glob(".gitattributes.*")]


def test_a_project_below_the_top_has_its_attributes_beside_it(scope: Path) -> None:
    root = scope.parent / "libs" / "one" / ".engramdown"
    root.mkdir(parents=True)
    set_up(plan_setup(root, hook=False))
    assert git(root, "check-attr", "merge", "memory/rules.md").endswith(": engramdown")
    assert git(scope, "check-attr", "merge", "memory/rules.md").endswith(": unspecified")


def test_memory_that_is_a_repository_itself_has_them_within(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    set_up(plan_setup(tmp_path, hook=False))
    assert git(tmp_path, "check-attr", "merge", "memory/rules.md").endswith(": engramdown")


def test_a_folder_with_an_odd_name_has_them_within(scope: Path) -> None:
    root = scope.with_name("my [odd] memory")
    root.mkdir()
    set_up(plan_setup(root, hook=False))
    assert git(root, "check-attr", "merge", "memory/rules.md").endswith(": engramdown")


def test_a_second_work_tree_is_set_up_with_the_first(scope: Path) -> None:
    set_up(plan_setup(scope, hook=True))
    git(scope, "-c", "user.name=a", "-c", "user.email=b", "commit", "--allow-empty", "-qm", "x")
    git(scope, "worktree", "add", "-q", "../second")
    second = scope.parent / "second" / ".engramdown"
    second.mkdir(parents=True, exist_ok=True)
    plan = plan_setup(second, hook=True)
    assert not plan.settings
    assert plan.hook is plan.hook_kept is None


def test_a_hook_that_is_there_stays(scope: Path) -> None:
    hook = scope.parent / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("mine\n", encoding="utf-8")
    plan = plan_setup(scope, hook=True)
    assert (plan.hook, plan.hook_kept) == (None, hook)
    set_up(plan)
    assert hook.read_text(encoding="utf-8") == "mine\n"


def test_the_hook_goes_where_git_looks_for_it(scope: Path, tmp_path: Path) -> None:
    git(scope, "config", "core.hooksPath", ".husky")
    assert plan_setup(scope, hook=True).hook == scope.parent / ".husky" / "pre-commit"
    git(scope, "config", "core.hooksPath", str(tmp_path / "for all"))
    plan = plan_setup(scope, hook=True)
    assert (plan.hook, plan.hook_kept) == (None, tmp_path / "for all" / "pre-commit")


def test_outside_of_a_repository_nothing_is_written(tmp_path: Path) -> None:
    with pytest.raises(GitError, match="git init"):
        plan_setup(tmp_path / ".engramdown", hook=False)
    git(tmp_path, "init", "--quiet", "--bare", "bare")
    with pytest.raises(GitError, match="work tree"):
        plan_setup(tmp_path / "bare" / ".engramdown", hook=False)
    assert not [*tmp_path.rglob(".gitattributes")]


def test_attributes_that_git_would_not_read_are_refused(scope: Path) -> None:
    file = scope.parent / ".gitattributes"
    file.symlink_to("elsewhere")
    with pytest.raises(StoreError, match="is a link"):
        plan_setup(scope, hook=False)
    file.unlink()
    file.write_bytes(b" " * 1024 * 1025)
    with pytest.raises(StoreError, match="more than the limit of 1 MB"):
        plan_setup(scope, hook=False)


def test_a_clone_that_knows_only_the_name_of_the_driver_is_told_apart(scope: Path) -> None:
    assert not is_unregistered(scope)
    set_up(plan_setup(scope, hook=False))
    assert not is_unregistered(scope)
    git(scope, "config", "--remove-section", "merge.engramdown")
    assert is_unregistered(scope)
    (scope.parent / ".git").rename(scope.parent / "gone")
    assert not is_unregistered(scope)


def test_the_program_is_the_one_that_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    (tmp_path / "engramdown").touch()
    assert program() == (str(tmp_path / "engramdown"),)
    (tmp_path / "engramdown").unlink()
    monkeypatch.setattr("shutil.which", lambda _: None)
    assert program()[:2] == (str(tmp_path / "python"), "-c")
    monkeypatch.setattr("shutil.which", lambda _: "/opt/engramdown")
    assert program() == ("/opt/engramdown",)
