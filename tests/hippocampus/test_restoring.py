"""Bringing back what was retired."""

from __future__ import annotations

import pytest
from hypothesis import example, given

from engramdown.engram import Engram
from engramdown.errors import EntryNotFoundError
from engramdown.hippocampus.changeset import pick, retired
from engramdown.hippocampus.entry import entry_id, raw_entries
from engramdown.markdown.document import parse
from tests import step_laws
from tests.hippocampus.shelf import Shelf
from tests.hippocampus.stories import numbers, shelves
from tests.tables import every

ADA = "- Name: Ada <!-- id:aaaaaaaa -->\n"
BOB = Engram("Name: Bob", "profile", "global", source="user")


@given(shelves, numbers)
@example(
    Shelf({"archive.md": "- Name: Ada <!-- id:a kind:profile -->", "profile.md": "- name: Bob"}), 0
)
@example(Shelf({"archive.md": "- a <!-- id:a kind:lesson topic:ci was:lessons.md -->"}), 0)
def test_restoring_loses_nothing_and_doubles_nothing(shelf: Shelf, number: int) -> None:
    step_laws.restoring_loses_and_doubles_nothing(shelf, number)


@every(
    "file, line, back",
    [
        pytest.param(
            "rules.md",
            "- Use uv <!-- id:aaaaaaaa x:1 -->\n",
            "## Always\n\n- Use uv <!-- id:aaaaaaaa x:1 -->\n",
            id="rule",
        ),
        pytest.param("rules.md", "- Use uv\n", "## Always\n\n- Use uv\n", id="written-by-hand"),
        pytest.param("lessons.md", "- a <!-- id:aaaaaaaa -->\n", None, id="lesson"),
        pytest.param("topics/x.md", "- a <!-- id:aaaaaaaa -->\n", None, id="topic"),
        pytest.param("profile.md", "- Name: Ada\n", None, id="fact"),
    ],
)
def test_what_was_retired_comes_back(file: str, line: str, back: str | None) -> None:
    shelf = Shelf({file: "# T\n\n" + line})
    shelf.retire(file)
    assert shelf.said(file) == []
    filed = shelf.restore()
    assert (filed.file, filed.added) == (file, True)
    assert shelf.texts[file] == "# T\n\n" + (back or line)
    assert filed.id == entry_id(raw_entries(file, shelf.document(file))[0])
    assert shelf.said("archive.md") == []


def test_a_lesson_comes_back_to_its_topic_too() -> None:
    shelf = Shelf()
    shelf.encode(Engram("CI is slow", "lesson", "project", topic="CI"))
    del shelf.texts["topics/ci.md"]
    shelf.retire("lessons.md")
    shelf.restore()
    assert shelf.said("topics/ci.md") == shelf.said("lessons.md") == ["CI is slow"]


def test_what_was_learned_again_meanwhile_is_not_doubled() -> None:
    shelf = Shelf({"profile.md": ADA})
    shelf.retire("profile.md", "replaced")
    again = shelf.encode(Engram("Name: Ada", "profile", "global", source="user"))
    filed = shelf.restore()
    assert (filed.id, filed.added) == (again.id, False)
    assert shelf.said("profile.md") == ["Name: Ada"]
    assert shelf.said("archive.md") == []


def test_a_fact_that_comes_back_takes_the_place_of_its_successor() -> None:
    shelf = Shelf({"profile.md": f"# Profile\n\n{ADA}- City: Rome\n"})
    before = dict(shelf.texts)
    bob = shelf.encode(BOB)
    (ada,) = shelf.document("archive.md").placed()
    assert ada.metadata.get("replaced") == bob.id
    filed = shelf.restore()
    assert (filed.id, filed.added) == ("aaaaaaaa", True)
    assert shelf.texts["profile.md"] == before["profile.md"]
    (gone,) = shelf.document("archive.md").placed()
    assert (entry_id(gone), gone.block.text) == (bob.id, "Name: Bob")
    assert "kind:profile was:profile.md reason:replaced by:user" in gone.block.raw


