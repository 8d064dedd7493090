"""What a hand edit says."""

from __future__ import annotations

import pytest
from hypothesis import example, given

from engramdown.hippocampus.changeset import Act, Draft, verify
from engramdown.hippocampus.entry import address, as_entry, raw_entries, tombstones
from engramdown.hippocampus.hand_edits import Save, carry_over, respond
from tests import step_laws
from tests.hippocampus.shelf import Shelf
from tests.hippocampus.stories import saves

A, B = (f"- {name} <!-- id:{name * 8} -->\n" for name in "ab")
LATER = "- later <!-- id:llllllll ts:1 -->\n"


def buried(shelf: Shelf) -> list[str]:
    """Return what is not to be learned again."""
    return [placed.block.text for placed in tombstones(shelf.document("archive.md"))]


@given(saves())
@example(("rules.md", (A, A + LATER), "mine\n\n" + A))
@example(("lessons.md", (A + "- x\n- x\n",), A + "- x\n"))
@example(("rules.md", ("- x\n",), "## Never\n- x\n"))
@example(
    (
        "rules.md",
        ("- item\n  indented\n- item\n", "- item\n  indented <!-- confidence:high -->\n- item\n"),
        "- item\n\n  indented\n- item\n",
    )
)
def test_the_words_of_both_are_kept(save: tuple[str, tuple[str, ...], str]) -> None:
    file, states, saved = save
    step_laws.hand_edits_keep_the_words_of_both(Shelf({file: states[-1]}), file, states, saved)


def test_a_changed_line_is_verified_and_keeps_its_id() -> None:
    shelf = Shelf({"rules.md": A + B})
    mark = f"aaaaaaaa{address('better')}"
    assert shelf.save("rules.md", A.replace("- a", "- better") + B) == (mark,)
    # The editor may still hold the file: its mark comes with the next step.
    assert shelf.texts == {"rules.md": "- better <!-- id:aaaaaaaa -->\n" + B}
    document, left = verify(shelf.document("rules.md"), (mark, "bbbbbbbb_0000000"))
    assert document.render() == "- better <!-- id:aaaaaaaa basis:verified -->\n" + B
    assert left == ("bbbbbbbb_0000000",)
    (better, _) = raw_entries("rules.md", document)
    assert as_entry("rules.md", "project", better).by_person
    assert verify(document, (mark,)) == (document, ())


def test_what_was_to_be_marked_before_is_marked_with_what_else_is_written() -> None:
    lesson = "- a <!-- id:aaaaaaaa -->\n"
    shelf = Shelf({"lessons.md": lesson + LATER})
    marks = (f"aaaaaaaa{address('a')}", "cccccccc_0000000")
    left = shelf.save("lessons.md", lesson + "- b\n", states=(lesson,), marks=marks)
    assert "- a <!-- id:aaaaaaaa basis:verified -->\n" in shelf.texts["lessons.md"]
    assert left == ("cccccccc_0000000",)


def test_what_git_did_not_know_goes_into_what_it_brought_and_verifies_nothing() -> None:
    brought = A.replace("- a", "- theirs") + B
    shelf = Shelf({"rules.md": brought})
    edit = Save("rules.md", A + B, A + B, A.replace("- a", "- ours") + LATER)
    act = Act("notice", "engramdown")
    shelf.change(act, lambda draft: carry_over(draft, edit))
    assert shelf.texts["rules.md"] == A.replace("- a", "- theirs") + LATER
    assert "- ours" in shelf.texts["archive.md"]
    assert "reason:conflict" in shelf.texts["archive.md"]


def test_a_line_that_is_verified_already_is_left_alone() -> None:
    verified = "- a <!-- id:aaaaaaaa basis:verified -->\n"
    shelf = Shelf({"rules.md": verified})
    saved = verified.replace("- a", "- better")
    shelf.save("rules.md", saved)
    assert shelf.texts == {"rules.md": saved}


def test_changing_only_the_metadata_verifies_nothing() -> None:
    shelf = Shelf({"rules.md": A})
    saved = A.replace("-->", "pin:yes -->")
    assert shelf.save("rules.md", saved) == ()
    assert shelf.texts == {"rules.md": saved}


