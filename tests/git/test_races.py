"""What an assistant learns while real git is in the middle of replacing the memory file."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from engramdown.hippocampus import changeset, git_state
from engramdown.hippocampus.store import Hippocampus
from engramdown.storage.disk import Disk
from tests.git.desk import Desk

RULES: Final = ".engramdown/memory/rules.md"
ROOT: Final = Path(__file__).parents[2]
LEARN: Final = """\
import sys
from engramdown.hippocampus.store import Hippocampus
Hippocampus(sys.argv[1]).encode_rule("Learned meanwhile", "always")
open(sys.argv[2], "w", encoding="utf-8").close()
"""
# git brings files in the order of their names.
BEFORE, BEHIND = ".before", "zz-behind"


class Racing:
    """A repository in which a program learns while git brings a certain file."""

    def __init__(self, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Keep a rule on two branches, each of which has one more, and stay on main."""
        monkeypatch.setenv("PYTHONPATH", str(ROOT))
        self.desk = Desk(place / "work")
        self.root = self.desk.top / ".engramdown"
        self._done = place / "done"
        self._program = place / "learn.py"
        self._program.write_text(LEARN, encoding="utf-8")
        self.learn("From the beginning")
        self.desk.write(".gitattributes", f"{BEFORE} filter=now\n{BEHIND} filter=now\n")
        self.commit("0")
        self.desk.git("switch", "--quiet", "-c", "other")
        self.learn("On other")
        self.commit("1")
        self.desk.git("switch", "--quiet", "main")
        self.texts()

    def learn(self, text: str) -> None:
        Hippocampus(self.root).encode_rule(text, "always")

    def commit(self, text: str) -> None:
        for name in (BEFORE, BEHIND):
            self.desk.write(name, text)
        self.desk.commit()

    def race(self, *how: str, behind: bool = False) -> None:
        """Run git; what is learned meanwhile is acknowledged at the end."""
        call = f"'{sys.executable}' '{self._program}' '{self.root}' '{self._done}' >&2"
        # Behind memory nothing is learned before git has finished, which would wait for it.
        run = f"{{ {call} & }} 2>/dev/null" if behind else call
        name = BEHIND if behind else BEFORE
        self.desk.git("config", "filter.now.smudge", f"case %f in {name}) {run};; esac; cat")
        self.desk.git(*how)
        self.desk.git("config", "--unset", "filter.now.smudge")
        while not self._done.exists():
            time.sleep(0.01)

    def texts(self) -> set[str]:
        store = Hippocampus(self.root)
        store.notice()
        assert store.archived() == []
        return {entry.text for entry in store.entries()}

    def acts(self) -> list[str]:
        return [step.op for step in Hippocampus(self.root).history()]


class Late(Disk):
    """Lets git run right before a file takes the place of another, once."""

    def __init__(self, run: Callable[[], object]) -> None:
        """Call ``run`` then."""
        super().__init__()
        self._runs = [run]

    def exchange(self, new: Path, path: Path) -> None:
        if self._runs:
            self._runs.pop()()
        super().exchange(new, path)


