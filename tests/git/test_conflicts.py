"""A real conflict in git: both sides are read, and nothing is retired or verified by it."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from engramdown import Hippocampus
from engramdown.git.driver import plan_setup, set_up

A = "- a <!-- id:aaaaaaaa source:llm ts:2026-01-01 -->\n"
B = "- b <!-- id:bbbbbbbb source:llm ts:2026-01-01 -->\n"
ENV = {f"GIT_{who}_{what}": "x" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}


def git(folder: Path, *arguments: str) -> int:
    env = {**os.environ, **ENV, "GIT_CONFIG_GLOBAL": os.devnull}
    done = subprocess.run(
        ["git", *arguments], cwd=folder, env=env, capture_output=True, check=False
    )
    return done.returncode


class Clone:
    """A repository whose ``lessons.md`` was changed on two branches."""

    def __init__(self, top: Path) -> None:
        """Make a repository in ``top`` with memory that the store knows."""
        self.top = top
        self.root = top / ".engramdown"
        self.file = self.root / "memory" / "lessons.md"
        git(top, "init", "--quiet", "--initial-branch=main")
        Hippocampus(self.root, "project").start()
        self.file.write_text(A + B, encoding="utf-8")
        set_up(plan_setup(self.root, hook=False))
        self.learn()
        self.commit()

    def commit(self) -> None:
        git(self.top, "add", "--all")
        assert git(self.top, "commit", "--quiet", "-m", "memory") == 0

    def change(self, old: str, new: str) -> None:
        text = self.file.read_text(encoding="utf-8").replace(old, new)
        self.file.write_text(text, encoding="utf-8")

    def part(self, ours: tuple[str, str], theirs: tuple[str, str]) -> None:
        """Change the file on two branches, and stay on ours."""
        git(self.top, "switch", "--quiet", "-c", "other")
        self.change(*theirs)
        self.commit()
        git(self.top, "switch", "--quiet", "main")
        self.change(*ours)
        self.learn()
        self.commit()

    def learn(self) -> None:
        """Let the store take in what there is, as every command does."""
        Hippocampus(self.root, "project").notice()

    def texts(self) -> list[str]:
        """Return what the store reads in ``lessons.md``, once it has taken in what there is."""
        self.learn()
        store = Hippocampus(self.root, "project")
        return [entry.text for entry in store.entries() if entry.file == "lessons.md"]

    def archive(self) -> str:
        path = self.root / "memory" / "archive.md"
        return path.read_text(encoding="utf-8") if path.exists() else ""


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    """Return a repository with memory."""
    return Clone(tmp_path)


@pytest.mark.parametrize("chosen", ["ours", "theirs", "neither"])
def test_a_conflict_retires_nothing_and_verifies_nothing(clone: Clone, chosen: str) -> None:
    clone.part(("- a", "- ours"), ("- a", "- theirs"))
    archived = clone.archive()
    assert git(clone.top, "merge", "other") == 1
    held = clone.file.read_text(encoding="utf-8")
    assert clone.texts() == ["ours", "theirs", "b"]
    assert clone.file.read_text(encoding="utf-8") == held
    words = A.replace("- a", f"- {chosen}")
    clone.file.write_text(words + B, encoding="utf-8")
    assert clone.texts() == [chosen, "b"]
    clone.commit()
    assert clone.texts() == [chosen, "b"]
    assert clone.file.read_text(encoding="utf-8") == words + B
    assert clone.archive() == archived


@pytest.mark.parametrize("how", ["merge", "stash"])
def test_what_git_brings_without_a_commit_is_no_edit_of_a_person(clone: Clone, how: str) -> None:
    clone.part(("- a", "- ours"), ("- b", "- theirs"))
    archived = clone.archive()
    if how == "stash":
        clone.change("- b", "- theirs")
        git(clone.top, "stash")
        assert clone.texts() == ["ours", "b"]
        archived = clone.archive()
        assert git(clone.top, "stash", "pop") == 0
    else:
        assert git(clone.top, "merge", "--no-commit", "--no-ff", "other") == 0
    assert clone.texts() == ["ours", "theirs"]
    assert clone.archive() == archived
    assert "verified" not in clone.file.read_text(encoding="utf-8")


def test_a_clone_without_the_driver_keeps_both_sides_between_markers(clone: Clone) -> None:
    git(clone.top, "config", "--remove-section", "merge.engramdown")
    more = "- {} <!-- id:{} source:llm ts:2026-01-02 -->\n"
    ours, theirs = more.format("ours", "cccccccc"), more.format("theirs", "dddddddd")
    clone.part((B, B + ours), (B, B + theirs))
    assert git(clone.top, "merge", "other") == 1
    assert clone.texts() == ["a", "b", "ours", "theirs"]
    clone.file.write_text(A + B + ours + theirs, encoding="utf-8")
    assert clone.texts() == ["a", "b", "ours", "theirs"]
    assert "verified" not in clone.file.read_text(encoding="utf-8")


COMMANDS = [
    ["list"],
    ["recall", "ours"],
    ["context"],
    ["remember", "The cache is warm on Mondays"],
    ["show", "bbbbbbbb"],
    ["history"],
    ["review"],
    ["list", "--json"],
]


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_says_once_that_both_sides_of_a_merge_are_memory(
    clone: Clone, child_env: dict[str, str], command: list[str]
) -> None:
    clone.part(("- a", "- ours"), ("- a", "- theirs"))
    assert git(clone.top, "merge", "other") == 1
    done = engramdown(clone.top, child_env, *command)
    said = f"{clone.file}:1: an unresolved merge; both sides are memory until"
    assert [line for line in done.stderr.split("\n") if "unresolved merge" in line] == [
        found for found in done.stderr.split("\n") if said in found
    ]
    assert done.stderr.count("unresolved merge") == 1
    clone.file.write_text(A + B, encoding="utf-8")
    assert "unresolved merge" not in engramdown(clone.top, child_env, *command).stderr


def test_a_session_begins_with_the_merge_that_is_left(
    clone: Clone, child_env: dict[str, str]
) -> None:
    clone.part(("- a", "- ours"), ("- a", "- theirs"))
    assert git(clone.top, "merge", "other") == 1
    (clone.root / "memory" / "soul.md").write_text("<<<<<<< ours\na\n", encoding="utf-8")
    payload = json.dumps(
        {"session_id": "s1", "hook_event_name": "SessionStart", "cwd": str(clone.top)}
    )
    told = engramdown(clone.top, child_env, "hook", stdin=payload).stdout
    assert f"{clone.file}:1: an unresolved merge and in 1 more" in told


def engramdown(
    folder: Path, env: dict[str, str], *arguments: str, stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["engramdown", *arguments],
        cwd=folder,
        env=env,
        input=stdin,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
