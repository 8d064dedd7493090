"""Free notes are a model's own, until a person writes or changes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from engramdown import Cortex
from tests.integrations.memory_folder.conftest import Model

MODES = ("autopilot", "copilot")


@pytest.fixture(params=MODES)
def model(request: pytest.FixtureRequest, cortex: Cortex) -> Model:
    """Return a model that works in both modes."""
    cortex.mode = request.param
    return Model(cortex)


@pytest.fixture
def file(project: Path) -> Path:
    """Return the file of notes that a person writes."""
    path = project / ".engramdown/working/plan.md"
    path.parent.mkdir(parents=True)
    return path


def test_its_own_it_changes_renames_and_deletes(model: Model, cortex: Cortex) -> None:
    model.does("create", "notes/plan.md", file_text="one\ntwo\n")
    model.does("str_replace", "notes/plan.md", old_str="one", new_str="zero")
    model.does("insert", "notes/plan.md", insert_line=0, insert_text="top")
    assert not model.renames("notes/plan.md", "notes/list.md").is_error
    assert model.sees("notes/list.md") == ["top", "zero", "two"]
    model.does("str_replace", "notes/list.md", old_str="top\n", new_str="")
    model.does("delete", "notes/list.md")
    model.does("create", "notes/list.md", file_text="anew")
    cortex.conversations.notes("list").restore(1)
    assert cortex.conversations.notes("list").read().text == "zero\ntwo"


@pytest.mark.parametrize("whole", [b"one\ntwo\n", b"---\nmood: fine\n---\none\r\ntwo"])
def test_those_of_a_person_it_only_adds_to(model: Model, file: Path, whole: bytes) -> None:
    file.write_bytes(whole)
    told = [
        model.fails("str_replace", "notes/plan.md", old_str="two", new_str="2"),
        model.fails("str_replace", "notes/plan.md", old_str="one\n"),
        model.fails("delete", "notes/plan.md"),
        model.renames("notes/plan.md", "notes/list.md").text,
        model.fails("create", "notes/plan.md", file_text="mine"),
    ]
    assert file.read_bytes() == whole
    assert all("the user wrote or changed the notes 'plan'" in each for each in told[:4])
    assert "Add to them with insert" in told[0]
    model.does("insert", "notes/plan.md", insert_line=1, insert_text="between")
    model.does("str_replace", "notes/plan.md", old_str="two", new_str="two\nthree")
    assert model.sees("notes/plan.md") == ["one", "between", "two", "three"]
    assert "delete" in model.fails("str_replace", "notes/plan.md", old_str="between\n")


def test_what_a_person_changed_is_theirs_from_then_on(model: Model, project: Path) -> None:
    model.does("create", "notes/plan.md", file_text="one\ntwo\n")
    file = project / ".engramdown/working/plan.md"
    mine = file.read_text(encoding="utf-8")
    file.write_text(mine.replace("two", "two, and a half"), encoding="utf-8")
    assert "the user wrote or changed" in model.fails("delete", "notes/plan.md")
    model.fails("str_replace", "notes/plan.md", old_str="one", new_str="1")
    file.write_text(mine, encoding="utf-8")
    model.does("delete", "notes/plan.md")


def test_what_a_person_brought_back_is_theirs(model: Model, cortex: Cortex) -> None:
    model.does("create", "notes/plan.md", file_text="one\n")
    model.does("str_replace", "notes/plan.md", old_str="one", new_str="two")
    cortex.conversations.notes("plan").restore(1)
    assert "the user wrote or changed" in model.fails("delete", "notes/plan.md")


@pytest.mark.parametrize(
    "before, after",
    [
        (b"one\r\ntwo\r\n", b"one\r\nand\r\ntwo\r\n"),
        (b"\xef\xbb\xbfone\r\n\r\ntwo", b"\xef\xbb\xbfone\r\nand\r\n\r\ntwo"),
        (b"\n\n one \t\n\xff two\x0c\r\n\n\n", b"\n\n one \t\nand\n\xff two\x0c\r\n\n\n"),
        (b"---\r\nk: v # x\r\nagent: me\r\n---\r\none\n", None),
    ],
)
def test_an_edit_leaves_every_other_byte(
    model: Model, file: Path, before: bytes, after: bytes | None
) -> None:
    file.write_bytes(before)
    model.does("insert", "notes/plan.md", insert_line=1, insert_text="and")
    if after is not None:
        assert file.read_bytes() == after
    else:
        head, _, body = file.read_bytes().partition(b"---\r\none")
        assert head.startswith(b"---\r\nk: v # x\r\nagent: me\r\nupdated: ")
        assert body == b"\nand\r\n"


def test_a_rename_leaves_every_byte(model: Model, project: Path) -> None:
    model.does("create", "notes/plan.md", file_text="one\n")
    file = project / ".engramdown/working/plan.md"
    whole = file.read_bytes().replace(b"\n", b"\r\n").replace(b"updated", b"mood: fine\r\nupdated")
    file.write_bytes(whole)
    assert not model.renames("notes/plan.md", "notes/list.md").is_error
    assert file.with_name("list.md").read_bytes() == whole
    assert not file.exists()
