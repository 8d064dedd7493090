"""What a person does to the files between two calls of a store, with any editor, and with git."""

from __future__ import annotations

import subprocess
import threading
import time
from pathlib import Path

import pytest

from engramdown.hippocampus.store import Hippocampus
from engramdown.storage.disk import Disk
from tests.hippocampus.editors import STYLES, save


class BlindDisk(Disk):
    """A disk of a system that does not tell who has a file open."""

    def is_being_written(self, path: Path) -> bool:
        assert path.is_absolute()
        return False


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "project" / ".engramdown"


@pytest.fixture
def store(root: Path) -> Hippocampus:
    store = Hippocampus(root, disk=Disk(durable=False))
    for text in ("Log in UTC", "Pin the image", "Retry twice"):
        store.encode_lesson(text, topic="ci")
    return store


@pytest.fixture
def lessons(store: Hippocampus) -> Path:
    return store.memory / "lessons.md"


def texts(store: Hippocampus) -> list[str]:
    return [entry.text for entry in store.entries()]


def retired(store: Hippocampus) -> list[tuple[str, str]]:
    return [(item.entry.text, item.reason) for item in store.archived()]


def pending(store: Hippocampus) -> str:
    return store.files.document("pending.md").render()


def without(text: str, word: str) -> str:
    return "\n".join(line for line in text.split("\n") if word not in line)


@pytest.mark.parametrize("style", STYLES)
def test_a_save_with_any_editor_is_taken_in(store: Hippocampus, lessons: Path, style: str) -> None:
    text = lessons.read_text(encoding="utf-8").replace("Pin the image", "Pin every image")
    save(style, lessons, f"{without(text, 'Log in')}- By hand\n")
    store.encode_lesson("Written by us")
    assert texts(store) == ["Pin every image", "Retry twice", "By hand", "Written by us"]
    assert store.entries()[0].basis == "verified"
    assert retired(store) == [("Log in UTC", "deleted")]
    assert [entry.text for entry in store.recall_topic("ci")] == ["Pin every image", "Retry twice"]


def test_a_save_that_may_or_may_not_know_our_last_line_is_asked_about(
    store: Hippocampus, lessons: Path
) -> None:
    text = lessons.read_text(encoding="utf-8")
    save("in-place", lessons, f"{without(text, 'Retry')}- By hand\n")
    store.notice()
    assert texts(store) == ["Log in UTC", "Pin the image", "By hand", "Retry twice"]
    assert pending(store).count("Delete: Retry twice") == 1


def test_bytes_that_a_person_wrote_stay_as_they_are(store: Hippocampus, lessons: Path) -> None:
    theirs = b"\xef\xbb\xbf# Mine\r\n\r\nA note.\r\n\r\n*  star\r\n+\tplus\xff\r\n<!-- mine -->"
    lessons.write_bytes(theirs)
    store.encode_lesson("Written by us")
    now = lessons.read_bytes()
    at = now.index(b"+ Written by us")
    end = now.index(b"\n", at) + 1
    assert now[:at] + now[end:] in (theirs, theirs + b"\r\n")


def test_an_editor_that_was_opened_before_our_lines_takes_none_of_them_away(
    store: Hippocampus, lessons: Path
) -> None:
    buffer = lessons.read_text(encoding="utf-8")
    for number in range(5):
        store.encode_lesson(f"Later {number}")
    save("in-place", lessons, f"{buffer}- By hand\n")
    store.notice()
    assert {f"Later {number}" for number in range(5)} | {"By hand"} <= set(texts(store))
    assert len(set(texts(store))) == len(texts(store))
    assert pending(store).count("Delete: Later") == 5
    assert store.notice() is False


def test_an_old_buffer_may_be_saved_with_other_line_ends(store: Hippocampus, lessons: Path) -> None:
    lessons.write_bytes(
        b"# Mine\r\n\r\nA note.\r\n\r\n<!-- private -->\r\n\r\n- First\r\n- Second\r\n"
    )
    store.notice()
    buffer = lessons.read_text(encoding="utf-8")
    store.encode_lesson("Later")
    save("in-place", lessons, f"{buffer}- By hand\n")
    store.notice()
    assert {"First", "Second", "By hand", "Later"} <= set(texts(store))


