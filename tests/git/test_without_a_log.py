"""git moves, and keeps no log of it: nothing that it took away was deleted by a person.

Where git does keep one, what was learned right before it put a file away is not lost either.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from engramdown import Cortex, Engram
from engramdown.hippocampus import git_state
from engramdown.hippocampus.store import Hippocampus
from engramdown.storage.disk import Disk
from tests.git.desk import Desk

RULES: Final = ".engramdown/memory/rules.md"


class Place:
    """A project under git, and what an assistant learns in it."""

    def __init__(self, top: Path, *settings: str, form: str = "sha1") -> None:
        """Begin with a commit that holds one rule."""
        self.desk = Desk(top, init=False)
        top.mkdir(parents=True)
        refs = [each for each in settings if each.startswith("--")]
        self.desk.git(
            "init", "--quiet", f"--object-format={form}", *refs, "--initial-branch=main", "."
        )
        for setting in [each for each in settings if each not in refs]:
            self.desk.git("config", *setting.split("="))
        self.learn("From the beginning")
        self.desk.commit()

    @property
    def store(self) -> Hippocampus:
        return Hippocampus(self.desk.top / ".engramdown", disk=Disk(durable=False))

    def learn(self, text: str) -> None:
        self.store.encode_rule(text, "always", source="user")

    def keep(self, text: str) -> None:
        self.learn(text)
        self.desk.commit()

    def delete(self, text: str) -> None:
        """Take a line out by hand."""
        path = self.desk.top / RULES
        lines = path.read_text(encoding="utf-8").split("\n")
        path.write_text("\n".join(each for each in lines if text not in each), encoding="utf-8")

    def texts(self) -> set[str]:
        self.store.notice()
        return {entry.text for entry in self.store.entries()}

    def deleted(self) -> set[str]:
        self.store.notice()
        return {item.entry.text for item in self.store.archived()}


def knows_tables() -> bool:
    """Whether git here can keep references in tables, as it can from 2.45 on."""
    said = subprocess.run(["git", "init", "-h"], capture_output=True, encoding="utf-8", check=False)
    return "--ref-format" in said.stdout + said.stderr or "--[no-]ref-format" in said.stdout


TABLES: Final = {"tables": ("--ref-format=reftable",)}
SETTINGS: Final = {
    "no-log": ("core.logAllRefUpdates=false",),
    "no-log-v4": ("core.logAllRefUpdates=false", "index.version=4"),
    "no-log-split": ("core.logAllRefUpdates=false", "core.splitIndex=true"),
    "log": (),
    **(TABLES if knows_tables() else {}),
}


@pytest.fixture(params=SETTINGS)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """Return a project whose git keeps no log, or does."""
    return Place(tmp_path / "work", *SETTINGS[request.param])


@pytest.fixture
def unlogged(tmp_path: Path) -> Place:
    """Return a project whose git keeps no log."""
    return Place(tmp_path / "work", *SETTINGS["no-log"])


def switch(place: Place) -> None:
    place.desk.git("switch", "--quiet", "main")


def reset(place: Place) -> None:
    place.desk.git("reset", "--quiet", "--hard", "main")


def detach(place: Place) -> None:
    place.desk.git("checkout", "--quiet", "--detach", "main")


def revert(place: Place) -> None:
    place.desk.git("revert", "--no-edit", "HEAD")


def unseen(place: Place) -> None:
    for branch in ("main", "other", "main"):
        place.desk.git("switch", "--quiet", branch)


def pull(place: Place) -> None:
    others = place.desk.top.with_name("others")
    place.desk.git("clone", "--quiet", "--branch=other", str(place.desk.top), str(others))
    Desk(others, author="Bea", init=False).git("revert", "--no-edit", "HEAD")
    place.desk.git("pull", "--quiet", "--ff-only", str(others), "other")


def rebase(place: Place) -> None:
    place.desk.git("rebase", "--quiet", "--onto", "main", "other")


def pack(place: Place) -> None:
    place.desk.git("pack-refs", "--all")
    place.desk.git("switch", "--quiet", "main")


@pytest.mark.slow
@pytest.mark.parametrize(
    "move",
    [switch, reset, detach, revert, unseen, pull, rebase, pack],
    ids=lambda move: move.__name__,
)
def test_what_git_took_away_nobody_deleted(place: Place, move: Callable[[Place], None]) -> None:
    place.desk.git("switch", "--quiet", "--create", "other")
    place.keep("On other")
    move(place)
    assert place.texts() == {"From the beginning"}
    assert place.deleted() == set()
    place.desk.git("switch", "--quiet", "--force", "other")
    place.desk.git("reset", "--quiet", "--hard", "other")
    assert place.deleted() == set()


def test_what_git_took_away_may_be_proposed_again(unlogged: Place) -> None:
    unlogged.desk.git("switch", "--quiet", "--create", "other")
    unlogged.keep("Deploy on Mondays")
    switch(unlogged)
    cortex = Cortex.open(project=unlogged.desk.top)
    engram = Engram("Deploy on Mondays", "always", "project", "high", source="llm")
    assert [receipt.action for receipt in cortex.propose(engram)] == ["encoded"]


def test_a_log_that_was_thrown_away_tells_of_no_deletion(tmp_path: Path) -> None:
    place = Place(tmp_path / "work")
    place.desk.git("switch", "--quiet", "--create", "other")
    place.keep("On other")
    shutil.rmtree(place.desk.top / ".git" / "logs")
    place.desk.git("config", "core.logAllRefUpdates", "false")
    switch(place)
    assert place.texts() == {"From the beginning"}
    assert place.deleted() == set()


def test_a_log_that_begins_behind_a_move_does_not_tell_of_it(tmp_path: Path) -> None:
    place = Place(tmp_path / "work", "core.logAllRefUpdates=false")
    place.desk.git("switch", "--quiet", "--create", "other")
    place.keep("On other")
    switch(place)
    place.desk.git("config", "core.logAllRefUpdates", "true")
    place.desk.write("README", "More.\n")
    place.desk.commit()
    assert place.texts() == {"From the beginning"}
    assert place.deleted() == set()


@pytest.mark.slow
def test_a_log_that_stands_elsewhere_is_asked_of_git(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a repository keeps it whose references are in tables: its folder has no ``logs``."""
    place = Place(tmp_path / "work")
    place.keep("On main")
    top = place.desk.top
    work = git_state.WorkTree(top, top / ".git", Disk())
    log = work.log()
    assert [(move.brings, move.commit) for move in log[:1]] == [
        (False, place.desk.git("rev-parse", "HEAD").strip())
    ]
    shutil.rmtree(place.desk.top / ".git" / "logs")
    place.desk.git("config", "core.logAllRefUpdates", "false")
    monkeypatch.setattr(git_state.WorkTree, "log", lambda _: log)
    place.delete("On main")
    place.desk.git("commit", "--quiet", "--all", "--message", "By hand")
    head = place.desk.git("rev-parse", "HEAD").strip()
    log.insert(0, git_state.Move(head, int(time.time()), brings=False))
    assert place.deleted() == {"On main"}
    place.keep("Once more")
    reset_to = place.desk.git("rev-parse", "HEAD~1").strip()
    place.desk.git("reset", "--quiet", "--hard", reset_to)
    log.insert(0, git_state.Move(reset_to, int(time.time()) + 1, brings=True))
    assert "Once more" not in place.texts() | place.deleted()


