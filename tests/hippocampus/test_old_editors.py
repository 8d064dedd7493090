"""An editor that was opened long ago takes nothing away that came since, however it is saved."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from engramdown.hippocampus.store import Hippocampus
from engramdown.storage.disk import Disk
from tests.hippocampus.disks import Point, WatchedDisk

LATER = [f"Later {number}" for number in range(60)]


@pytest.fixture
def store(tmp_path: Path) -> Hippocampus:
    store = Hippocampus(tmp_path / ".engramdown", disk=Disk(durable=False))
    store.encode_rule("From the beginning", "always")
    return store


@pytest.fixture
def rules(store: Hippocampus) -> Path:
    return store.memory / "rules.md"


def learn(store: Hippocampus, texts: list[str]) -> None:
    for text in texts:
        store.encode_rule(text, "always")


def noticed(store: Hippocampus) -> list[str]:
    store.notice()
    assert store.archived() == []
    return [entry.text for entry in store.entries()]


def asked(store: Hippocampus) -> int:
    return store.files.document("pending.md").render().count("Delete: ")


def test_it_may_be_any_number_of_steps_old(store: Hippocampus, rules: Path) -> None:
    buffer = rules.read_text("utf-8")
    learn(store, LATER)
    rules.write_text(f"{buffer}- By hand\n", "utf-8")
    assert noticed(store) == ["From the beginning", "By hand", *LATER]
    assert asked(store) == len(LATER)


def test_it_may_be_saved_again_unchanged(store: Hippocampus, rules: Path) -> None:
    mine = f"{rules.read_text('utf-8')}- By hand\n"
    learn(store, LATER[:3])
    rules.write_text(mine, "utf-8")
    store.notice()
    learn(store, LATER[3:6])
    rules.write_text(mine, "utf-8")
    assert sorted(noticed(store)) == ["By hand", "From the beginning", *LATER[:6]]
    rules.write_text(mine, "utf-8")
    assert len(noticed(store)) == 8
    assert asked(store) == 6, "each is asked about once"


def test_it_may_be_saved_as_it_was_opened(store: Hippocampus, rules: Path) -> None:
    buffer = rules.read_text("utf-8")
    learn(store, LATER[:5])
    rules.write_text(buffer, "utf-8")
    assert noticed(store) == ["From the beginning", *LATER[:5]]
    assert asked(store) == 5


def test_it_may_lay_out_every_line_anew(store: Hippocampus, rules: Path) -> None:
    learn(store, ["A rule that is long"])
    buffer = rules.read_text("utf-8")
    learn(store, LATER[:5])
    other = buffer.replace("\n- ", "\n* ").replace("that is", "that\n  is").replace("\n", "\r\n")
    rules.write_bytes(f"\ufeff{other}".encode())
    assert [" ".join(text.split()) for text in noticed(store)] == [
        "From the beginning",
        "A rule that is long",
        *LATER[:5],
    ]


def test_a_line_that_was_reworded_since_keeps_its_newest_words(
    store: Hippocampus, rules: Path
) -> None:
    store.encode_rule("To be deleted", "always")
    (entry, *_) = store.entries()
    store.update(entry.id, "The second words")
    buffer = rules.read_text("utf-8")
    store.update(entry.id, "The third words")
    learn(store, LATER[:2])
    kept = [line for line in buffer.split("\n") if "To be deleted" not in line]
    rules.write_text("\n".join(kept), "utf-8")
    store.notice()
    assert "The third words" in [each.text for each in store.entries()]


@pytest.mark.parametrize("again", ["restore", "tell"])
def test_a_line_that_was_away_while_it_was_opened_stays(
    store: Hippocampus, rules: Path, again: str
) -> None:
    rules.write_text(f"{rules.read_text('utf-8')}- By hand\n", "utf-8")
    store.notice()
    entry = next(entry for entry in store.entries() if entry.text == "By hand")
    store.forget(entry.id)
    buffer = rules.read_text("utf-8")
    if again == "restore":
        store.restore(store.archived()[0].entry.id)
    else:
        learn(store, ["By hand"])
    rules.write_text(f"{buffer}- And this\n", "utf-8")
    assert sorted(noticed(store)) == ["And this", "By hand", "From the beginning"]
    assert asked(store) == 1


def test_there_may_be_two_of_them(store: Hippocampus, rules: Path) -> None:
    first = rules.read_text("utf-8")
    learn(store, LATER[:2])
    rules.write_text(f"{rules.read_text('utf-8')}- In the second\n", "utf-8")
    learn(store, LATER[2:4])
    rules.write_text(f"{first}- In the first\n", "utf-8")
    wanted = ["From the beginning", "In the first", "In the second", *LATER[:4]]
    assert sorted(noticed(store)) == sorted(wanted)


def test_the_one_line_that_came_since_may_be_deleted(store: Hippocampus, rules: Path) -> None:
    buffer = rules.read_text("utf-8")
    for text in LATER[:3]:
        learn(store, [text])
        rules.write_text(buffer, "utf-8")
        store.notice()
    assert [entry.text for entry in store.entries()] == ["From the beginning"]
    assert [item.entry.text for item in store.archived()] == LATER[:3]


def test_git_may_take_back_what_is_not_committed(
    store: Hippocampus, rules: Path, child_env: dict[str, str]
) -> None:
    def git(*arguments: str) -> None:
        place = store.root.parent
        subprocess.run(["git", *arguments], cwd=place, env=child_env, check=True)

    git("init", "-q")
    git("add", "-A")
    git("commit", "-q", "-m", "One rule")
    learn(store, LATER[:3])
    git("checkout", "-q", "--", ".")
    store.notice()
    assert [entry.text for entry in store.entries()] == ["From the beginning"]
    assert asked(store) == 0
    learn(store, LATER[3:6])
    rules.write_bytes(rules.read_bytes())
    buffer = subprocess.run(
        ["git", "show", "HEAD:.engramdown/memory/rules.md"],
        cwd=store.root.parent,
        env=child_env,
        check=True,
        capture_output=True,
    ).stdout
    rules.write_bytes(buffer)
    store.notice()
    assert asked(store) == 3, "an editor that holds what is committed is no git"


@pytest.mark.parametrize("how", ["delete", "reword"])
def test_a_copy_that_was_filed_since_follows(store: Hippocampus, how: str) -> None:
    store.encode_lesson("Pin the image")
    store.encode_lesson("Log in UTC")
    lessons = store.memory / "lessons.md"
    buffer = lessons.read_text("utf-8")
    entry = store.encode_lesson("Pin the image", topic="ci")
    if how == "reword":
        store.update(entry.id, "Pin each image")
        lessons.write_text(buffer.replace("Pin the image", "Pin no image"), "utf-8")
    else:
        line = next(line for line in buffer.split("\n") if "Pin" in line)
        lessons.write_text(buffer.replace(f"{line}\n", ""), "utf-8")
    store.notice()
    wanted = ["Pin no image"] if how == "reword" else []
    assert [it.topic for it in store.entries() if "Pin" in it.text] == ["ci"] * len(wanted)
    assert [it.text for it in store.entries() if "Pin" in it.text] == wanted
    document = store.files.document("topics/ci.md")
    assert [placed.block.text for placed in document.placed()] == wanted


@pytest.mark.parametrize("act", ["forget", "update"])
def test_a_file_that_an_editor_has_just_moved_away_is_waited_for(
    store: Hippocampus, act: str
) -> None:
    entry = store.encode_lesson("Pin the image", topic="ci")
    lessons = store.memory / "lessons.md"
    text = lessons.read_text("utf-8")
    lessons.unlink()

    def person(point: Point) -> None:
        if point.call == "is_being_written" and not lessons.exists():
            lessons.write_text(text, "utf-8")

    other = Hippocampus(store.root, disk=WatchedDisk(person))
    if act == "forget":
        other.forget(entry.id)
        assert "Pin the image" not in lessons.read_text("utf-8")
        assert [it.text for it in other.entries()] == ["From the beginning"]
    else:
        other.update(entry.id, "Pin every image")
        assert "Pin every image" in lessons.read_text("utf-8")
        assert [it.text for it in other.recall_topic("ci")] == ["Pin every image"]