def test_an_editor_that_knows_our_lines_may_delete_them(store: Hippocampus, lessons: Path) -> None:
    store.encode_lesson("Later")
    text = lessons.read_text(encoding="utf-8")
    save("with-backup", lessons, f"{without(text, 'Later')}- By hand\n".replace("twice", "once"))
    store.notice()
    assert "By hand" in texts(store)
    assert "Later" not in texts(store) or "Delete: Later" in pending(store)


def test_what_was_deleted_from_an_old_buffer_stays_deleted(
    store: Hippocampus, lessons: Path
) -> None:
    buffer = lessons.read_text(encoding="utf-8")
    save("by-rename", lessons, without(buffer, "Retry"))
    store.encode_lesson("Later")
    save("by-rename", lessons, f"{without(buffer, 'Retry')}- By hand\n")
    store.encode_lesson("Last")
    assert texts(store) == ["Log in UTC", "Pin the image", "By hand", "Later", "Last"] or texts(
        store
    ) == ["Log in UTC", "Pin the image", "Later", "By hand", "Last"]


def test_a_line_that_a_person_writes_again_is_no_longer_kept_out(
    store: Hippocampus, lessons: Path
) -> None:
    before = lessons.read_text(encoding="utf-8")
    save("in-place", lessons, without(before, "Retry"))
    store.notice()
    assert retired(store) == [("Retry twice", "deleted")]
    save("in-place", lessons, before)
    store.notice()
    assert texts(store) == ["Log in UTC", "Pin the image", "Retry twice"]
    assert retired(store) == []


def test_a_line_that_was_moved_to_another_file_is_not_deleted(
    store: Hippocampus, lessons: Path
) -> None:
    text = lessons.read_text(encoding="utf-8")
    line = next(line for line in text.split("\n") if "Retry" in line)
    (store.memory / "rules.md").write_text(f"## Always\n\n{line}\n", encoding="utf-8")
    save("in-place", lessons, without(text, "Retry"))
    store.notice()
    assert retired(store) == []
    assert [rule.text for rule in store.recall_rules()] == ["Retry twice"]


def test_a_file_that_was_removed_takes_its_lines_along(store: Hippocampus, lessons: Path) -> None:
    lessons.unlink()
    store.encode_rule("Written by us", "always")
    assert store.notice() is True
    assert texts(store) == ["Written by us"]
    assert {text for text, _ in retired(store)} == {"Log in UTC", "Pin the image", "Retry twice"}


def test_all_files_may_be_removed_at_once(store: Hippocampus) -> None:
    store.encode_rule("A rule", "always")
    for path in store.memory.rglob("*.md"):
        path.unlink()
    store.encode_lesson("Written by us", topic="ci")
    assert texts(store) == ["Written by us"]
    store.notice()
    assert len(retired(store)) == 4


def test_files_that_came_from_elsewhere_are_read_and_kept(root: Path) -> None:
    memory = root / "memory"
    (memory / "topics").mkdir(parents=True)
    (memory / "rules.md").write_text("## Never\n- Push on a Friday", encoding="utf-8")
    (memory / "topics" / "ci.md").write_text("* Two passes\n", encoding="utf-8")
    store = Hippocampus(root, disk=Disk(durable=False))
    store.encode_rule("Written by us", "never")
    assert texts(store) == ["Push on a Friday", "Written by us", "Two passes"]
    assert [step.op for step in store.history()] == ["found", "found", "encode"]


@pytest.mark.parametrize("disk", [Disk, BlindDisk])
def test_a_save_that_is_under_way_is_waited_for(
    store: Hippocampus, lessons: Path, disk: type[Disk]
) -> None:
    text = lessons.read_text(encoding="utf-8").replace("Pin the image", "Pin every image")
    begun = threading.Event()

    def edit() -> None:
        with lessons.open("w", encoding="utf-8") as file:
            begun.set()
            for line in text.split("\n")[:-1]:
                time.sleep(0.03)
                file.write(f"{line}\n")
                if disk is Disk:
                    file.flush()

    editor = threading.Thread(target=edit)
    editor.start()
    begun.wait()
    other = Hippocampus(store.root, disk=disk(durable=False))
    other.encode_lesson("Written by us")
    editor.join()
    assert texts(store) == ["Log in UTC", "Pin every image", "Retry twice", "Written by us"]
    assert retired(store) == []


