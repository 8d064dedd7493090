"""The memory files as one step sees and changes them."""

from __future__ import annotations

import pytest
from hypothesis import example, given

from engramdown.hippocampus.changeset import Act, Draft, Slot, entry_changes
from engramdown.markdown.document import parse
from engramdown.markdown.metadata import Metadata
from tests import strategies
from tests.hippocampus.shelf import Shelf

pages = strategies.markdown()
META = Metadata((("id", "zzzzzzzz"),))


def slot(text: str | None, disk: bytes | None = None) -> Slot:
    """Return a slot of a file that reads ``text``."""
    return Slot(text, disk, parse(text or ""))


def test_what_is_put_is_what_is_got_and_nothing_else_changes() -> None:
    draft = Draft(Shelf({"rules.md": "- a\n"}).slot)
    other = parse("- b\n")
    draft.put("rules.md", other)
    assert draft.get("rules.md") is other
    assert draft.get("lessons.md").render() == ""
    assert [name for name, _ in draft.changed()] == ["rules.md"]


def test_files_are_written_in_the_order_of_their_first_change() -> None:
    draft = Draft(Shelf().slot)
    for name in ("b.md", "a.md", "b.md"):
        draft.put(name, draft.get(name).add("x", META))
    assert [name for name, _ in draft.changed()] == ["b.md", "a.md"]


def test_putting_back_what_was_there_changes_nothing() -> None:
    draft = Draft(Shelf({"a.md": "- a\n"}).slot)
    before = draft.get("a.md")
    draft.put("a.md", before)
    draft.put("a.md", before.add("x", META))
    draft.put("a.md", before)
    assert draft.changed() == []


def test_a_file_that_the_disk_holds_otherwise_is_to_be_written() -> None:
    draft = Draft(Shelf().slot)
    draft.preset("a.md", slot("- a\n", b"- other\n"))
    draft.preset("b.md", slot("- \udc80\n", b"- \x80\n"))
    draft.preset("c.md", slot(None, None))
    draft.preset("d.md", slot(None, b""))
    assert [name for name, _ in draft.changed()] == ["a.md", "d.md"]


def test_a_copy_of_a_slot_changes_by_itself() -> None:
    first = slot("- a\n", b"- a\n")
    first.after = first.document.add("b", META)
    second = first.copy()
    second.after = second.document
    assert first.is_dirty
    assert not second.is_dirty
    assert second.document is first.document


@given(pages, pages)
@example("- a\n- b\n", "- a\n- c\n- b\n")
@example("## Never\n- a\n", "")
def test_the_changes_tell_every_entry_that_came_went_or_changed(old: str, new: str) -> None:
    changes = list(entry_changes("rules.md", parse(old), parse(new)))
    before = [placed.block.raw for placed in parse(old).placed()]
    for change in changes:
        assert change.before != change.after
        if change.before is not None:
            before.remove(change.before)
        if change.after is not None:
            before.append(change.after)
    assert sorted(before) == sorted(placed.block.raw for placed in parse(new).placed())


def test_blocks_that_both_documents_share_are_not_looked_at() -> None:
    old = parse("- a\n- b\n- c\n")
    new = old.replace(old.placed()[1].block, "x", META)
    (gone, came) = entry_changes("rules.md", old, new)
    assert (gone.before, gone.after, gone.section) == ("- b\n", None, "")
    assert (came.id, came.before, came.after) == ("zzzzzzzz", None, new.blocks[1].raw)
    assert list(entry_changes("rules.md", old, old)) == []


def test_what_was_taken_out_remembers_its_section() -> None:
    old = parse("## Never\n\n- a\n\n### more\n\n- b\n")
    new = old.remove(old.placed()[1].block)
    (change,) = entry_changes("rules.md", old, new)
    assert (change.before, change.section) == ("- b\n", "never")


def test_an_act_says_who_and_why() -> None:
    assert Act("forget", "user") == Act("forget", "user", "", "")


def test_what_fails_in_the_middle_leaves_nothing() -> None:
    draft = Draft(Shelf({"a.md": "- a\n", "b.md": "- b\n"}).slot)
    draft.put("a.md", draft.get("a.md").add("kept", META))

    def half() -> None:
        with draft.whole():
            draft.put("a.md", draft.get("a.md").add("half", META))
            draft.put("b.md", draft.get("b.md").add("half", META))
            raise KeyError

    with pytest.raises(KeyError):
        half()
    assert [name for name, _ in draft.changed()] == ["a.md"]
    assert "half" not in draft.get("a.md").render()
    assert draft.get("b.md").render() == "- b\n"
    with draft.whole():
        draft.put("b.md", draft.get("b.md").add("whole", META))
    assert [name for name, _ in draft.changed()] == ["a.md", "b.md"]
