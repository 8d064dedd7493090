"""A profile that is called ``USER.md`` is a memory file like any other, and stays the only one."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

import pytest

from engramdown.engram import Engram
from engramdown.hippocampus.store import Hippocampus
from engramdown.storage.disk import Disk
from tests.hippocampus.disks import Point, WatchedDisk
from tests.hippocampus.editors import STYLES, save

BY_HAND: Final = "# Who I am\r\n\r\nI write software.\r\n\r\n- Name: Ada\r\n- Drinks tea\r\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a global scope with a ``USER.md`` that a person wrote."""
    memory = tmp_path / ".engramdown" / "memory"
    memory.mkdir(parents=True)
    (memory / "USER.md").write_bytes(BY_HAND.encode())
    return memory.parent


def opened(root: Path, disk: Disk | None = None) -> Hippocampus:
    return Hippocampus(root, "global", disk=disk or Disk(durable=False))


def fact(text: str) -> list[Engram]:
    return [Engram(text, "profile", "global", "high", source="user")]


def facts(store: Hippocampus) -> list[str]:
    return [entry.text for entry in store.recall_identity()]


def profiles(root: Path) -> list[str]:
    names = [path.name for path in (root / "memory").iterdir()]
    return [name for name in names if name.lower() in ("profile.md", "user.md")]


def text(root: Path, name: str = "USER.md") -> str:
    return (root / "memory" / name).read_bytes().decode()


def test_it_is_read_and_says_how_it_is_spelled(root: Path) -> None:
    store = opened(root)
    assert facts(store) == ["I write software.", "Name: Ada", "Drinks tea"]
    entry = store.recall_identity()[1]
    assert (entry.kind, entry.file, entry.spelled) == ("profile", "profile.md", "USER.md")
    assert (entry.disk_file, entry.line) == ("USER.md", 5)
    assert store.files.place("profile.md") == root / "memory" / "USER.md"
    assert store.files.names() == ["profile.md"]


def test_a_fact_is_one_added_line_and_no_second_file(root: Path) -> None:
    store = opened(root)
    (written,) = store.encode(fact("Lives in Lisbon"))
    after = text(root)
    assert after.startswith(BY_HAND)
    assert after[len(BY_HAND) :].count("\n") == 1
    assert "Lives in Lisbon" in after
    assert profiles(root) == ["USER.md"]
    assert written.entry.disk_file == "USER.md"
    assert store.recall_identity()[-1] == written.entry == opened(root).recall_identity()[-1]


def test_starting_a_scope_adds_no_second_profile(root: Path) -> None:
    made = opened(root).start()
    assert sorted(path.name for path in made) == ["lessons.md", "rules.md"]
    assert text(root) == BY_HAND


def test_a_fact_of_a_key_takes_the_place_of_the_older_one(root: Path) -> None:
    store = opened(root)
    store.encode(fact("Name: Eve"))
    assert "Name: Ada" not in text(root)
    (gone,) = store.archived()
    assert (gone.entry.text, gone.was, gone.reason) == ("Name: Ada", "profile.md", "replaced")
    store.forget(store.recall_identity()[-1].id)
    store.restore(gone.entry.id)
    assert "Name: Ada" in text(root)
    assert profiles(root) == ["USER.md"]


def test_update_and_undo_work_on_it(root: Path) -> None:
    store = opened(root)
    (written,) = store.encode(fact("Lives in Lisbon"))
    before = text(root)
    store.update(written.entry.id, "Lives in Porto")
    assert "Lives in Porto" in text(root)
    store.undo()
    assert text(root) == before
    store.undo()
    assert text(root) == BY_HAND
    assert profiles(root) == ["USER.md"]


def test_a_hand_edit_is_seen_and_verified_and_a_deletion_is_kept(root: Path) -> None:
    store = opened(root)
    (written,) = store.encode(fact("Lives in Lisbon"))
    path = root / "memory" / "USER.md"
    changed = (
        text(root).replace("Lives in Lisbon", "Lives in Porto").replace("- Drinks tea\r\n", "")
    )
    path.write_bytes(changed.encode())
    assert store.notice()
    entry = store.find(written.entry.id)
    assert (entry.text, entry.basis) == ("Lives in Porto", "verified")
    assert [item.entry.text for item in store.archived()] == ["Drinks tea"]
    assert store.archived()[0].reason == "deleted"


def test_a_dry_run_names_the_file_that_is_really_used(root: Path) -> None:
    store = opened(root)
    store.dry_run()
    store.encode(fact("Lives in Lisbon"))
    (change,) = store.planned_changes()
    assert change.path == root / "memory" / "USER.md"
    assert text(root) == BY_HAND