@pytest.mark.slow
def test_an_editor_that_never_closes_its_file_keeps_nobody_out(
    store: Hippocampus, lessons: Path
) -> None:
    with lessons.open("r+", encoding="utf-8") as file:
        text = file.read()
        store.encode_lesson("Written by us")
        store.encode_lesson("And another")
        file.seek(0)
        file.write(f"{text}- By hand\n")
        file.truncate()
    store.encode_lesson("Last")
    assert sorted(texts(store)[3:]) == ["And another", "By hand", "Last", "Written by us"]
    assert [path.name for path in store.memory.iterdir() if path.suffix == ".tmp"] == []


def test_sed_may_edit_in_place(store: Hippocampus, lessons: Path) -> None:
    subprocess.run(
        ["sed", "-i", "-e", "s/Pin the/Pin every/", "-e", "/Log in/d", str(lessons)], check=True
    )
    store.encode_lesson("Written by us")
    assert texts(store) == ["Pin every image", "Retry twice", "Written by us"]


class Git:
    """A repository that holds a scope."""

    def __init__(self, folder: Path, env: dict[str, str]) -> None:
        """Begin a repository in ``folder``."""
        self._folder = folder
        self._env = env
        self("init", "-q", "-b", "main")

    def __call__(self, *arguments: str) -> str:
        """Run git and return what it printed."""
        return subprocess.run(
            ["git", *arguments],
            cwd=self._folder,
            env=self._env,
            check=True,
            capture_output=True,
            encoding="utf-8",
        ).stdout

    def commit(self, message: str) -> None:
        """Commit everything that is not ignored."""
        self("add", "-A")
        self("commit", "-q", "-m", message)


@pytest.fixture
def git(store: Hippocampus, child_env: dict[str, str]) -> Git:
    git = Git(store.root.parent, child_env)
    git.commit("Three lessons")
    return git


def test_git_sees_one_added_line_for_one_memory(store: Hippocampus, git: Git) -> None:
    store.encode_rule("A rule", "always")
    git.commit("One rule")
    store.encode_rule("Another rule", "always")
    changed = [
        line for line in git("diff").split("\n") if line[:1] in "+-" and line[1:2] != line[:1]
    ]
    assert [line[:15] for line in changed if line] == ["+- Another rule"]


def test_git_does_not_see_the_journal_and_the_lock(store: Hippocampus, git: Git) -> None:
    store.encode_rule("A rule", "always")
    assert [line.split("/")[-1] for line in git("ls-files").split("\n") if line] == [
        ".gitignore",
        "lessons.md",
        "ci.md",
    ]
    assert git("status", "--porcelain", "-uall").split("\n")[0].endswith("memory/rules.md")


@pytest.mark.slow
def test_a_branch_may_be_left_and_entered_again(store: Hippocampus, git: Git) -> None:
    git("checkout", "-q", "-b", "other")
    store.encode_lesson("Of the branch", topic="ci")
    store.forget(store.entries()[0].id)
    git.commit("A lesson")
    git("checkout", "-q", "main")
    store.notice()
    assert texts(store) == ["Log in UTC", "Pin the image", "Retry twice"]
    assert git("status", "--porcelain") == ""
    store.encode_lesson("Of main")
    git.commit("Another lesson")
    git("checkout", "-q", "other")
    store.notice()
    assert texts(store) == ["Pin the image", "Retry twice", "Of the branch"]
    assert git("status", "--porcelain") == ""
    git("checkout", "-q", "main")
    store.notice()
    assert texts(store) == ["Log in UTC", "Pin the image", "Retry twice", "Of main"]
    assert git("status", "--porcelain") == ""
    assert retired(store) == []
    assert [step.op for step in store.files.history.steps()][-1] == "checkout"