def test_facts_give_way_to_each_other_as_often_as_one_likes() -> None:
    shelf = Shelf({"profile.md": ADA})
    shelf.encode(BOB)
    for name in ("Ada", "Bob", "Ada"):
        shelf.restore()
        assert shelf.said("profile.md") == [f"Name: {name}"]
        assert len(shelf.said("archive.md")) == 1


def test_a_fact_of_a_person_gives_way_too_and_comes_back_as_theirs() -> None:
    shelf = Shelf(
        {
            "profile.md": "- Name: Bob\n",
            "archive.md": "- Name: Ada <!-- id:aaaaaaaa kind:profile -->",
        }
    )
    shelf.restore()
    assert shelf.texts["profile.md"] == ADA
    shelf.restore()
    assert shelf.texts["profile.md"] == "- Name: Bob\n"


def test_an_undo_takes_the_swap_of_two_facts_back() -> None:
    shelf = Shelf({"profile.md": ADA})
    shelf.encode(BOB)
    before = dict(shelf.texts)
    shelf.restore()
    shelf.undo()
    assert shelf.texts == before


OWN = "# Rules\n\n## When it rains\n\n- a <!-- id:aaaaaaaa -->\n\n## Always\n\n- b\n"


def test_a_rule_comes_back_under_the_heading_of_a_person() -> None:
    shelf = Shelf({"rules.md": OWN})
    shelf.retire("rules.md")
    shelf.restore()
    assert shelf.texts["rules.md"] == OWN


def test_a_lesson_comes_back_under_the_heading_of_a_person() -> None:
    page = "# Lessons\n\n## Ours\n\n- a <!-- id:aaaaaaaa -->\n- c\n\n## Theirs\n\n- b\n"
    shelf = Shelf({"lessons.md": page})
    shelf.retire("lessons.md")
    shelf.restore()
    assert shelf.said("lessons.md") == ["c", "a", "b"]


def test_a_rule_whose_heading_is_gone_comes_back_to_its_kind() -> None:
    shelf = Shelf({"rules.md": OWN})
    shelf.retire("rules.md")
    shelf.texts["rules.md"] = shelf.texts["rules.md"].replace("When it rains", "Rain")
    shelf.restore()
    assert shelf.said("rules.md") == ["b", "a"]


def test_a_kind_that_a_person_changed_in_the_archive_counts_more_than_the_heading() -> None:
    shelf = Shelf({"rules.md": OWN})
    shelf.retire("rules.md")
    shelf.texts["archive.md"] = shelf.texts["archive.md"].replace("kind:always", "kind:never")
    shelf.restore()
    kinds = {placed.block.text: placed.kind for placed in shelf.document("rules.md").placed()}
    assert kinds == {"b": "always", "a": "never"}


def test_what_was_retired_is_told_and_found_by_the_beginning_of_its_id() -> None:
    archive = (
        "- old <!-- id:aaaaaaaa kind:lesson was:lessons.md reason:merged by:consolidation "
        "replaced:bbbbbbbb archived:2026-01-01 -->\n"
        "- older <!-- id:aaaaaaaa -->\n- by hand\n"
    )
    document = parse(archive)
    first, second, third = retired(document, "project")
    assert (first.entry.text, *first[1:]) == (
        *("old", "lessons.md", "merged", "consolidation", "2026-01-01", "bbbbbbbb"),
    )
    assert (second.reason, third.replaced) == ("", "")
    assert pick(document, "project", "aaa").block.text == "older"
    with pytest.raises(EntryNotFoundError):
        pick(document, "project", "zzz")


def test_a_question_that_was_answered_with_no_is_no_memory() -> None:
    document = parse("- Remove it <!-- id:aaaaaaaa reason:kept op:drop of:b -->\n- by hand\n")
    assert [each.entry.text for each in retired(document, "project")] == ["by hand"]
    with pytest.raises(EntryNotFoundError):
        pick(document, "project", "aaaaaaaa")