def test_a_changed_line_without_an_id_stays_as_it_was_saved() -> None:
    shelf = Shelf({"rules.md": "- use uv\n"})
    assert shelf.save("rules.md", "- Use  UV.\n") == ()
    assert shelf.texts == {"rules.md": "- Use  UV.\n"}


@pytest.mark.parametrize("file", ["pending.md", "archive.md"])
def test_nothing_is_verified_where_nothing_is_a_memory(file: str) -> None:
    shelf = Shelf({file: A})
    saved = A.replace("- a", "- better")
    assert shelf.save(file, saved) == ()
    assert shelf.texts == {file: saved}


def test_the_copy_under_a_topic_follows_a_change_and_a_deletion() -> None:
    line = "- a <!-- id:aaaaaaaa topic:ci -->\n"
    shelf = Shelf({"lessons.md": line, "topics/ci.md": "# ci\n\n" + line})
    shelf.save("lessons.md", line.replace("- a", "- better"))
    assert shelf.said("topics/ci.md") == ["better"]
    shelf.save("topics/ci.md", "# ci\n\n")
    assert shelf.said("lessons.md") == []
    assert buried(shelf) == ["better"]


def test_the_copy_that_an_assistant_filed_since_follows_a_deletion() -> None:
    line = A.replace("-->", "topic:ci -->").replace("- a", "- ours")
    now = line + B.replace("- b", "- better")
    shelf = Shelf({"lessons.md": now, "topics/ci.md": "# ci\n\n" + line})
    shelf.save("lessons.md", B, (A + B, now))
    assert shelf.said("lessons.md") == ["better"]
    assert shelf.said("topics/ci.md") == []


def test_a_lesson_is_back_whole_with_the_file_of_its_topic() -> None:
    line = "- a <!-- id:aaaaaaaa topic:ci -->\n"
    shelf = Shelf({"lessons.md": line, "topics/ci.md": line})
    shelf.save("lessons.md", "")
    assert shelf.said("topics/ci.md") == []
    shelf.texts["topics/ci.md"] = ""
    shelf.save("topics/ci.md", line)
    assert shelf.said("lessons.md") == ["a"]
    assert buried(shelf) == []


def test_a_copy_that_reads_otherwise_is_left_alone() -> None:
    line = "- a <!-- id:aaaaaaaa topic:ci -->\n"
    shelf = Shelf({"lessons.md": line, "topics/ci.md": line.replace("- a", "- other")})
    shelf.save("lessons.md", line.replace("- a", "- better"))
    assert shelf.said("topics/ci.md") == ["other"]
    shelf.save("lessons.md", "")
    assert shelf.said("topics/ci.md") == ["other"]


@pytest.mark.parametrize(
    "topic, said", [("net", ["a"]), ("", None), ("No Slug", None)], ids=["other", "none", "no-slug"]
)
def test_the_copy_under_a_topic_follows_a_change_of_the_topic(
    topic: str, said: list[str] | None
) -> None:
    line = "- a <!-- id:aaaaaaaa topic:ci -->\n"
    shelf = Shelf({"lessons.md": line, "topics/ci.md": "# ci\n\n" + line})
    shelf.save("lessons.md", line.replace("topic:ci", f"topic:{topic}" if topic else "pin:yes"))
    assert shelf.texts["topics/ci.md"] == "# ci\n\n"
    assert (shelf.said("topics/net.md") or None) == said
    assert buried(shelf) == []


def test_a_lesson_may_get_other_words_and_another_topic_at_once() -> None:
    line = "- a <!-- id:aaaaaaaa topic:ci -->\n"
    shelf = Shelf({"lessons.md": line, "topics/net.md": "- b\n"})
    saved = "- better <!-- id:aaaaaaaa topic:net -->\n"
    shelf.save("lessons.md", saved)
    verified = saved.replace(" -->", " basis:verified -->")
    assert shelf.texts == {"lessons.md": saved, "topics/net.md": "- b\n" + verified}