def test_a_commit_with_no_memory_takes_nothing_for_deleted(store: Hippocampus, git: Git) -> None:
    git("checkout", "-q", "--orphan", "bare")
    git("rm", "-q", "-r", "--cached", ".")
    git("clean", "-fdq")
    git("commit", "-q", "--allow-empty", "-m", "Nothing")
    git("checkout", "-q", "main")
    store.notice()
    assert texts(store) == ["Log in UTC", "Pin the image", "Retry twice"]
    git("checkout", "-q", "bare")
    store.notice()
    assert texts(store) == []
    git("checkout", "-q", "main")
    store.notice()
    assert texts(store) == ["Log in UTC", "Pin the image", "Retry twice"]
    assert retired(store) == []


def test_a_line_that_is_deleted_after_a_switch_of_branches_is_deleted(
    store: Hippocampus, git: Git, lessons: Path
) -> None:
    git("checkout", "-q", "-b", "other")
    store.encode_lesson("Of the branch")
    lessons.write_text(without(lessons.read_text("utf-8"), "Retry"), "utf-8")
    git.commit("Without retries")
    store.notice()
    assert retired(store) == [("Retry twice", "deleted")]


def test_a_line_is_deleted_whatever_git_does_elsewhere(store: Hippocampus, git: Git) -> None:
    (store.root.parent / ".gitignore").write_text(".engramdown\n", "utf-8")
    git("rm", "-q", "-r", "--cached", ".engramdown")
    git.commit("Keep memory to ourselves")
    git("checkout", "-q", "-b", "other")
    lessons = store.memory / "lessons.md"
    lessons.write_text(without(lessons.read_text("utf-8"), "Retry"), "utf-8")
    store.notice()
    assert retired(store) == [("Retry twice", "deleted")]


def test_a_second_work_tree_has_branches_of_its_own(store: Hippocampus, git: Git) -> None:
    git("branch", "other")
    place = store.root.parent.parent / "second"
    git("worktree", "add", "-q", str(place), "other")
    second = Hippocampus(place / ".engramdown", disk=Disk(durable=False))
    second.encode_lesson("Of the other tree")
    git("-C", str(place), "commit", "-qam", "One more")
    git("-C", str(place), "checkout", "-q", "HEAD~1")
    second.notice()
    assert texts(second) == ["Log in UTC", "Pin the image", "Retry twice"]
    assert retired(second) == []


def test_a_merge_of_two_branches_keeps_the_lines_of_both(store: Hippocampus, git: Git) -> None:
    git("checkout", "-q", "-b", "other")
    store.encode_rule("Of the branch", "never")
    git.commit("A rule")
    git("checkout", "-q", "--force", "main")
    store.encode_lesson("Of main")
    git.commit("A lesson")
    git("merge", "-q", "--no-edit", "other")
    store.encode_lesson("Of both")
    assert texts(store) == [
        "Of the branch",
        "Log in UTC",
        "Pin the image",
        "Retry twice",
        "Of main",
        "Of both",
    ]


def test_what_git_stash_takes_away_and_brings_back_is_there(store: Hippocampus, git: Git) -> None:
    store.encode_lesson("Not committed")
    git("stash", "-q")
    store.notice()
    assert "Not committed" not in texts(store)
    git("checkout", "-q", "--", ".")
    for path in store.memory.rglob("archive.md"):
        path.unlink()
    git("stash", "pop", "-q")
    store.notice()
    assert texts(store) == ["Log in UTC", "Pin the image", "Retry twice", "Not committed"]


def test_an_editors_own_files_are_left_alone(store: Hippocampus) -> None:
    theirs = [".lessons.md.swp", "lessons.md~", "#lessons.md#", ".#lessons.md", "4913", ".x.tmp"]
    for name in theirs:
        (store.memory / name).write_text("theirs", encoding="utf-8")
    store.encode_lesson("Written by us")
    Hippocampus(store.root).encode_lesson("And another")
    assert [name for name in theirs if not (store.memory / name).exists()] == []
