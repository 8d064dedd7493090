"""What git is asked, with real git: safely, and with a plain word where it has no answer."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Final

import pytest

from engramdown.errors import GitError
from engramdown.git.repository import Repository, Staged, find_repository
from engramdown.storage import git_program as program
from tests.git.desk import Desk

LESSONS: Final = ".engramdown/memory/lessons.md"
FOLDER: Final = ".engramdown/memory"


def every(name: str) -> bool:
    return bool(name)


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """Sit in a repository with two commits; no one has told git anything."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    desk = Desk(tmp_path / "work")
    desk.write(LESSONS, "- One\n")
    desk.commit("Begin")
    desk.write(LESSONS, "- One\n- Two <!-- id:k3v9q2ht -->\n")
    desk.write("src/main.py", "print()\n")
    desk.commit("Learn\n\nMore words")
    return desk


def test_a_repository_is_found_from_any_folder_in_it(desk: Desk) -> None:
    for place in ("", ".engramdown", "src"):
        found = find_repository(desk.top / place)
        assert found.top == desk.top.resolve()
        assert found.folder == (desk.top / ".git").resolve()
        assert found.relative(desk.top / place) == place


def test_the_files_of_a_commit_are_read_as_they_were(desk: Desk) -> None:
    found = find_repository(desk.top)
    now, before = found.commit("HEAD"), found.commit("HEAD~1")
    assert found.files(now.id, FOLDER, every) == {
        "lessons.md": b"- One\n- Two <!-- id:k3v9q2ht -->\n"
    }
    assert found.files(before.id, FOLDER, every) == {"lessons.md": b"- One\n"}
    assert set(found.files(now.id, "", every)) == {LESSONS, "src/main.py"}
    assert found.files(now.id, FOLDER, lambda name: name == "rules.md") == {}
    assert found.files(now.id, "nowhere", every) == {}


def test_a_commit_has_its_author_its_date_and_its_subject(desk: Desk) -> None:
    found = find_repository(desk.top).commit("main")
    assert (found.author, found.subject) == ("Ada", "Learn")
    assert found.id.startswith(found.short)
    assert found.date[:2] == "20"


def test_bytes_names_and_line_ends_come_back_exactly(desk: Desk) -> None:
    name = f'{FOLDER}/topics/ä \n"q".md'
    data = b"\xff\r\n\0 \xe2\x80\xa8"
    path = desk.write(name, "")
    path.write_bytes(data)
    desk.write(".gitattributes", "* text=auto eol=crlf\n*.md -text\n")
    desk.commit()
    found = find_repository(desk.top)
    assert found.files("HEAD", FOLDER, every)['topics/ä \n"q".md'] == data


def test_links_and_submodules_are_no_files(desk: Desk, tmp_path: Path) -> None:
    other = Desk(tmp_path / "other")
    other.write("a.md", "- a\n")
    other.commit()
    (desk.top / FOLDER / "rules.md").symlink_to("/etc/passwd")
    desk.git(
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "add",
        str(other.top),
        f"{FOLDER}/sub",
    )
    desk.commit()
    assert set(find_repository(desk.top).files("HEAD", FOLDER, every)) == {"lessons.md"}


@pytest.mark.parametrize(
    "rev", ["", "-1", "--output=x", "no-such", "HEAD:src", "a\0b", "a\nb", "HEAD~99"]
)
def test_what_names_no_commit_is_refused_with_a_next_step(desk: Desk, rev: str) -> None:
    with pytest.raises(GitError, match=r"names no commit.*git log"):
        find_repository(desk.top).commit(rev)
    assert not (desk.top / "x").exists()


def test_without_a_commit_it_says_so(tmp_path: Path) -> None:
    found = find_repository(Desk(tmp_path / "new").top)
    assert not found.has_commits()
    assert found.first_with("id:k3v9q2ht", "") is None
    with pytest.raises(GitError, match="nothing was committed yet"):
        found.commit("HEAD")


def test_outside_of_a_repository_it_says_so(tmp_path: Path) -> None:
    with pytest.raises(GitError, match="is in no git repository; `git init`"):
        find_repository(tmp_path)


