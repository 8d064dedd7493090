"""What a person took out is gone, and nothing else has changed for a session."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.context.sources import left, taken_out
from engramdown.engram import SCOPES
from engramdown.hippocampus.entry import Entry
from engramdown.hippocampus.history import Change, Step
from engramdown.secrets.redaction import redact

TEA = Entry(id="k3v9q2ht", text="Drinks tea", kind="profile", scope=SCOPES[0])
BY_HAND = Entry(id="_3m5x0ab", text="Name: Ada", kind="profile", scope=SCOPES[0])
SECRET = "ghp_0123456789abcdefghijABCDEFGHIJ456789"

pages = st.lists(st.sampled_from(["a", "b", "c", "", " "]), max_size=8).map("\n".join)


def step(op: str, *changes: Change, by: str = "user") -> Step:
    return Step("7m0xw4ce", "2026-02-27T10:00:00.000000Z", by, op, "", (), changes)


def buried(text: str, meta: str) -> Change:
    return Change("anything", "archive.md", None, f"- {text} <!-- {meta} -->\n")


def come(name: str, text: str) -> Change:
    return Change(name, "profile.md", None, f"- {text}\n")


def gone(entry: Entry, file: str = "profile.md") -> Change:
    return Change(entry.id, file, f"- {entry.text}\n", None)


def test_what_a_person_forgot_or_deleted_is_taken_out() -> None:
    forgot = step("forget", gone(TEA), buried("Drinks tea", "id:k3v9q2ht reason:forgotten"))
    assert taken_out([TEA, BY_HAND], [forgot]) == {TEA.id}
    deleted = step("notice", buried("name: ada.", "id:p81dz5ka reason:deleted hand:yes"))
    assert taken_out([TEA, BY_HAND], [forgot, deleted]) == {TEA.id, BY_HAND.id}


def test_what_gave_way_to_something_else_is_not() -> None:
    for reason in ("replaced", "merged", "duplicate", "expired"):
        done = step("compact", gone(TEA), buried("Drinks tea", f"id:k3v9q2ht reason:{reason}"))
        assert taken_out([TEA], [done]) == set()
    assert taken_out([BY_HAND], [step("edit", gone(BY_HAND), by="person")]) == set()


def test_a_step_that_was_undone_took_out_what_it_had_added() -> None:
    assert taken_out([TEA, BY_HAND], [step("undo", gone(TEA))]) == {TEA.id}
    assert taken_out([TEA], [step("undo", gone(TEA, "lessons.md"))]) == set()
    assert taken_out([TEA], [step("undo", Change(TEA.id, "profile.md", "- a\n", "- b\n"))]) == set()


def test_a_line_of_the_archive_that_says_nothing_takes_nothing_out() -> None:
    cut = [Change("x", "archive.md", "- a\n", None), Change("x", "archive.md", None, "- a\n")]
    assert taken_out([TEA], [step("edit", *cut)]) == set()


def test_where_nothing_is_known_everything_is_taken_out() -> None:
    assert taken_out([TEA, BY_HAND], []) == {TEA.id, BY_HAND.id}
    assert taken_out([], []) == set()


def test_a_secret_is_known_by_what_the_archive_says_of_it() -> None:
    entry = BY_HAND._replace(text=f"Token: {SECRET}")
    done = step("notice", buried(redact(entry.text), "id:p81dz5ka reason:deleted"))
    assert SECRET not in str(done)
    assert taken_out([entry], [done]) == {entry.id}


class TestReworded:
    """A line without an id is known by its words, and was changed all the same."""

    @pytest.mark.parametrize("new", ["Name: Grace Hopper", "Names: Ada"])
    def test_it_is_not_taken_out(self, new: str) -> None:
        edit = step("edit", gone(BY_HAND), come("_new0000", new), by="person")
        deleted = step("notice", buried("Name: Ada", "id:p81dz5ka reason:deleted"))
        assert taken_out([BY_HAND], [edit, deleted]) == set()

    def test_it_is_if_its_new_words_are(self) -> None:
        edit = step("edit", gone(BY_HAND), come("_new0000", "Name: Eve"), by="person")
        forgot = step("forget", buried("Name: Eve", "id:p81dz5ka reason:forgotten"))
        assert taken_out([BY_HAND], [edit, forgot]) == {BY_HAND.id}

    def test_words_that_went_back_and_forth_come_to_an_end(self) -> None:
        eve = BY_HAND._replace(id="_new0000", text="Name: Eve")
        there = step("edit", gone(BY_HAND), come(eve.id, eve.text), by="person")
        back = step("edit", gone(eve), come(BY_HAND.id, BY_HAND.text), by="person")
        assert taken_out([BY_HAND], [there, back]) == set()

    def test_other_words_are_another_line(self) -> None:
        edit = step("edit", gone(BY_HAND), come("_new0000", "Plays chess"), by="person")
        deleted = step("notice", buried("Name: Ada", "id:p81dz5ka reason:deleted"))
        assert taken_out([BY_HAND], [edit, deleted]) == {BY_HAND.id}

    def test_a_file_that_was_written_anew_is_not_compared_line_by_line(self) -> None:
        news = [come(f"_{at:07}", f"Name: Ada {at}") for at in range(10_001)]
        edit = step("edit", gone(BY_HAND), *news, by="person")
        deleted = step("notice", buried("Name: Ada", "id:p81dz5ka reason:deleted"))
        assert taken_out([BY_HAND], [edit, deleted]) == {BY_HAND.id}


def test_lines_that_were_taken_out_of_a_page_are_gone() -> None:
    page = "# Soul\n\nBe kind.\n\nBe brief.\n\nNever swear.\n"
    assert left(page, page.replace("Be brief.\n\n", "")) == page.replace("Be brief.\n", "")
    assert left(page, page.replace("Be kind.", "Be very kind.")) == page
    assert left(page, f"{page}\nSing.\n") == page
    assert left(page, "") == left(page, " \n") == ""


def test_what_was_moved_is_there() -> None:
    page = "Be kind.\nBe brief.\nNever swear.\n"
    assert left(page, "Be brief.\nNever swear.\nBe kind.\n") == page


def test_a_page_of_very_many_lines_is_there_or_is_not() -> None:
    page = "\n".join(map(str, range(2000)))
    assert left(page, page.replace("7\n", "")) == page
    assert left(page, "") == ""


@given(pages, pages)
def test_nothing_is_told_that_was_not_told_before(before: str, now: str) -> None:
    lines = iter(before.split("\n"))
    assert all(line in lines for line in left(before, now).split("\n") if line)
    assert left(before, before) == before


@given(pages, pages)
def test_what_is_in_both_stays(before: str, now: str) -> None:
    both = {line for line in before.split("\n") if line.strip() and line in now.split("\n")}
    assert both <= {*left(before, now).split("\n")}
