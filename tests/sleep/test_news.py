"""Steps of a journal become news: each memory once, and only what is so in the end."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engramdown.hippocampus.history import Change, Part, Step
from engramdown.sleep.watcher import News, edited, news_of

AT = "2026-03-01T10:00:00.000000Z"


def step(op: str, *changes: Change, by: str = "person", why: str = "", new: str = "") -> Step:
    """Return a step that did ``changes``; ``new`` is the text of a file that it brought."""
    files = dict.fromkeys(change.file for change in changes) or {"lessons.md": None}
    parts = tuple(Part(file, "", "1", 0, "", new) for file in files)
    return Step("stepstep", AT, by, op, why, parts, changes)


def change(
    before: str | None, after: str | None, file: str = "lessons.md", id_: str = "aaaaaaaa"
) -> Change:
    """Return what happened to an entry, its texts without the bullet."""
    raw = [None if text is None else f"- {text} <!-- id:{id_} -->\n" for text in (before, after)]
    return Change(id_, file, raw[0], raw[1])


def told(*steps: Step) -> list[tuple[str, ...]]:
    """Return what is told of ``steps``: the deed, the text and the file."""
    return [(item.what, item.text, item.file) for item in news_of(steps, "project")]


def test_what_came_went_and_was_changed_is_told_with_who_did_it() -> None:
    done = step("encode", change(None, "Use uv"), by="llm")
    assert list(news_of([done], "global")) == [
        News("learned", "Use uv", "", "llm", "global", "lessons.md", 0, "aaaaaaaa", "stepstep", AT)
    ]
    assert told(step("forget", change("Use uv", None), by="user")) == [
        ("forgot", "Use uv", "lessons.md")
    ]
    [item] = news_of([step("edit", change("Use uv", "Use uv, never pip"))], "project")
    assert (item.what, item.text, item.before) == ("changed", "Use uv, never pip", "Use uv")


def test_no_steps_tell_nothing() -> None:
    assert told() == []


def test_what_changes_in_metadata_alone_is_not_told() -> None:
    marked = Change("a", "rules.md", "- X <!-- id:a -->\n", "- X <!-- id:a basis:verified -->\n")
    assert told(step("notice", marked, by="engramdown")) == []


def test_what_a_person_notes_of_a_memory_is_told_with_its_id() -> None:
    raw = "- X <!-- id:aaaaaaaa{} -->\n"
    both = [
        Change("aaaaaaaa", file, raw.format(""), raw.format(" pin:yes"))
        for file in ("topics/ci.md", "lessons.md")
    ]
    [item] = news_of([step("update", *both, by="user", why="pinned")], "project")
    assert (item.what, item.id, item.text, item.before) == ("changed", "aaaaaaaa", "X", "")
    assert item.file == "lessons.md"
    [back] = news_of([step("undo", both[0], by="user")], "project")
    assert (back.what, back.id) == ("changed", "aaaaaaaa")


def test_a_lesson_of_a_topic_is_told_once_with_the_file_of_all_lessons() -> None:
    both = (change(None, "Slow", "topics/ci.md"), change(None, "Slow"))
    assert told(step("encode", *both)) == [("learned", "Slow", "lessons.md")]
    later = step("notice", change("Slow", "Slow on Mondays", "topics/ci.md"))
    assert told(step("edit", change("Slow", "Slow on Mondays")), later) == [
        ("changed", "Slow on Mondays", "lessons.md")
    ]


def test_what_a_stale_save_seems_to_delete_and_gets_back_was_not_forgotten() -> None:
    save = step("edit", change("Learned meanwhile", None), change(None, "Mine", id_="_mine"))
    back = step("notice", change(None, "Learned meanwhile"), by="engramdown")
    assert told(save, back) == [("learned", "Mine", "lessons.md")]


def test_an_entry_that_is_in_another_file_was_moved() -> None:
    steps = (step("edit", change("X", None)), step("edit", change(None, "X", "topics/ci.md")))
    assert told(*steps) == [("moved", "X", "topics/ci.md")]


def test_a_line_without_an_id_that_is_reworded_was_changed() -> None:
    save = step(
        "edit",
        change("Mine is the kitchen", None, id_="_1"),
        change("Nothing like it", None, id_="_2"),
        change(None, "Mine is the big kitchen", id_="_3"),
        change(None, "Mine is the big kitchen", "rules.md", id_="_4"),
    )
    found = [(item.what, item.text, item.before) for item in news_of([save], "project")]
    assert found == [
        ("forgot", "Nothing like it", ""),
        ("changed", "Mine is the big kitchen", "Mine is the kitchen"),
        ("learned", "Mine is the big kitchen", ""),
    ]


def test_of_very_many_lines_none_is_compared_with_all_others() -> None:
    gone = [change(f"Line {number}", None, id_=f"_a{number}") for number in range(60)]
    come = [change(None, f"Line {number}.5", id_=f"_b{number}") for number in range(60)]
    deeds = [item.what for item in news_of([step("checkout", *gone, *come)], "project")]
    assert deeds == ["forgot"] * 60 + ["learned"] * 60


def test_steps_of_others_are_not_taken_for_what_follows_from_an_edit() -> None:
    assert told(step("edit", change(None, "X")), step("forget", change("X", None), by="user")) == [
        ("learned", "X", "lessons.md"),
        ("forgot", "X", "lessons.md"),
    ]


def test_what_is_restored_or_undone_comes_back() -> None:
    for op in ("restore", "undo"):
        assert told(step(op, change(None, "X"), by="user"))[0][0] == "restored"


def test_a_file_that_somebody_brought_is_told_entry_by_entry() -> None:
    brought = step("found", new="# Lessons\n\n- One\n- Two <!-- id:bbbbbbbb -->\n")
    assert told(brought) == [("learned", "One", "lessons.md"), ("learned", "Two", "lessons.md")]
    assert {item.by for item in news_of([brought], "project")} == {""}


def test_what_git_brings_is_gits() -> None:
    [item] = news_of([step("checkout", change(None, "X"))], "project")
    assert (item.what, item.by) == ("learned", "git")
    [item] = news_of([step("checkout")], "project")
    assert (item.what, item.by) == ("edited", "git")


def test_a_save_in_which_no_memory_says_anything_else_edited_the_file() -> None:
    assert told(step("edit")) == [("edited", "", "lessons.md")]
    tombstone = step("edit", change("Gone", None, "archive.md"))
    assert told(tombstone) == [("edited", "", "archive.md")]
    assert told(step("rewrite", by="user")) == []


def test_proposals_are_asked_declined_and_reworded() -> None:
    asked = step("propose", change(None, "[ ] Maybe", "pending.md"), by="llm")
    assert told(asked) == [("asked", "Maybe", "pending.md")]
    gone = change("[ ] Maybe", None, "pending.md")
    assert told(step("decline", gone, by="user")) == [("declined", "Maybe", "pending.md")]
    assert told(step("edit", gone)) == [("declined", "Maybe", "pending.md")]
    assert told(step("undo", gone, by="user")) == []
    other = change("[ ] Maybe", "[ ] Surely", "pending.md")
    assert told(step("edit", other)) == [("changed", "Surely", "pending.md")]


def test_a_line_that_is_ticked_as_it_is_written_asks_nobody() -> None:
    written = [change(None, f"[{tick}] Maybe", "pending.md", tick) for tick in "x- "]
    assert [item.id for item in news_of([step("edit", *written)], "project")] == [" "]


def test_a_tick_is_told_by_what_comes_of_it() -> None:
    tick = step("edit", change("[ ] Maybe", "[x] Maybe", "pending.md"))
    done = step(
        "accept",
        change(None, "Maybe", "topics/ci.md", "bbbbbbbb"),
        change(None, "Maybe", id_="bbbbbbbb"),
        change("[x] Maybe", None, "pending.md"),
        by="user",
    )
    assert told(tick, done) == [("approved", "Maybe", "lessons.md")]


def test_a_proposal_that_says_what_is_known_is_approved_all_the_same() -> None:
    pending = change("[x] Known", None, "pending.md")
    assert told(step("accept", pending, by="user")) == [("approved", "Known", "pending.md")]
    away = step("accept", pending, by="user", why="accepted proposal a into the other scope")
    assert told(away) == []


def test_an_accepted_deletion_forgets() -> None:
    both = (change("Old", None), change("[x] Old", None, "pending.md", "p"))
    assert told(step("accept", *both, by="user")) == [("forgot", "Old", "lessons.md")]


def test_secrets_are_not_told() -> None:
    token = "ghp_" + "a1B2" * 9
    [item] = news_of([step("edit", change(f"Old {token}", f"Use {token}"))], "project")
    assert token not in item.text + item.before


def test_of_a_paragraph_that_is_no_memory_only_the_edit_is_told() -> None:
    item = News("learned", "Hello", "", "person", "project", "rules.md", 1, "_x", "s", AT)
    assert edited(item) == News("edited", "", "", "person", "project", "rules.md", 0, "", "s", AT)


TEXTS = st.lists(st.sampled_from([None, "One", "Two"]), max_size=6)


@given(TEXTS)
def test_of_any_edits_in_a_row_what_is_so_in_the_end_is_told(later: list[str | None]) -> None:
    texts = [None, *later]
    steps = [
        step("edit", change(before, after))
        for before, after in zip(texts[:-1], later, strict=True)
        if before != after
    ]
    found = [item.text for item in news_of(steps, "project") if item.what != "edited"]
    assert found == ([texts[-1]] if texts[-1] else [])