def test_a_bare_repository_has_no_memory(tmp_path: Path) -> None:
    bare = tmp_path / "bare.git"
    bare.mkdir()
    Desk(bare, init=False).git("init", "--quiet", "--bare", ".")
    with pytest.raises(GitError, match="without a work tree"):
        find_repository(bare)


def test_without_git_it_says_so(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    # A program of that name in the folder that is looked at is none of ours.
    desk.write("git", "#!/bin/sh\ntouch ran\n").chmod(0o755)
    monkeypatch.chdir(desk.top)
    monkeypatch.setenv("PATH", os.pathsep.join([".", "", str(desk.top / "none")]))
    with pytest.raises(GitError, match="git is not installed"):
        find_repository(desk.top)
    assert not (desk.top / "ran").exists()


def test_a_folder_of_somebody_else_is_told_with_what_to_do() -> None:
    said = program.complaint(
        Path("/srv/x y/.engramdown"),
        b"fatal: detected dubious ownership in repository at '/srv/x y'\nTo add an exception...\n",
    )
    assert said.endswith("git config --global --add safe.directory '/srv/x y'")
    assert "\n" not in said


def test_another_complaint_is_told_in_one_line() -> None:
    said = program.complaint(Path("/x"), b"warning: odd\nfatal: bad object\nhint: more\n")
    assert said == "/x: git: bad object"
    assert program.complaint(Path("/x"), b"") == ""


def test_what_takes_too_long_is_stopped(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    found = find_repository(desk.top)
    monkeypatch.setattr(program, "_SECONDS", 0.0)
    with pytest.raises(GitError, match="took more than 0 s"):
        found.commit("HEAD")


def test_an_object_that_is_missing_is_told(desk: Desk) -> None:
    blob = desk.git("rev-parse", f"HEAD:{LESSONS}").strip()
    (desk.top / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(GitError, match="is missing; `git fsck`"):
        find_repository(desk.top).files("HEAD", FOLDER, every)


def test_nothing_that_a_repository_names_is_run(desk: Desk, tmp_path: Path) -> None:
    """A repository that was cloned or unpacked may say anything in its settings."""
    ran = tmp_path / "ran"
    evil = tmp_path / "evil"
    evil.write_text(f'#!/bin/sh\necho "$0 $*" >> {ran}\ncat\n', encoding="utf-8")
    evil.chmod(0o755)
    hooks = desk.top / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("post-index-change", "reference-transaction", "fsmonitor-watchman", "pre-commit"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {ran}\n", encoding="utf-8")
        (hooks / name).chmod(0o755)
    for key in (
        *("core.fsmonitor", "core.pager", "pager.log", "pager.diff", "core.editor", "core.askPass"),
        *("diff.external", "diff.evil.textconv", "diff.evil.command", "gpg.program"),
        *("filter.evil.clean", "filter.evil.smudge", "core.sshCommand", "core.gitProxy"),
        *("credential.helper", "core.alternateRefsCommand", "uploadpack.packObjectsHook"),
    ):
        desk.git("config", key, str(evil))
    for key in ("log.showSignature", "core.untrackedCache", "log.mailmap", "filter.evil.required"):
        desk.git("config", key, "true")
    desk.git("config", "alias.log", f"!{evil}")
    desk.git("config", "core.hooksPath", str(hooks))
    desk.write(".git/info/attributes", "*.md diff=evil filter=evil\n")
    sign(desk)
    # An object that is fetched when it is missing, from a remote that is a program.
    for key, value in (
        ("remote.origin.url", f"ext::{evil}"),
        ("remote.origin.promisor", "true"),
        ("protocol.ext.allow", "always"),
        ("extensions.partialClone", "origin"),
        ("core.repositoryFormatVersion", "1"),
    ):
        desk.git("config", key, value)
    desk.write(LESSONS, "- Three\n")
    os.utime(desk.top / LESSONS, (0, 0))
    ran.unlink(missing_ok=True)
    found = find_repository(desk.top)
    ask_everything(found)
    blob = found.indexed(FOLDER)["lessons.md"]
    (desk.top / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(GitError):
        found.files("HEAD", FOLDER, every)
    assert not ran.exists(), ran.read_text(encoding="utf-8")
    # Whoever asks without care runs it.
    for careless in (["log", "-1"], ["status"]):
        env = {**desk.env, "GIT_NO_LAZY_FETCH": "1"}
        subprocess.run(["git", *careless], cwd=desk.top, env=env, capture_output=True, check=False)
        assert ran.exists(), careless
        ran.unlink()


def sign(desk: Desk) -> None:
    """Make the last commit one with a signature, which `git log` may be told to check."""
    raw = desk.git("cat-file", "commit", "HEAD")
    head, blank, message = raw.partition("\n\n")
    signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n iQ==\n -----END PGP SIGNATURE-----"
    name = desk.git(
        "hash-object", "-t", "commit", "-w", "--stdin", given=f"{head}\n{signature}{blank}{message}"
    )
    desk.git("update-ref", "refs/heads/main", name.strip())


def ask_everything(found: Repository) -> None:
    commit = found.commit("HEAD")
    found.files(commit.id, FOLDER, every)
    found.merge_base("HEAD", "HEAD~1")
    found.staged()
    found.sizes(found.indexed(FOLDER).values())
    assert found.first_with("id:k3v9q2ht", FOLDER) is not None
    assert not found.is_shallow()


def test_asking_writes_nothing(desk: Desk) -> None:
    desk.write(LESSONS, "- Three\n")
    desk.git("add", ".")

    def stamps() -> dict[Path, tuple[int, int]]:
        files = [path for path in desk.top.rglob("*") if path.is_file()]
        return {path: (path.stat().st_mtime_ns, path.stat().st_ino) for path in files}

    before = stamps()
    ask_everything(find_repository(desk.top))
    assert stamps() == before


def test_the_commit_that_brought_a_text_is_found_wherever_it_went(desk: Desk) -> None:
    desk.write(LESSONS, "- One\n")
    desk.write(f"{FOLDER}/topics/ci.md", "- Two <!-- id:k3v9q2ht -->\n")
    desk.commit("Move it")
    desk.write(f"{FOLDER}/topics/ci.md", "- Two, changed <!-- id:k3v9q2ht -->\n")
    desk.commit("Change it")
    found = find_repository(desk.top)
    brought = found.first_with("id:k3v9q2ht", FOLDER)
    assert brought is not None
    assert brought.subject == "Learn"
    assert found.first_with("-- id:zzzzzzzz", FOLDER) is None
    assert found.first_with("print()", FOLDER) is None


def test_a_text_of_the_first_commit_is_found_whatever_is_set(desk: Desk) -> None:
    for key, value in (("log.showRoot", "false"), ("log.follow", "true"), ("color.ui", "always")):
        desk.git("config", key, value)
    brought = find_repository(desk.top).first_with("- One", FOLDER)
    assert brought is not None
    assert brought.subject == "Begin"


def test_a_shallow_clone_says_that_more_can_be_fetched(desk: Desk, tmp_path: Path) -> None:
    desk.git("clone", "--quiet", "--depth=1", f"file://{desk.top}", str(tmp_path / "clone"))
    found = find_repository(tmp_path / "clone")
    assert found.is_shallow()
    with pytest.raises(GitError, match="--unshallow"):
        found.commit("HEAD~1")


def test_histories_without_a_common_commit_are_told(desk: Desk) -> None:
    desk.git("checkout", "--quiet", "--orphan", "other")
    desk.commit("Apart")
    found = find_repository(desk.top)
    assert found.merge_base("main", "main~1") == found.commit("main~1").id
    with pytest.raises(GitError, match="no commit in common"):
        found.merge_base("main", "other")


def test_the_index_tells_what_is_staged(desk: Desk) -> None:
    desk.write(LESSONS, "- Staged\n")
    desk.write(f"{FOLDER}/rules.md", "- New\n")
    (desk.top / FOLDER / "link.md").symlink_to("/etc")
    (desk.top / "src" / "main.py").unlink()
    desk.git("add", "--all")
    desk.write(LESSONS, "- Not staged\n")
    found = find_repository(desk.top)
    staged = found.staged()
    assert [(each.path, each.is_link) for each in staged] == [
        (LESSONS, False),
        (f"{FOLDER}/link.md", True),
        (f"{FOLDER}/rules.md", False),
    ]
    assert found.contents([staged[0].blob, staged[2].blob]) == [b"- Staged\n", b"- New\n"]
    assert found.sizes([staged[0].blob, "0" * 40]) == [9, 0]
    assert set(found.indexed(FOLDER)) == {"lessons.md", "rules.md"}
    assert (found.contents([]), found.sizes([])) == ([], [])


def test_before_the_first_commit_all_of_the_index_is_staged(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "new")
    desk.write("a.md", "- a\n")
    desk.git("add", ".")
    assert [each.path for each in find_repository(desk.top).staged()] == ["a.md"]


def test_a_merge_that_is_not_resolved_is_told(desk: Desk) -> None:
    desk.git("checkout", "--quiet", "-b", "other", "HEAD~1")
    desk.write(LESSONS, "- One\n- Theirs\n")
    desk.commit("Theirs")
    done = subprocess.run(
        ["git", "merge", "main"], cwd=desk.top, env=desk.env, capture_output=True, check=False
    )
    assert done.returncode == 1
    assert Staged(LESSONS, "") in find_repository(desk.top).staged()


# ---- what a hook is told ----


def test_a_hook_is_told_of_another_index(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """As `git commit FILE` and `git commit -a` tell their hooks."""
    index = desk.top / ".git" / "next-index-7.lock"
    desk.write(LESSONS, "- Partial\n")
    desk.git("read-tree", "HEAD", env={"GIT_INDEX_FILE": str(index)})
    desk.git("add", LESSONS, env={"GIT_INDEX_FILE": str(index)})
    monkeypatch.chdir(desk.top)
    assert find_repository(desk.top).staged() == []
    monkeypatch.setenv("GIT_INDEX_FILE", ".git/next-index-7.lock")
    assert [each.path for each in find_repository(desk.top / ".engramdown").staged()] == [LESSONS]


def test_a_hook_of_another_repository_does_not_mislead(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Desk(tmp_path / "other")
    monkeypatch.chdir(other.top)
    monkeypatch.setenv("GIT_DIR", ".git")
    monkeypatch.setenv("GIT_INDEX_FILE", ".git/index")
    assert find_repository(desk.top).top == desk.top.resolve()
    monkeypatch.chdir(tmp_path)
    assert find_repository(desk.top).top == desk.top.resolve()


def test_the_hook_of_a_project_does_not_speak_for_its_submodule(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = Desk(desk.top / "inner")
    monkeypatch.chdir(desk.top)
    monkeypatch.setenv("GIT_DIR", str(desk.top / ".git"))
    assert find_repository(inner.top).top == inner.top.resolve()


def test_a_repository_that_only_the_environment_tells_of_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As those who keep the files of their home folder in one do."""
    home = tmp_path / "home"
    home.mkdir()
    dotfiles = tmp_path / "dotfiles"
    env = {"GIT_DIR": str(dotfiles), "GIT_WORK_TREE": str(home)}
    desk = Desk(home, init=False)
    dotfiles.mkdir()
    Desk(dotfiles, init=False).git("init", "--quiet", "--bare", ".")
    desk.write(LESSONS, "- a\n")
    desk.git("config", "core.bare", "false", env=env)
    desk.git("add", LESSONS, env=env)
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(home)
    found = find_repository(home / ".engramdown")
    assert [each.path for each in found.staged()] == [LESSONS]
    with pytest.raises(GitError, match="in no git repository"):
        find_repository(tmp_path)


def test_a_second_work_tree_has_its_own_index_and_the_same_commits(
    desk: Desk, tmp_path: Path
) -> None:
    desk.git("worktree", "add", "--quiet", "-b", "other", str(tmp_path / "second"))
    second = Desk(tmp_path / "second", init=False)
    second.write(LESSONS, "- Second\n")
    second.git("add", ".")
    found = find_repository(second.top / ".engramdown")
    assert found.top == second.top.resolve()
    assert [each.path for each in found.staged()] == [LESSONS]
    assert found.commit("main").subject == "Learn"


@pytest.mark.parametrize(
    "outside", [pytest.param("..", id="above"), pytest.param("/", id="elsewhere")]
)
def test_a_folder_outside_of_the_work_tree_is_refused(desk: Desk, outside: str) -> None:
    with pytest.raises(GitError, match="is not in the work tree"):
        find_repository(desk.top).relative(desk.top / outside)