def test_a_lesson_that_stands_under_its_new_topic_already_is_not_filed_twice() -> None:
    line = "- a <!-- id:aaaaaaaa topic:ci -->\n"
    shelf = Shelf({"lessons.md": line, "topics/net.md": "- A.\n"})
    shelf.save("lessons.md", line.replace("topic:ci", "topic:net"))
    assert shelf.texts["topics/net.md"] == "- A.\n"


def test_an_old_buffer_that_nobody_changed_says_nothing() -> None:
    shelf = Shelf({"pending.md": "- [ ] b <!-- id:bbbbbbbb -->\n"})
    old = "- [ ] a <!-- id:aaaaaaaa -->\n"
    now = shelf.texts["pending.md"]
    edit = Save("pending.md", base=old, seen=now, head=now)

    def notice(draft: Draft) -> None:
        draft.put("pending.md", Shelf({"x": old}).document("x"))
        respond(draft, edit, lambda _: False)

    shelf.change(Act("notice", "engramdown"), notice)
    assert shelf.texts == {"pending.md": "- [ ] b <!-- id:bbbbbbbb -->\n"}


def test_a_removed_line_leaves_a_tombstone() -> None:
    shelf = Shelf({"rules.md": "## Never\n\n- a\n- b <!-- id:bbbbbbbb -->\n"})
    shelf.save("rules.md", "## Never\n")
    assert shelf.texts["archive.md"] == (
        "# Archive\n\n"
        "- a <!-- id:00000001 kind:never was:rules.md reason:deleted by:person"
        " archived:2026-02-27 hand:yes -->\n"
        "- b <!-- id:bbbbbbbb kind:never was:rules.md reason:deleted by:person"
        " archived:2026-02-27 -->\n"
    )


def test_an_older_record_of_another_kind_is_no_tombstone() -> None:
    replaced = "- a <!-- id:aaaaaaaa kind:profile was:profile.md reason:replaced -->\n"
    shelf = Shelf({"profile.md": A, "archive.md": replaced})
    shelf.save("profile.md", "")
    assert buried(shelf) == ["a"]
    shelf.save("profile.md", A)
    shelf.save("profile.md", "")
    assert buried(shelf) == ["a"]


def test_a_tombstone_that_stands_already_is_not_doubled() -> None:
    stone = "- A. <!-- id:aaaaaaaa kind:always was:rules.md reason:forgotten -->\n"
    shelf = Shelf({"rules.md": "- a\n", "archive.md": stone})
    shelf.save("rules.md", "")
    assert shelf.texts["archive.md"] == stone


@pytest.mark.parametrize(
    "before, after",
    [
        pytest.param("- a\n- a\n", "- a\n", id="one-of-two"),
        pytest.param("- a\n\n- b\n", "- b\n- a\n", id="moved"),
        pytest.param("## Always\n- a\n", "## Never\n- a\n", id="another-kind"),
        pytest.param("intro\n\n## Always\n", "## Always\n", id="no-memory"),
    ],
)
def test_what_is_still_there_or_was_no_memory_leaves_none(before: str, after: str) -> None:
    shelf = Shelf({"rules.md": before})
    shelf.save("rules.md", after)
    assert shelf.texts == {"rules.md": after}


def test_what_was_moved_to_another_file_leaves_none() -> None:
    shelf = Shelf({"rules.md": A})
    assert shelf.save("rules.md", "", elsewhere=lambda placed: placed.block.text == "a") == ()
    assert "archive.md" not in shelf.texts


def test_a_removed_proposal_counts_as_declined_and_a_note_or_a_question_does_not() -> None:
    proposal = "- [ ] Use uv <!-- id:aaaaaaaa kind:always -->\n"
    plain = "- [ ] pip is fine\n"
    question = "- [ ] Delete: x <!-- id:bbbbbbbb op:forget of:cccccccc -->\n"
    shelf = Shelf({"pending.md": proposal + plain + question + "- a note of mine\n"})
    shelf.save("pending.md", "")
    assert buried(shelf) == ["Use uv", "pip is fine"]
    kinds = [placed.block.meta for placed in shelf.document("archive.md").placed()]
    assert [meta.get("kind") for meta in kinds if meta] == ["always", "lesson"]


def test_a_line_taken_out_of_the_archive_is_just_gone() -> None:
    shelf = Shelf({"archive.md": A})
    shelf.save("archive.md", "")
    assert shelf.texts == {"archive.md": ""}


