"""Reversing a step of the journal."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engramdown.engram import Engram
from engramdown.errors import AmbiguousIdError, EntryNotFoundError, UndoRefusedError
from engramdown.hippocampus.changeset import Act, Draft, retire
from engramdown.hippocampus.history import Step
from engramdown.hippocampus.undo import candidates, last, pick
from tests import step_laws
from tests.hippocampus.shelf import Shelf
from tests.hippocampus.stories import actions, engrams, shelves
from tests.step_laws import Action

ALWAYS = Engram("Use uv", "always", "project")
NEVER = Engram("Push", "never", "project")
LATER = Engram("Later", "lesson", "project")


def forget(number: int = 0) -> Action:
    return Action("forget", number, ALWAYS)


def update(text: str) -> Action:
    return Action("update", 0, Engram(text, "lesson", "project"))


@given(shelves, st.lists(actions, max_size=5))
@example(Shelf({"rules.md": "- a"}), [update("b"), Action("encode", 0, ALWAYS)])
@example(Shelf({"rules.md": "\ufeff- \udc80\r\n"}), [forget(), Action("restore", 0, ALWAYS)])
def test_undoing_every_step_brings_the_bytes_back(shelf: Shelf, many: list[Action]) -> None:
    step_laws.undo_takes_every_step_back(shelf, many)


@given(shelves, actions, st.lists(engrams(), max_size=3))
@example(Shelf({"lessons.md": "- a"}), update("b"), [LATER])
@example(Shelf({"lessons.md": "one\n\ntwo\n"}), forget(1), [LATER])
@example(Shelf({"rules.md": "## Never\n\n- a\n"}), forget(), [NEVER, ALWAYS])
def test_undoing_one_step_leaves_what_came_later(
    shelf: Shelf, action: Action, later: list[Engram]
) -> None:
    step_laws.undo_of_one_step_leaves_the_others(shelf, action, later)


def test_a_line_that_ended_the_file_is_put_back_as_a_line() -> None:
    shelf = Shelf({"lessons.md": "- a <!-- id:aaaaaaaa -->"})
    step_laws.act(shelf, update("b"))
    shelf.encode(LATER)
    shelf.undo("step0000")
    assert shelf.said("lessons.md") == ["a", "Later"]


def test_a_paragraph_comes_back_as_a_paragraph() -> None:
    shelf = Shelf({"lessons.md": "one\n\n- a\n\ntwo\n"})
    step_laws.act(shelf, forget(2))
    shelf.encode(LATER)
    shelf.undo("step0000")
    assert sorted(shelf.said("lessons.md")) == ["Later", "a", "one", "two"]


@pytest.mark.parametrize("again, now", [(ALWAYS, ["Use uv"]), (NEVER, ["Push", "Use uv"])])
def test_what_was_told_again_since_does_not_come_back_beside_it(
    again: Engram, now: list[str]
) -> None:
    shelf = Shelf()
    shelf.encode(ALWAYS)
    shelf.undo()
    shelf.encode(again)
    shelf.undo(shelf.steps[1].id)
    assert sorted(shelf.said("rules.md")) == now


def test_what_was_added_is_taken_out_again_and_nothing_else() -> None:
    shelf = Shelf()
    shelf.encode(ALWAYS)
    shelf.encode(NEVER)
    shelf.undo("step0000")
    assert shelf.said("rules.md") == ["Push"]


def test_a_rule_comes_back_to_its_section() -> None:
    shelf = Shelf({"rules.md": "- top\n\n## Never\n\n- a\n"})
    step_laws.act(shelf, forget(1))
    step_laws.act(shelf, forget(0))
    shelf.encode(ALWAYS)
    shelf.undo("step0000")
    shelf.undo("step0001")
    kinds = {placed.block.text: placed.kind for placed in shelf.document("rules.md").placed()}
    assert kinds == {"a": "never", "Use uv": "always", "top": "always"}


@pytest.mark.parametrize(
    "title, now, back",
    [
        pytest.param("Rain", ["a", "later", "Use uv"], "Rain", id="still-there"),
        pytest.param("Snow", ["later", "Use uv", "a"], "Always", id="renamed"),
    ],
)
def test_a_rule_comes_back_under_the_heading_of_a_person(
    title: str, now: list[str], back: str
) -> None:
    shelf = Shelf({"rules.md": "## Rain\n\n- a\n\n## Sun\n\n- later\n"})
    shelf.retire("rules.md")
    shelf.encode(ALWAYS)
    shelf.texts["rules.md"] = shelf.texts["rules.md"].replace("Rain", title)
    shelf.undo("step0000")
    found = shelf.document("rules.md").placed()
    assert [placed.block.text for placed in found] == now
    assert {placed.heading for placed in found if placed.block.text == "a"} == {back}


def test_a_lesson_comes_back_where_it_stood_or_above_the_sections() -> None:
    page = "## Ours\n\n- a\n- b\n\n## Theirs\n\n- c\n"
    for title, now in (("Ours", ["Later", "b", "a", "c"]), ("Mine", ["Later", "a", "b", "c"])):
        shelf = Shelf({"lessons.md": page})
        shelf.retire("lessons.md")
        shelf.encode(LATER)
        shelf.texts["lessons.md"] = shelf.texts["lessons.md"].replace("Ours", title)
        shelf.undo("step0000")
        assert shelf.said("lessons.md") == now


def test_what_is_back_already_cannot_be_brought_back() -> None:
    shelf = Shelf()
    shelf.encode(ALWAYS)
    step_laws.act(shelf, forget())
    step_laws.act(shelf, Action("restore", 0, ALWAYS))
    shelf.encode(NEVER)
    with pytest.raises(UndoRefusedError):
        shelf.undo("step0001")
    assert shelf.said("rules.md") == ["Use uv", "Push"]


def test_what_is_written_again_is_not_doubled_by_an_undo() -> None:
    shelf = Shelf({"lessons.md": "- a <!-- id:aaaaaaaa -->\n- b\n"})
    step_laws.act(shelf, forget())
    shelf.texts["lessons.md"] += "- a <!-- id:aaaaaaaa -->\n"
    shelf.undo("step0000")
    assert shelf.said("lessons.md") == ["b", "a"]
    assert shelf.said("archive.md") == []


def test_of_two_lines_with_one_id_the_one_that_was_written_is_meant() -> None:
    shelf = Shelf()
    shelf.encode(ALWAYS)
    line = shelf.texts["rules.md"].split("\n")[4] + "\n"
    copied = line.replace("Use uv", "Use uv or pip")
    shelf.texts["rules.md"] = shelf.texts["rules.md"].replace(line, copied + line)
    shelf.undo()
    assert shelf.said("rules.md") == ["Use uv or pip"]


@pytest.mark.parametrize(
    "old, new, reason",
    [
        pytest.param("Use uv", "Use pip", "was changed by hand after it", id="text"),
        pytest.param("ts:", "pin:yes ts:", "was changed by hand", id="metadata"),
        pytest.param("- Use uv", "- x -->\n<!--", "was removed by hand", id="removed"),
    ],
)
def test_what_a_person_changed_since_is_never_overwritten(old: str, new: str, reason: str) -> None:
    shelf = Shelf()
    shelf.encode(ALWAYS)
    shelf.save("rules.md", shelf.texts["rules.md"].replace(old, new))
    before = dict(shelf.texts)
    with pytest.raises(UndoRefusedError, match=reason):
        shelf.undo("step0000")
    assert shelf.texts == before


def test_of_several_memories_those_that_a_person_did_not_delete_are_taken_out() -> None:
    shelf = Shelf()
    shelf.encode_all(ALWAYS, NEVER, Engram("CI is slow", "lesson", "project"))
    stripped(shelf, "rules.md", "Use uv")
    shelf.undo("step0000")
    assert shelf.said("rules.md") == shelf.said("lessons.md") == []


def test_of_memories_in_two_files_all_of_one_may_be_deleted() -> None:
    shelf = Shelf()
    shelf.encode_all(ALWAYS, Engram("CI is slow", "lesson", "project"))
    stripped(shelf, "rules.md", "Use uv")
    shelf.undo("step0000")
    assert shelf.said("rules.md") == shelf.said("lessons.md") == []


def test_of_several_memories_none_is_taken_out_if_a_person_changed_one() -> None:
    shelf = Shelf()
    shelf.encode_all(ALWAYS, NEVER)
    shelf.save("rules.md", shelf.texts["rules.md"].replace("Push", "Pull"))
    before = dict(shelf.texts)
    with pytest.raises(UndoRefusedError, match="was changed by hand"):
        shelf.undo("step0000")
    assert shelf.texts == before


def test_what_a_later_step_changed_is_not_overwritten_either() -> None:
    shelf = Shelf()
    shelf.encode(ALWAYS)
    step_laws.act(shelf, update("Use uv 0.9"))
    with pytest.raises(UndoRefusedError, match="was changed after it"):
        shelf.undo("step0000")


def test_metadata_that_a_later_step_strengthened_does_not_stop_an_undo() -> None:
    shelf = Shelf()
    shelf.encode(ALWAYS)
    shelf.encode(Engram("Use uv", "always", "project", "high"))
    shelf.undo("step0000")
    assert shelf.said("rules.md") == []


def make(name: str, by: str = "llm", op: str = "encode", of: str = "") -> Step:
    return Step(name, "", by, op, "", (), (), of)


def test_the_last_step_of_ours_that_stands_is_undone() -> None:
    steps = [make("aa"), make("ab"), make("ba", "person"), make("bb", "engramdown")]
    assert last(candidates(steps, {})).id == "ab"
    steps.append(make("u1", "user", "undo", "ab"))
    assert last(candidates(steps, {})).id == "aa"
    steps.append(make("u2", "user", "undo", "u1"))
    assert last(candidates(steps, {})).id == "ab"


def test_nothing_is_left_to_undo() -> None:
    with pytest.raises(EntryNotFoundError, match="nothing is left to undo"):
        last(candidates([make("aa", "person")], {}))


def stripped(shelf: Shelf, file: str, text: str) -> None:
    """Let a person delete the line that holds ``text``."""
    lines = shelf.texts[file].split("\n")
    shelf.save(file, "\n".join(line for line in lines if text not in line))


def test_a_step_whose_lines_a_person_deleted_is_passed_over() -> None:
    shelf = Shelf()
    shelf.encode(ALWAYS)
    shelf.encode(Engram("CI is slow", "lesson", "project", topic="CI"))
    stripped(shelf, "lessons.md", "CI is slow")
    assert [(each.step.id, each.gone) for each in shelf.undoable()] == [
        ("step0001", True),
        ("step0000", False),
    ]
    assert shelf.undo().id == "step0000"
    assert shelf.said("rules.md") == []
    with pytest.raises(EntryNotFoundError, match="nothing is left to undo"):
        shelf.undo()


def test_a_step_whose_line_a_person_changed_is_not_passed_over() -> None:
    shelf = Shelf()
    shelf.encode(ALWAYS)
    shelf.encode(NEVER)
    shelf.save("rules.md", shelf.texts["rules.md"].replace("Push", "Pull"))
    with pytest.raises(UndoRefusedError, match=r"step step0001 cannot be undone: rules\.md"):
        shelf.undo()


def test_a_step_whose_line_a_person_moved_is_not_passed_over() -> None:
    shelf = Shelf()
    shelf.encode(ALWAYS)
    shelf.encode(LATER)
    line = shelf.texts["lessons.md"].split("\n")[2]
    shelf.texts["lessons.md"] = "# Lessons\n"
    shelf.texts["topics/ci.md"] = f"{line}\n"
    assert not shelf.undoable()[0].gone
    with pytest.raises(UndoRefusedError, match="was removed after it"):
        shelf.undo()


def test_a_step_that_took_something_out_is_not_passed_over_before_it_is_back() -> None:
    shelf = Shelf({"rules.md": "- Use uv <!-- id:aaaaaaaa -->\n- b\n"})
    shelf.retire("rules.md")
    line = "- Use uv <!-- id:aaaaaaaa -->\n"
    stripped(shelf, "archive.md", "Use uv")
    assert not shelf.undoable()[0].gone
    shelf.save("rules.md", shelf.texts["rules.md"] + line)
    assert shelf.undoable()[0].gone


def test_of_two_lines_with_one_id_one_that_was_taken_out_comes_back() -> None:
    page = "- a <!-- id:aaaaaaaa -->\n- a <!-- id:aaaaaaaa -->\n"
    shelf = Shelf({"lessons.md": page})
    shelf.change(
        Act("rewrite", "user"),
        lambda draft: draft.put(
            "lessons.md", draft.get("lessons.md").remove(draft.get("lessons.md").blocks[0])
        ),
    )
    shelf.undo()
    assert shelf.texts["lessons.md"] == page


def test_a_step_is_named_by_any_unique_prefix() -> None:
    steps = [make("aa"), make("ab"), make("b", "user", "undo", "x")]
    assert pick(steps, "aa").id == "aa"
    assert pick(steps, "b").id == "b"
    with pytest.raises(AmbiguousIdError, match="aa, ab"):
        pick(steps, "a")
    with pytest.raises(EntryNotFoundError, match="history"):
        pick(steps, "zz")


@pytest.mark.parametrize("by", ["person", "engramdown"])
def test_a_hand_edit_is_not_ours_to_undo(by: str) -> None:
    with pytest.raises(UndoRefusedError, match="is a hand edit"):
        pick([make("aa", by)], "aa")


def test_a_step_is_undone_once() -> None:
    steps = [make("aa"), make("u1", "user", "undo", "aa")]
    with pytest.raises(UndoRefusedError, match="was undone already"):
        pick(steps, "aa")


def test_an_undo_can_be_undone() -> None:
    shelf = Shelf()
    shelf.encode(ALWAYS)
    before = dict(shelf.texts)
    shelf.undo()
    shelf.undo("step0001")
    assert shelf.texts == before


@pytest.mark.parametrize("tick", ["x", "X", "-"])
def test_a_proposal_that_comes_back_waits_again(tick: str) -> None:
    page = f"- [{tick}] Use uv <!-- id:aaaaaaaa kind:always -->\n- [x] other <!-- id:bbbbbbbb -->\n"
    shelf = Shelf({"pending.md": page})
    shelf.change(
        Act("resolve", "user"),
        lambda draft: draft.put(
            "pending.md", draft.get("pending.md").remove(draft.get("pending.md").placed()[0].block)
        ),
    )
    shelf.undo()
    assert shelf.texts["pending.md"] == page.replace(f"[{tick}] Use", "[ ] Use")


def test_a_change_of_one_memory_in_a_step_of_several_is_reversed_by_itself() -> None:
    shelf = Shelf()

    def edit(draft: Draft) -> None:
        draft.put("rules.md", draft.get("rules.md").add_item("- a\n", "always"))
        draft.put("lessons.md", draft.get("lessons.md").add_item("- b\n"))

    shelf.change(Act("encode", "llm"), edit)
    shelf.encode(ALWAYS)
    shelf.undo("step0000")
    assert (shelf.said("rules.md"), shelf.said("lessons.md")) == (["Use uv"], [])


def twins_of_which_one_is_retired() -> Shelf:
    """Return lessons of which a duplicate was retired, and then a person deleted its twin."""
    shelf = Shelf({"lessons.md": "- a <!-- id:aaaaaaaa -->\n- a\n- b\n"})
    shelf.retire("lessons.md", "duplicate")
    shelf.save("lessons.md", "- b\n")
    return shelf


def test_what_a_person_deleted_since_is_not_brought_back() -> None:
    shelf = twins_of_which_one_is_retired()
    with pytest.raises(UndoRefusedError, match="you deleted what it took out"):
        shelf.undo("step0000")
    assert shelf.said("lessons.md") == ["b"]
    assert shelf.said("archive.md") == ["a", "a"]


def test_what_a_person_did_not_delete_comes_back_beside_it() -> None:
    shelf = Shelf({"lessons.md": "- a <!-- id:aaaaaaaa -->\n- a\n- b <!-- id:bbbbbbbb -->\n- c\n"})

    def retire_both(draft: Draft) -> None:
        for placed in (each for each in draft.get("lessons.md").placed() if each.block.meta):
            retire(draft, placed, "lessons.md", "duplicate", "")
            draft.put("lessons.md", draft.get("lessons.md").remove(placed.block))

    shelf.change(Act("compact", "consolidation"), retire_both)
    shelf.save("lessons.md", "- c\n")
    shelf.undo("step0000")
    assert shelf.said("lessons.md") == ["c", "b"]
    assert [each.split(" <")[0] for each in shelf.said("archive.md")] == ["a", "a"]


def test_what_was_written_again_since_is_brought_back() -> None:
    shelf = twins_of_which_one_is_retired()
    shelf.save("lessons.md", "- b\n- c\n- a\n")
    shelf.undo("step0000")
    assert shelf.said("lessons.md").count("a") == 2


def test_what_stays_away_is_still_in_an_archive_that_nobody_changed() -> None:
    shelf = Shelf({"lessons.md": "- a <!-- id:aaaaaaaa -->\n- a\n- b\n"})
    shelf.texts["archive.md"] = "- a <!-- id:dddddddd was:lessons.md reason:deleted by:person -->\n"
    shelf.retire("lessons.md", "duplicate")
    shelf.save("lessons.md", "- b\n")
    with pytest.raises(UndoRefusedError):
        shelf.undo("step0000")
    assert shelf.said("archive.md") == ["a", "a"]


def test_a_restore_of_what_a_person_deleted_is_undone_and_done_again() -> None:
    shelf = Shelf({"lessons.md": "- a\n- b\n"})
    shelf.save("lessons.md", "- b\n")
    shelf.restore()
    undone = len(shelf.steps)
    shelf.undo()
    shelf.encode(LATER)
    shelf.undo(shelf.steps[undone].id)
    assert sorted(shelf.said("lessons.md")) == ["Later", "a", "b"]
    assert shelf.said("archive.md") == []


@pytest.mark.parametrize("own", ["", " <!-- id:aaaaaaaa -->"], ids=["by-hand", "by-us"])
def test_a_fact_that_another_one_has_replaced_since_stays_in_the_archive(own: str) -> None:
    shelf = Shelf({"profile.md": f"- City: Rome{own}\n"})
    shelf.retire("profile.md")
    shelf.encode(Engram("City: Oslo", "profile", "global"))
    before = dict(shelf.texts)
    with pytest.raises(UndoRefusedError, match="another fact has its place now"):
        shelf.undo("step0000")
    assert shelf.texts == before
    shelf.restore()
    assert shelf.said("profile.md") == ["City: Rome"]


@pytest.mark.parametrize("own", ["", " <!-- id:aaaaaaaa -->"], ids=["by-hand", "by-us"])
def test_what_no_other_fact_has_replaced_comes_back_beside_it(own: str) -> None:
    shelf = Shelf({"profile.md": f"- City: Rome{own}\n- Tea: green <!-- id:bbbbbbbb -->\n"})

    def retire_both(draft: Draft) -> None:
        for placed in draft.get("profile.md").placed():
            retire(draft, placed, "profile.md", "expired", "")
            draft.put("profile.md", draft.get("profile.md").remove(placed.block))

    shelf.change(Act("compact", "consolidation"), retire_both)
    shelf.encode(Engram("City: Oslo", "profile", "global"))
    shelf.undo("step0000")
    assert shelf.said("profile.md") == ["City: Oslo", "Tea: green"]
    assert shelf.said("archive.md") == ["City: Rome"]


def test_two_facts_of_one_key_that_a_person_wrote_come_back_both() -> None:
    page = "- City: Rome\n- City: Oslo\n"
    shelf = Shelf({"profile.md": page})
    shelf.retire("profile.md")
    shelf.encode(Engram("Tea: green", "profile", "global"))
    shelf.undo("step0000")
    assert sorted(shelf.said("profile.md")) == ["City: Oslo", "City: Rome", "Tea: green"]