def test_without_git_to_ask_what_it_writes_when_it_moves_has_to_do(
    unlogged: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    unlogged.desk.git("switch", "--quiet", "--create", "other")
    unlogged.keep("On other")
    switch(unlogged)
    monkeypatch.setenv("PATH", "")
    assert unlogged.deleted() == set()
    assert {entry.text for entry in unlogged.store.entries()} == {"From the beginning"}


@pytest.mark.slow
@pytest.mark.parametrize("form", ["sha1", "sha256"])
def test_a_second_work_tree_keeps_no_log_either(tmp_path: Path, form: str) -> None:
    place = Place(tmp_path / "work", "core.logAllRefUpdates=false", form=form)
    place.keep("On main")
    second = tmp_path / "second"
    place.desk.git("worktree", "add", "--quiet", "-b", "other", str(second))
    place.desk = Desk(second, init=False)
    place.keep("On other")
    place.desk.git("switch", "--quiet", "--create", "third", "main")
    assert (place.texts(), place.deleted()) == ({"From the beginning", "On main"}, set())
    place.desk.git("reset", "--quiet", "--hard", "main~1")
    assert (place.texts(), place.deleted()) == ({"From the beginning"}, set())


def test_a_repository_that_only_the_environment_names_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = Place(tmp_path / "work")
    place.desk.git("switch", "--quiet", "--create", "other")
    place.keep("On other")
    (place.desk.top / ".git").rename(tmp_path / "elsewhere")
    where = {"GIT_DIR": str(tmp_path / "elsewhere"), "GIT_WORK_TREE": str(place.desk.top)}
    place.desk.git("switch", "--quiet", "main", env=where)
    for name, value in where.items():
        monkeypatch.setenv(name, value)
    assert (place.texts(), place.deleted()) == ({"From the beginning"}, set())


# ---- what a person deletes ----


def test_what_a_person_deletes_is_deleted_where_git_did_not_move(place: Place) -> None:
    place.learn("By hand gone")
    place.keep("Stays")
    place.delete("By hand gone")
    place.desk.git("status")
    assert place.deleted() == {"By hand gone"}
    cortex = Cortex.open(project=place.desk.top)
    engram = Engram("By hand gone", "always", "project", "high", source="llm")
    assert [receipt.action for receipt in cortex.propose(engram)] == ["discarded"]


@pytest.mark.slow
def test_what_a_person_deletes_that_was_not_committed_is_deleted(place: Place) -> None:
    place.learn("Not committed")
    place.delete("Not committed")
    assert place.deleted() == {"Not committed"}


def test_what_a_person_deletes_after_a_move_that_was_seen_is_deleted(unlogged: Place) -> None:
    unlogged.learn("By hand gone")
    unlogged.keep("Stays")
    unlogged.desk.git("switch", "--quiet", "--create", "other")
    unlogged.keep("On other")
    switch(unlogged)
    assert unlogged.deleted() == set()
    unlogged.delete("By hand gone")
    assert unlogged.deleted() == {"By hand gone"}


def test_what_a_person_deletes_outside_of_git_is_deleted(tmp_path: Path) -> None:
    place = Place(tmp_path / "work")
    shutil.rmtree(place.desk.top / ".git")
    place.learn("By hand gone")
    place.delete("By hand gone")
    assert place.deleted() == {"By hand gone"}


def test_git_is_not_run_where_nothing_changed_nor_where_it_did_nothing(
    unlogged: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[object] = []

    def ask(*args: object) -> tuple[int, bytes, bytes]:
        ran.append(args)
        return 1, b"", b""

    monkeypatch.setattr(git_state, "ask", ask)
    unlogged.store.notice()
    unlogged.learn("Learned")
    unlogged.delete("Learned")
    assert unlogged.deleted() == {"Learned"}
    assert not ran


# ---- what is learned while git puts a file away ----


def stash(place: Place) -> None:
    """Do what ``git stash`` does, and let an assistant learn in the middle of it."""
    commit = place.desk.git("stash", "create").strip()
    place.desk.git("stash", "store", commit)
    place.learn("Learned meanwhile")
    place.desk.git("reset", "--quiet", "--hard")


ALL: Final = {"From the beginning", "Not committed", "Learned meanwhile"}


@pytest.mark.slow
@pytest.mark.parametrize("back", ["pop", "apply"])
@pytest.mark.parametrize("seconds", [0, 3], ids=["at-once", "later"])
def test_what_is_learned_in_a_stash_is_there_when_that_is_put_back(
    place: Place, back: str, seconds: int
) -> None:
    place.learn("Not committed")
    stash(place)
    time.sleep(seconds)
    place.desk.git("stash", back, "--quiet")
    assert (place.texts(), place.deleted()) == (ALL, set())


@pytest.mark.slow
def test_what_is_learned_in_a_stash_is_there_meanwhile(place: Place) -> None:
    place.learn("Not committed")
    stash(place)
    assert (place.texts(), place.deleted()) == ({"From the beginning", "Learned meanwhile"}, set())
    place.desk.commit()
    place.desk.write(".gitattributes", "*.md merge=union\n")
    place.desk.git("stash", "pop", "--quiet")
    assert (place.texts(), place.deleted()) == (ALL, set())


@pytest.mark.slow
def test_what_is_stashed_twice_is_nowhere_doubled_or_deleted(place: Place) -> None:
    place.learn("Not committed")
    for _ in range(2):
        place.desk.git("stash", "--quiet")
        assert (place.texts(), place.deleted()) == ({"From the beginning"}, set())
        place.desk.git("stash", "pop", "--quiet")
        assert (place.texts(), place.deleted()) == (ALL - {"Learned meanwhile"}, set())
    text = (place.desk.top / RULES).read_text(encoding="utf-8")
    assert text.count("Not committed") == 1


@pytest.mark.slow
def test_what_is_not_committed_survives_a_rebase_that_stashes_it(place: Place) -> None:
    place.desk.git("branch", "side")
    place.keep("On main")
    place.desk.git("switch", "--quiet", "side")
    place.desk.write("README", "More.\n")
    place.desk.commit()
    place.desk.write(".git/info/attributes", "*.md merge=union\n")
    place.learn("Not committed")
    place.desk.git("rebase", "--quiet", "--autostash", "main")
    assert place.texts() == {"From the beginning", "On main", "Not committed"}
    assert place.deleted() == set()


@pytest.mark.slow
def test_a_shallow_clone_switches(place: Place, tmp_path: Path) -> None:
    place.keep("On main")
    place.desk.git("branch", "old", "HEAD~1")
    clone, source = tmp_path / "clone", f"file://{place.desk.top}"
    place.desk.git("clone", "--quiet", "--depth=1", "--no-single-branch", source, str(clone))
    place.desk = Desk(clone, init=False)
    place.keep("Here")
    place.desk.git("switch", "--quiet", "old")
    assert (place.texts(), place.deleted()) == ({"From the beginning"}, set())
    assert os.path.lexists(clone / ".git" / "shallow")