def test_writing_it_again_by_hand_lifts_the_tombstone() -> None:
    shelf = Shelf({"rules.md": A})
    shelf.save("rules.md", "")
    assert buried(shelf) == ["a"]
    shelf.save("rules.md", "- A.\n")
    assert buried(shelf) == []


def test_an_editor_that_did_not_know_our_line_takes_it_away_no_more_and_is_asked() -> None:
    shelf = Shelf({"lessons.md": A + LATER})
    shelf.save("lessons.md", A + "- mine\n", (A, A + LATER))
    assert shelf.texts["lessons.md"] == A + "- mine\n" + LATER
    assert shelf.texts["pending.md"] == (
        "# Pending\n\n"
        "- [ ] Delete: later <!-- id:00000001 kind:lesson source:consolidation op:forget"
        " of:llllllll reason:saved_from_an_editor_that_was_opened_before_this"
        "_line_was_written ts:2026-02-27 -->\n"
    )


def test_nothing_is_asked_about_a_line_that_was_saved_too() -> None:
    shelf = Shelf({"lessons.md": A + LATER})
    shelf.save("lessons.md", A + "- later\n- mine\n", (A, A + LATER))
    assert "pending.md" not in shelf.texts
    assert shelf.said("lessons.md") == ["a", "later", "mine"]


def test_a_line_of_their_own_that_an_old_editor_did_not_know_is_asked_about() -> None:
    shelf = Shelf({"lessons.md": A + LATER + "- hand\n"})
    shelf.save("lessons.md", A + "- mine\n", (A, A + LATER + "- hand\n"))
    assert shelf.said("lessons.md") == ["a", "mine", "later", "hand"]
    assert shelf.said("pending.md") == ["[ ] Delete: later", "[ ] Delete: hand"]


@pytest.mark.parametrize("file", ["pending.md", "archive.md"])
def test_nothing_is_asked_about_lines_that_are_no_memories(file: str) -> None:
    shelf = Shelf({file: A + LATER})
    shelf.save(file, A + "- mine\n", (A, A + LATER))
    assert shelf.texts.keys() == {file}
    assert shelf.texts[file] == A + "- mine\n" + LATER


def test_what_was_written_after_the_save_is_neither_missed_nor_asked_about() -> None:
    shelf = Shelf({"lessons.md": A + LATER})
    edit = Save("lessons.md", base=A, seen=A, head=A + LATER)

    def notice(draft: Draft) -> None:
        draft.put("lessons.md", Shelf({"x": A + "- mine\n"}).document("x"))
        respond(draft, edit, lambda _: False)

    shelf.change(Act("notice", "engramdown"), notice)
    assert shelf.texts == {"lessons.md": A + "- mine\n" + LATER}


@pytest.mark.parametrize(
    "file, kind", [("rules.md", "always"), ("profile.md", "profile"), ("lessons.md", "lesson")]
)
def test_our_change_that_gave_way_is_in_the_archive(file: str, kind: str) -> None:
    ours, theirs = A.replace("- a", "- ours"), A.replace("- a", "- theirs")
    shelf = Shelf({file: ours + LATER})
    shelf.save(file, theirs, (A, ours + LATER))
    assert shelf.said(file) == ["theirs", "later"]
    (lost,) = shelf.document("archive.md").placed()
    assert lost.block.text == "ours"
    assert lost.block.meta is not None
    assert lost.block.meta.get("reason") == "conflict"
    assert lost.block.meta.get("kind") == kind
    assert buried(shelf) == []


def test_a_question_about_memories_that_is_deleted_is_answered_and_keeps_no_words_out() -> None:
    line = "- [ ] Remove: a <!-- id:qqqqqqqq kind:lesson op:expire of:aaaaaaaa seen:x -->\n"
    shelf = Shelf({"pending.md": line + "- [ ] note\n"})
    shelf.save("pending.md", "- [ ] note\n")
    assert buried(shelf) == []
    assert "op:expire of:aaaaaaaa" in shelf.texts["archive.md"]
    assert "reason:kept" in shelf.texts["archive.md"]
