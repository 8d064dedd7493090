"""``init --git`` shows what it sets up, and says what there is to do where it cannot."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import Runner


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in a new repository."""
    monkeypatch.chdir(tmp_path)
    subprocess.run(["git", "init", "--quiet"], check=True)
    return tmp_path


def test_it_shows_first_what_it_would_do(run: Runner, clone: Path) -> None:
    out = run.ok("init", "--no-global", "--git", "--hook", "--dry-run").out
    for shown in ("/.engramdown/memory/**/*.md merge=engramdown", "merge.engramdown.driver"):
        assert shown in out
    assert [path.name for path in clone.iterdir()] == [".git"]


def test_it_is_done_once_and_can_be_taken_back(run: Runner, clone: Path) -> None:
    out = run.ok("init", "--no-global", "--git", "--hook").out
    undo = "git config --local --remove-section merge.engramdown"
    assert undo in out
    assert str(clone / ".git" / "hooks" / "pre-commit") in out
    assert "git knows how to merge memory" in run.ok("init", "--git", "--hook").out
    said = run.ok("init", "--git", "--json").json["git"]
    assert (said["attributes_changed"], said["settings"]) == (False, {})
    assert "no-merge-driver" not in run.ok("doctor").out
    subprocess.run(undo.split(), check=True)
    assert "no-merge-driver" in run.ok("doctor").out
    assert "merge.engramdown.driver" in run.ok("init", "--git").out


def test_a_hook_of_a_person_is_named_with_what_to_add(run: Runner, clone: Path) -> None:
    hook = clone / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("mine\n", encoding="utf-8")
    out = run.ok("init", "--no-global", "--git", "--hook").out
    assert "doctor --staged" in out
    assert hook.read_text(encoding="utf-8") == "mine\n"


def test_outside_of_a_repository_it_says_so_and_makes_nothing(
    run: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run("init", "--no-global", "--git")
    assert (done.code, "git init" in done.err) == (1, True)
    assert not [*tmp_path.iterdir()]


def test_the_hook_belongs_to_git(run: Runner) -> None:
    assert run("init", "--hook").code == 2


def test_the_driver_merges_as_git_calls_it(run: Runner, clone: Path) -> None:
    for name, text in (("-O", "- a\n"), ("-A", "- a\n- b\n"), ("-B", "- a\n- c\n")):
        (clone / name).write_text(text, encoding="utf-8")
    path = ".engramdown/memory/lessons.md"
    more = ("7", "%S", "%X", "%Y")  # as an older git passes them on
    assert run("merge-driver", "-O", "-A", "-B", path, *more).code == 0
    assert (clone / "-A").read_text(encoding="utf-8") == "- a\n- b\n- c\n"


def test_the_driver_uses_the_names_that_git_gives(run: Runner, clone: Path) -> None:
    for name, text in (("O", "- a b c\n"), ("A", "- a b d\n"), ("B", "- a b e\n")):
        (clone / name).write_text(text, encoding="utf-8")
    done = run("merge-driver", "O", "A", "B", "memory/lessons.md", "9", "old", "HEAD", "topic")
    said = (clone / "A").read_text(encoding="utf-8")
    assert (done.code, said) == (
        1,
        f"{'<' * 9} HEAD\n- a b d\n{'=' * 9}\n- a b e\n{'>' * 9} topic\n",
    )
    assert run("merge-driver", "O", "A", "B", "memory/soul.md").err