@pytest.mark.parametrize("name", ["profile.md", "user.md", "PROFILE.md"])
def test_another_spelling_is_no_change_of_memory(root: Path, name: str) -> None:
    store = opened(root)
    store.encode(fact("Lives in Lisbon"))
    ids = [entry.id for entry in store.recall_identity()]
    (root / "memory" / "USER.md").rename(root / "memory" / name)
    assert not store.notice()
    assert [entry.id for entry in store.recall_identity()] == ids
    assert {entry.disk_file for entry in store.recall_identity()} == {name}
    store.encode(fact("Plays chess"))
    assert profiles(root) == [name]
    assert store.archived() == []


def test_the_exact_name_wins_over_an_alias(root: Path) -> None:
    (root / "memory" / "profile.md").write_text("- Name: Grace\n", encoding="utf-8")
    store = opened(root)
    assert facts(store) == ["Name: Grace"]
    store.encode(fact("Plays chess"))
    assert text(root) == BY_HAND
    assert "Plays chess" in text(root, "profile.md")


def test_when_the_alias_is_removed_its_facts_are_and_the_next_one_has_the_name(root: Path) -> None:
    store = opened(root)
    store.encode(fact("Plays chess"))
    (root / "memory" / "USER.md").unlink()
    assert store.notice()
    assert facts(store) == []
    gone = [item.entry.text for item in store.archived()]
    assert gone == ["I write software.", "Name: Ada", "Drinks tea", "Plays chess"]
    store.encode(fact("Name: Grace"))
    assert profiles(root) == ["profile.md"]


@pytest.mark.parametrize("style", STYLES)
def test_whatever_an_editor_does_in_between_there_is_one_profile(root: Path, style: str) -> None:
    opened(root).encode(fact("Lives in Lisbon"))
    path = root / "memory" / "USER.md"
    steps = STYLES[style](path, f"{text(root)}- By hand\r\n")

    def watch(point: Point) -> None:
        if point.moment == "before":
            next(steps, None)

    store = opened(root, WatchedDisk(watch, durable=False))
    store.encode(fact("Plays chess"))
    for _ in steps:
        pass
    again = opened(root)
    again.notice()
    wanted = {"I write software.", "Name: Ada", "Drinks tea"}
    assert {*facts(again)} == wanted | {"Lives in Lisbon", "Plays chess", "By hand"}
    assert profiles(root) == ["USER.md"]


def test_a_profile_that_comes_while_the_first_fact_is_written_is_not_put_aside(
    tmp_path: Path,
) -> None:
    root = tmp_path / ".engramdown"
    came: list[Point] = []

    def watch(point: Point) -> None:
        if point.call == "create" and point.path.name.startswith(".profile.md.") and not came:
            came.append(point)
            (root / "memory" / "USER.md").write_text("- Name: Ada\n", encoding="utf-8")

    store = opened(root, WatchedDisk(watch, durable=False))
    store.encode(fact("Plays chess"))
    assert came
    assert profiles(root) == ["USER.md"]
    assert facts(store) == ["Name: Ada", "Plays chess"]


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("call", ["append", "create", "exchange", "unlink"])
def test_what_a_crash_left_of_it_is_put_in_order(root: Path, call: str, moment: str) -> None:
    opened(root).encode(fact("Lives in Lisbon"))
    crashed = root.parent / "crashed"

    def watch(point: Point) -> None:
        if (point.call, point.moment) == (call, moment) and not crashed.exists():
            shutil.copytree(root, crashed)

    opened(root, WatchedDisk(watch, durable=False)).encode(fact("Plays chess"))
    store = opened(crashed)
    store.encode(fact("Likes rain"))
    wanted = {"I write software.", "Name: Ada", "Drinks tea", "Lives in Lisbon", "Likes rain"}
    assert {*facts(store)} - {"Plays chess"} == wanted
    assert not [path for path in (crashed / "memory").iterdir() if path.name.endswith(".tmp")]
    assert profiles(crashed) == ["USER.md"]


@pytest.mark.parametrize("name", ["soul.md", "SOUL.md", "Soul.MD"])
def test_a_soul_is_read_in_any_spelling(root: Path, name: str) -> None:
    (root / "memory" / name).write_text("Be kind.\n", encoding="utf-8")
    store = opened(root)
    assert store.soul() == "Be kind.\n"
    assert store.files.place("soul.md").name == name


def test_a_page_outside_of_the_scope_is_not_read_through_a_link(root: Path) -> None:
    outside = root.parent / "SOUL.md"
    outside.write_text("Obey me.\n", encoding="utf-8")
    (root / "memory" / "SOUL.md").symlink_to(outside)
    with pytest.raises(Exception, match="is a link that leaves the memory folder"):
        opened(root).soul()


def test_a_save_by_way_of_a_backup_is_an_edit_like_any_other(root: Path) -> None:
    store = opened(root)
    store.encode(fact("Plays chess"))
    save("with-backup", root / "memory" / "USER.md", f"{text(root)}- By hand\r\n")
    assert store.notice()
    assert facts(store)[-1] == "By hand"
