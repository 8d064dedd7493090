"""Second work trees, submodules and repositories in repositories: which memory is whose."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Final

import pytest

from engramdown.errors import GitError
from engramdown.git.diff import Place
from engramdown.git.repository import find_repository
from engramdown.hippocampus.store import Hippocampus
from engramdown.settings import find_project
from tests.git.desk import Desk

FOLDER: Final = ".engramdown"
LESSONS: Final = ".engramdown/memory/lessons.md"


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """Keep a project with one lesson in git."""
    desk = Desk(tmp_path / "work")
    store = store_of(desk)
    store.start()
    store.encode_lesson("CI takes nine minutes")
    desk.commit("Begin")
    return desk


def store_of(desk: Desk) -> Hippocampus:
    return Hippocampus(desk.top / FOLDER)


def second(desk: Desk, place: Path, branch: str = "other") -> Desk:
    desk.git("worktree", "add", "--quiet", "-b", branch, str(place))
    return Desk(place, init=False)


def texts(desk: Desk) -> list[str]:
    store = store_of(desk)
    store.notice()
    return [entry.text for entry in store.entries()]


def begin(desk: Desk) -> None:
    """Begin a journal, by a step that is taken back, and let git know the files as they are."""
    store = store_of(desk)
    store.encode_lesson("For a moment")
    store.undo()
    desk.git("checkout", "--quiet", ".")


def ops(desk: Desk) -> list[str]:
    return [step.op for step in store_of(desk).history()]


def test_a_second_work_tree_has_a_memory_of_its_own(desk: Desk, tmp_path: Path) -> None:
    other = second(desk, tmp_path / "second")
    assert find_project(other.top / FOLDER / "memory") == other.top / FOLDER
    assert texts(other) == ["CI takes nine minutes"]
    # The journal is of one folder: the new one begins with what was checked out there.
    assert "encode" not in ops(other)
    store_of(other).encode_lesson("Learned in the second")
    assert texts(desk) == ["CI takes nine minutes"]
    there = Place.of(other.top / FOLDER, "project", 1_000_000)
    assert there.repository.folder != find_repository(desk.top).folder
    assert there.repository.commit("main").id == find_repository(desk.top).commit("HEAD").id


def test_a_work_tree_within_another_one_is_nearer(desk: Desk) -> None:
    other = second(desk, desk.top / "trees" / "second")
    assert find_project(other.top) == other.top / FOLDER
    assert find_repository(other.top / FOLDER).top == other.top.resolve()


def test_one_in_which_there_is_no_memory_has_that_of_the_project_around_it(desk: Desk) -> None:
    """As a branch from before there was any: walking up finds the next one."""
    desk.git("checkout", "--quiet", "--orphan", "empty")
    desk.git("rm", "-r", "--quiet", "--cached", ".")
    desk.git("commit", "--quiet", "--allow-empty", "-m", "Nothing")
    desk.git("checkout", "--quiet", "--force", "main")
    desk.git("worktree", "add", "--quiet", str(desk.top / "inner"), "empty")
    assert find_project(desk.top / "inner") == desk.top / FOLDER
    assert find_repository(desk.top / FOLDER).top == desk.top.resolve()


@pytest.mark.slow
@pytest.mark.parametrize(
    "setting",
    [
        pytest.param((), id="plain"),
        pytest.param(("index.version", "4"), id="index-4"),
        pytest.param(("core.splitIndex", "true"), id="split-index"),
        pytest.param(("feature.manyFiles", "true"), id="many-files"),
        pytest.param(("core.untrackedCache", "true"), id="untracked-cache"),
    ],
)
def test_what_git_changes_in_a_second_work_tree_is_no_edit_of_a_person(
    desk: Desk, tmp_path: Path, setting: tuple[str, ...]
) -> None:
    if setting:
        desk.git("config", *setting)
    other = second(desk, tmp_path / "second")
    begin(other)
    desk.write(LESSONS, "# Lessons\n\n- Other words <!-- id:k3v9q2ht source:llm -->\n")
    desk.commit("Main goes on")
    other.git("reset", "--quiet", "--hard", "main")
    assert texts(other) == ["Other words"]
    assert ops(other)[-1] == "checkout"
    (entry,) = store_of(other).entries()
    assert entry.basis == "inferred"
    assert store_of(other).archived() == []


def test_git_in_one_work_tree_explains_nothing_in_another(desk: Desk, tmp_path: Path) -> None:
    other = second(desk, tmp_path / "second")
    begin(other)
    desk.git("checkout", "--quiet", "-b", "third")
    other.write(LESSONS, "- By hand\n")
    assert texts(other) == ["By hand"]
    assert "edit" in ops(other)


def test_a_submodule_with_memory_is_a_project_of_its_own(desk: Desk, tmp_path: Path) -> None:
    inner = Desk(tmp_path / "library")
    store_of(inner).encode_lesson("Of the library")
    inner.commit("Library")
    allow = ("-c", "protocol.file.allow=always")
    desk.git(*allow, "submodule", "--quiet", "add", str(inner.top), "library")
    desk.commit("Add the library")
    sub = Desk(desk.top / "library", init=False)
    assert (sub.top / ".git").is_file()
    assert find_project(sub.top) == sub.top / FOLDER
    assert find_repository(sub.top / FOLDER).top == sub.top.resolve()
    assert texts(sub) == ["Of the library"]
    begin(sub)
    # What git does in it is found through the file that stands where .git would.
    (inner.top / LESSONS).write_text("- Newer <!-- id:k3v9q2ht -->\n", encoding="utf-8")
    inner.commit("Newer")
    sub.git("fetch", "--quiet", "origin")
    sub.git("checkout", "--quiet", "origin/main")
    assert texts(sub) == ["Newer"]
    assert ops(sub)[-1] == "checkout"
    # The project around it knows nothing of that memory.
    assert set(Place.of(desk.top / FOLDER, "project", 1_000_000).now().texts) == {
        "rules.md",
        "lessons.md",
    }


def test_a_submodule_without_memory_has_that_of_the_project_around_it(
    desk: Desk, tmp_path: Path
) -> None:
    inner = Desk(tmp_path / "library")
    inner.write("README.md", "Library\n")
    inner.commit("Library")
    allow = ("-c", "protocol.file.allow=always")
    desk.git(*allow, "submodule", "--quiet", "add", str(inner.top), "library")
    found = find_project(desk.top / "library")
    assert found == desk.top / FOLDER
    # git is asked for the memory, not for the folder that somebody stands in.
    assert Place.of(found, "project", 1_000_000).repository.top == desk.top.resolve()


def test_a_memory_that_is_a_repository_of_its_own_is_asked_there(desk: Desk) -> None:
    own = Desk(desk.top / FOLDER)
    own.write(".gitignore", "*\n!memory/\n!memory/*.md\n")
    own.commit("Own")
    there = Place.of(desk.top / FOLDER, "project", 1_000_000)
    assert (there.repository.top, there.folder) == (own.top.resolve(), "memory")
    assert "lessons.md" in there.at(there.repository.commit("HEAD")).texts


def test_a_project_below_the_top_of_a_repository_is_found_there(desk: Desk) -> None:
    inner = Hippocampus(desk.top / "packages" / "ä b" / FOLDER)
    inner.encode_lesson("Of a package")
    desk.commit("Package")
    there = Place.of(inner.root, "project", 1_000_000)
    assert there.folder == "packages/ä b/.engramdown/memory"
    assert [*there.at(there.repository.commit("HEAD")).kept] == [inner.entries()[0].id]
    mark = f"id:{inner.entries()[0].id}"
    assert there.repository.first_with(mark, there.folder) is not None


def test_a_link_to_the_project_leads_to_the_same_repository(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(desk.top, target_is_directory=True)
    there = Place.of(tmp_path / "link" / FOLDER, "project", 1_000_000)
    assert (there.repository.top, there.folder) == (desk.top.resolve(), f"{FOLDER}/memory")


@pytest.mark.slow
def test_a_work_tree_that_is_added_while_memory_is_written_is_whole(
    desk: Desk, tmp_path: Path
) -> None:
    store, done = store_of(desk), threading.Event()

    def write() -> None:
        for at in range(40):
            store.encode_lesson(f"Lesson {at} of many")
        done.set()

    writer = threading.Thread(target=write)
    writer.start()
    trees: list[Desk] = []
    while not done.is_set() and len(trees) < 4:
        trees.append(second(desk, tmp_path / f"tree{len(trees)}", f"tree{len(trees)}"))
    writer.join()
    assert trees
    assert len(texts(desk)) == 41
    for tree in trees:
        assert texts(tree) == ["CI takes nine minutes"]


def test_a_work_tree_whose_repository_is_gone_is_told(desk: Desk, tmp_path: Path) -> None:
    other = second(desk, tmp_path / "second")
    desk.top.rename(tmp_path / "moved")
    with pytest.raises(GitError, match="in no git repository"):
        find_repository(other.top)
    store_of(other).encode_lesson("Still works")
    assert len(texts(other)) == 2