@pytest.fixture
def racing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Racing:
    """Return a repository with two branches."""
    return Racing(tmp_path, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("behind", [False, True], ids=["before", "behind"])
@pytest.mark.parametrize(
    "how", [("merge", "--quiet", "other"), ("switch", "--quiet", "other")], ids=lambda how: how[0]
)
def test_what_is_learned_while_git_brings_files_stays(
    racing: Racing, how: tuple[str, ...], *, behind: bool
) -> None:
    racing.race(*how, behind=behind)
    assert racing.texts() == {"From the beginning", "On other", "Learned meanwhile"}


@pytest.mark.parametrize("how", ["merge", "switch"])
def test_what_git_brings_in_the_last_moment_is_no_edit(racing: Racing, how: str) -> None:
    if how == "switch":
        racing.learn("On main")
        racing.commit("2")
        racing.texts()
    move = Late(lambda: racing.desk.git(how, "--quiet", "other"))
    Hippocampus(racing.root, disk=move).encode_rule("Learned meanwhile", "always")
    assert racing.texts() == {"From the beginning", "On other", "Learned meanwhile"}
    assert not (racing.root / "memory/pending.md").exists()
    # What was written is, and then what git brought, with that carried over.
    assert racing.acts()[-3:] == ["encode", "checkout", "notice"]


def test_who_commits_what_stands_in_its_place_meanwhile_loses_nothing(
    racing: Racing, monkeypatch: pytest.MonkeyPatch
) -> None:
    move = Late(lambda: racing.desk.git("merge", "--quiet", "other"))
    look = git_state.is_brought

    def committed(path: Path, disk: Disk, where: Path) -> bool:
        racing.commit("2")
        return look(path, disk, where)

    monkeypatch.setattr(git_state, "is_brought", committed)
    Hippocampus(racing.root, disk=move).encode_rule("Learned meanwhile", "always")
    assert racing.texts() == {"From the beginning", "On other", "Learned meanwhile"}


def test_what_git_went_on_from_meanwhile_is_not_brought_again(
    racing: Racing, monkeypatch: pytest.MonkeyPatch
) -> None:
    move = Late(lambda: racing.desk.git("merge", "--quiet", "other"))
    look = git_state.is_brought

    def gone_on(path: Path, disk: Disk, where: Path) -> bool:
        if racing.desk.git("branch", "--list", "next") == "":
            racing.commit("2")
            racing.desk.git("switch", "--quiet", "-c", "next")
            racing.desk.write(RULES, "# Rules\n\n## Always\n\n- On next\n")
            racing.desk.commit()
            racing.desk.git("switch", "--quiet", "main")
            racing.desk.git("switch", "--quiet", "next")
        return look(path, disk, where)

    monkeypatch.setattr(git_state, "is_brought", gone_on)
    Hippocampus(racing.root, disk=move).encode_rule("Learned meanwhile", "always")
    assert racing.texts() == {"On next"}
    assert "Learned meanwhile" in racing.desk.git("show", f"main:{RULES}")


def test_what_a_person_saves_in_the_last_moment_is_an_edit_though_git_knows_it(
    racing: Racing,
) -> None:
    racing.learn("On main")
    racing.commit("2")
    racing.texts()
    known = racing.desk.git("show", f"HEAD~1:{RULES}")
    save = Late(lambda: racing.desk.write(RULES, known))
    Hippocampus(racing.root, disk=save).encode_rule("Learned meanwhile", "always")
    assert racing.acts()[-2:] == ["meanwhile", "notice"]


def test_what_is_learned_stays_however_often_git_moved_a_moment_ago(racing: Racing) -> None:
    log = racing.desk.top / ".git" / "logs" / "HEAD"
    last = log.read_bytes().split(b"\n")[-2]
    head = last.split(b" ")[1]
    line = b"%b %b Ada <ada@example.org> %d +0000\tcommit: Memory\n" % (head, head, time.time())
    log.write_bytes(line * 500)  # more than we read of a log
    racing.race("merge", "--quiet", "other")
    assert racing.texts() == {"From the beginning", "On other", "Learned meanwhile"}


@pytest.mark.slow
def test_what_was_stashed_is_in_the_stash_and_what_came_after_that_stays(racing: Racing) -> None:
    racing.learn("To be stashed")
    racing.desk.write(BEFORE, "mine")
    racing.race("stash", "--quiet")
    assert racing.texts() == {"From the beginning", "Learned meanwhile"}
    assert "To be stashed" in racing.desk.git("show", f"stash:{RULES}")


@pytest.mark.slow
@pytest.mark.parametrize("how", ["reset", "merge"])
def test_what_git_takes_back_is_gone_but_for_the_last_two_seconds(
    how: str, racing: Racing, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as earlier:
        earlier.setattr(changeset, "moment", lambda: "2026-01-02T03:04:05.000000Z")
        racing.learn("Long ago")
    racing.learn("Just now")
    if how == "reset":
        racing.desk.git("reset", "--hard", "--quiet")
    else:
        # One that is refused notes where it began, and then takes the files back.
        racing.desk.git("update-ref", "ORIG_HEAD", "HEAD")
        racing.desk.git("checkout", "--quiet", "--", RULES)
    store = Hippocampus(racing.root)
    store.notice()
    assert [entry.text for entry in store.entries()] == ["From the beginning", "Just now"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "before",
    [
        pytest.param(("status",), id="loose"),
        pytest.param(("gc", "--quiet", "--prune=now"), id="packed"),
        pytest.param(("config", "core.splitIndex", "true"), id="split-index"),
        pytest.param(("config", "core.autocrlf", "true"), id="autocrlf"),
    ],
)
def test_what_was_committed_a_moment_ago_stays_on_its_branch(
    racing: Racing, before: tuple[str, ...]
) -> None:
    racing.learn("On main")
    racing.desk.commit()
    racing.desk.git(*before)
    racing.desk.git("switch", "--quiet", "other")
    assert racing.texts() == {"From the beginning", "On other"}
    racing.desk.git("switch", "--quiet", "main")
    assert racing.texts() == {"From the beginning", "On main"}


@pytest.mark.slow
@pytest.mark.parametrize("form", ["sha1", "sha256"])
def test_a_second_work_tree_switches_at_once(tmp_path: Path, form: str) -> None:
    desk = Desk(tmp_path / "work", init=False)
    desk.top.mkdir()
    desk.git("init", "--quiet", f"--object-format={form}", "--initial-branch=main", ".")
    Hippocampus(desk.top / ".engramdown").encode_rule("From the beginning", "always")
    desk.commit()
    desk.git("worktree", "add", "--quiet", "-b", "other", str(tmp_path / "second"))
    second = Desk(tmp_path / "second", init=False)
    store = Hippocampus(second.top / ".engramdown")
    store.encode_rule("On other", "always")
    second.commit()
    second.git("switch", "--quiet", "-c", "third", "main")
    store.notice()
    assert [entry.text for entry in store.entries()] == ["From the beginning"]
    assert store.archived() == []


def test_what_a_refused_merge_puts_back_takes_nothing_away(racing: Racing) -> None:
    """It keeps what is not committed as an object, takes it back, and writes it once more."""
    racing.learn("Found by the merge")
    path = racing.desk.top / RULES
    found = path.read_bytes()
    racing.desk.git("hash-object", "-w", RULES)
    racing.learn("Learned meanwhile")
    racing.desk.git("read-tree", "-u", "--reset", "HEAD")
    path.unlink()
    path.write_bytes(found)
    assert racing.texts() == {"From the beginning", "Found by the merge", "Learned meanwhile"}


def test_a_broken_object_is_in_doubt_what_git_knows(racing: Racing) -> None:
    racing.learn("On main")
    commit = racing.desk.commit()
    place = racing.desk.top / ".git" / "objects" / commit[:2] / commit[2:]
    whole = place.read_bytes()
    racing.desk.git("switch", "--quiet", "other")
    os.chmod(place, 0o644)  # noqa: PTH101 - git makes it read-only
    place.write_bytes(b"no object")
    assert racing.texts() == {"From the beginning", "On other"}
    place.write_bytes(whole)


@pytest.mark.slow
def test_git_is_waited_for_in_vain(racing: Racing) -> None:
    """An index that stays locked, by a commit whose message is being written, keeps nobody out."""
    lock = racing.desk.top / ".git" / "index.lock"
    lock.touch()
    path = racing.desk.top / RULES
    path.write_text(path.read_text(encoding="utf-8") + "- By hand\n", encoding="utf-8")
    assert racing.texts() == {"From the beginning", "By hand"}
    assert subprocess.run(["git", "status"], cwd=racing.desk.top, check=False).returncode == 0
