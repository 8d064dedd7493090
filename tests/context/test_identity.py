"""Who the assistant is and whom it serves: the files that are used, and what a session is told."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown import Cortex, Engram, Hippocampus
from engramdown.context.sources import Identity, Page, left
from tests.cortex.person import Person
from tests.hippocampus.disks import Point, WatchedDisk
from tests.hippocampus.memory_store import MemoryStore


def fact(text: str) -> Engram:
    return Engram(text, "profile", "global", "high", source="user")


def encode(cortex: Cortex, text: str) -> str:
    return cortex.encode(fact(text))[0].id


def soul(cortex: Cortex) -> Page:
    return cortex.context.identity().pages[0]


def profile(cortex: Cortex) -> Page:
    return cortex.context.identity().pages[1]


def asides(page: Page) -> dict[str, str]:
    return {each.path.name: each.why for each in page.aside}


class TestFiles:
    """The file that is used is the one that is named."""

    def test_where_there_is_none_the_one_to_create_is_named(
        self, cortex: Cortex, at_home: Person, person: Person
    ) -> None:
        found = cortex.context.identity()
        assert (found.soul, found.profile) == ("", ())
        assert (found.soul_path, found.profile_path) == (None, None)
        home = Page("soul", "global", at_home.memory / "soul.md")
        assert soul(cortex) == home
        assert profile(cortex) == Page("profile", "global", at_home.memory / "profile.md")
        person.memory.mkdir(parents=True)
        assert soul(cortex) == Page("soul", "project", person.memory / "soul.md")

    @pytest.mark.parametrize("name", ["soul.md", "SOUL.md"])
    def test_the_project_wins_and_its_path_is_the_one_that_is_told(
        self, cortex: Cortex, at_home: Person, person: Person, name: str
    ) -> None:
        at_home.saves("Soul.md", "I am of everywhere.\n")
        assert cortex.context.identity().soul_path == at_home.memory / "Soul.md"
        person.saves(name, "I am of this project.\n")
        found = cortex.context.identity()
        assert found.soul == "I am of this project.\n"
        assert found.soul_path == person.memory / name
        page = soul(cortex)
        assert (page.scope, page.is_there, page.text) == ("project", True, found.soul)
        assert asides(page) == {"Soul.md": "scope"}
        context = cortex.build_memory_context()
        assert "I am of this project." in context
        assert "everywhere" not in context

    def test_an_empty_page_gives_way(self, cortex: Cortex, at_home: Person, person: Person) -> None:
        person.saves("SOUL.md", " \n")
        assert soul(cortex)[1:5] == ("project", person.memory / "SOUL.md", True, " \n")
        at_home.saves("soul.md", "I am of everywhere.\n")
        assert cortex.context.identity().soul_path == at_home.memory / "soul.md"
        assert asides(soul(cortex)) == {"SOUL.md": "empty"}

    def test_the_exact_name_wins_and_the_other_one_is_named(
        self, cortex: Cortex, at_home: Person
    ) -> None:
        at_home.saves("SOUL.md", "Capitals.\n")
        at_home.saves("soul.md", "Small letters.\n")
        at_home.saves("USER.md", "- Name: Ada\n")
        at_home.saves("profile.md", "- Name: Grace\n")
        found = cortex.context.identity()
        assert (found.soul, [str(each) for each in found.profile]) == (
            "Small letters.\n",
            ["Name: Grace"],
        )
        assert asides(soul(cortex)) == {"SOUL.md": "spelling"}
        assert asides(profile(cortex)) == {"USER.md": "spelling"}

    def test_a_profile_in_a_project_is_not_used(self, cortex: Cortex, person: Person) -> None:
        person.saves("USER.md", "- Name: Ada\n")
        assert cortex.context.identity().profile == ()
        assert asides(profile(cortex)) == {"USER.md": "scope"}

    def test_the_user_is_known_from_an_alias(self, cortex: Cortex, at_home: Person) -> None:
        at_home.saves("USER.md", "- Name: Ada\n")
        found = cortex.context.identity()
        assert found.profile_path == at_home.memory / "USER.md"
        assert [(str(each), each.disk_file) for each in found.profile] == [("Name: Ada", "USER.md")]
        assert "- Name: Ada" in cortex.build_memory_context()
        encode(cortex, "Drinks tea")
        assert at_home.reads("USER.md").startswith("- Name: Ada\n- Drinks tea <!-- id:")
        assert not (at_home.memory / "profile.md").exists()

    def test_stores_without_files_have_no_paths(self) -> None:
        store = MemoryStore("global")
        cortex = Cortex(store, MemoryStore("project"))
        cortex.encode(fact("Drinks tea"))
        found = cortex.context.identity()
        assert found.pages == (Page("soul", "global"), Page("profile", "global"))
        assert [str(each) for each in found.profile] == ["Drinks tea"]
        session = cortex.session()
        assert session.identity == found
        cortex.forget(found.profile[0].id)
        assert session.identity == Identity(pages=found.pages)

    def test_a_project_alone_can_have_files(self, tmp_path: Path) -> None:
        project = Hippocampus(tmp_path / ".engramdown")
        cortex = Cortex(MemoryStore("global"), project)
        page = soul(cortex)
        assert (page.scope, page.path) == ("project", project.memory / "soul.md")
        assert profile(cortex).path is None


class TestFrozen:
    """A session is told what there was when it began."""

    @pytest.fixture
    def begun(self, cortex: Cortex, at_home: Person) -> Cortex:
        """Fill memory, through a hand edit and a call."""
        at_home.saves("SOUL.md", "# Soul\n\nBe kind.\n\nBe brief.\n")
        at_home.saves("USER.md", "- Name: Ada\n- Lives in Lisbon\n")
        encode(cortex, "Drinks tea")
        return cortex

    def test_what_is_added_or_changed_is_for_the_next_session(
        self, begun: Cortex, at_home: Person
    ) -> None:
        session = begun.session()
        before = session.begin_turn("hello")
        session.end_turn()
        at_home.changes("SOUL.md", "Be kind.", "Be a pirate.")
        at_home.changes("USER.md", "Drinks tea", "Drinks coffee")
        at_home.changes("USER.md", "Lives in Lisbon", "Lives in Porto")
        encode(begun, "Name: Eve")
        encode(begun, "Plays chess")
        begun.maybe_update_identity("My timezone is Europe/Lisbon.", use_model=False)
        after = session.begin_turn("hello")
        assert after == before
        assert session.identity.soul == "# Soul\n\nBe kind.\n\nBe brief.\n"
        fresh = begun.session().begin_turn("hello")
        wanted = ("pirate", "coffee", "Porto", "Eve", "chess", "Europe/Lisbon")
        assert all(word in fresh for word in wanted)
        assert not any(word in fresh for word in ("kind", "tea", "Lisbon\n", "Ada"))

    def test_rules_and_lessons_are_fresh(self, begun: Cortex) -> None:
        session = begun.session()
        session.begin_turn()
        session.end_turn()
        begun.encode(
            [Engram("Use uv", "always", "project"), Engram("CI is slow", "lesson", "global")]
        )
        context = session.begin_turn()
        assert "Use uv" in context
        assert "CI is slow" in context

    def test_what_a_person_deletes_is_gone_at_once(self, begun: Cortex, at_home: Person) -> None:
        session = begun.session()
        at_home.deletes("USER.md", "Name: Ada")
        at_home.deletes("SOUL.md", "Be brief.")
        context = session.begin_turn()
        assert "Ada" not in context
        assert "Be brief." not in context
        assert "Be kind." in context
        assert [str(each) for each in session.identity.profile] == ["Lives in Lisbon", "Drinks tea"]

    @pytest.mark.parametrize("new", ["Name: Grace Hopper", "Names: Ada", "Plays chess"])
    def test_a_line_of_theirs_in_other_words_is_changed_and_another_line_is_another(
        self, begun: Cortex, at_home: Person, new: str
    ) -> None:
        session = begun.session()
        at_home.changes("USER.md", "Name: Ada", new)
        assert ("Name: Ada" in session.begin_turn()) is ("Name" in new)

    def test_what_is_erased_is_gone_whatever_has_its_key(
        self, begun: Cortex, at_home: Person
    ) -> None:
        session = begun.session()
        (mine,) = (each for each in session.identity.profile if each.text == "Name: Ada")
        begun.review.erase([mine.id])
        at_home.saves("USER.md", "- Name: Eve\n" + at_home.reads("USER.md"))
        assert "Ada" not in session.begin_turn()

    def test_what_is_forgotten_is_gone_and_a_restored_fact_is_back(self, begun: Cortex) -> None:
        session = begun.session()
        whole = session.identity
        begun.forget(whole.profile[-1].id)
        assert "tea" not in session.begin_turn()
        session.end_turn()
        begun.restore(whole.profile[-1].id)
        assert session.identity == whole

    def test_what_was_undone_is_gone(self, begun: Cortex) -> None:
        session = begun.session()
        store = begun.scopes.global_hc
        assert isinstance(store, Hippocampus)
        store.undo()
        assert "tea" not in session.begin_turn()

    @pytest.mark.slow
    def test_removed_files_are_gone(self, begun: Cortex, at_home: Person) -> None:
        session = begun.session()
        (at_home.memory / "SOUL.md").unlink()
        (at_home.memory / "USER.md").unlink()
        assert session.begin_turn() == ""

    def test_a_disk_that_fails_is_an_error_that_names_the_file(self, tmp_path: Path) -> None:
        broken: list[str] = []

        def watch(point: Point) -> None:
            if point.call in broken:
                raise PermissionError(13, "Permission denied")

        root = tmp_path / "home"
        Hippocampus(root, "global").encode([fact("Drinks tea")])
        store = Hippocampus(root, "global", disk=WatchedDisk(watch))
        session = Cortex(store, MemoryStore("project")).session()
        assert session.begin_turn()
        session.end_turn()
        for call in ("names", "read"):
            broken[:] = [call]
            cortex = Cortex(store, MemoryStore("project"))
            cortex.context.identity()
            assert [
                each for each in cortex.scopes.unread() if "could not be read: Permission" in each
            ]
        broken.clear()
        assert session.begin_turn()

    def test_another_spelling_changes_nothing(self, begun: Cortex, at_home: Person) -> None:
        session = begun.session()
        before = session.begin_turn()
        session.end_turn()
        (at_home.memory / "SOUL.md").rename(at_home.memory / "soul.md")
        (at_home.memory / "USER.md").rename(at_home.memory / "profile.md")
        assert session.begin_turn() == before
        assert begun.context.identity().soul_path == at_home.memory / "soul.md"
        assert begun.context.identity().profile_path == at_home.memory / "profile.md"

    def test_a_page_that_cannot_be_read_is_told_when_it_is_asked_for(
        self, cortex: Cortex, at_home: Person
    ) -> None:
        at_home.memory.mkdir()
        (at_home.memory / "SOUL.md").symlink_to("/etc/hostname")
        session = cortex.session()
        session.begin_turn()
        assert [each for each in cortex.scopes.unread() if "leaves the memory folder" in each]
        (at_home.memory / "SOUL.md").unlink()
        at_home.saves("soul.md", "Be kind.\n")
        assert cortex.session().identity.soul == "Be kind.\n"


class TestBeside:
    """``.agents`` beside a scope: the pages of other tools are used as they stand there."""

    @pytest.fixture
    def agents(self, person: Person) -> Path:
        folder = person.memory.parent.parent / ".agents"
        folder.mkdir(parents=True)
        return folder

    def test_a_soul_is_found_between_that_of_the_project_and_that_of_everywhere(
        self, cortex: Cortex, agents: Path, at_home: Person, person: Person
    ) -> None:
        at_home.saves("soul.md", "I am of everywhere.\n")
        (agents / "soul.md").write_text("Small letters.\n", encoding="utf-8")
        assert cortex.context.identity().soul_path == agents / "soul.md"
        (agents / "SOUL.md").write_text("I am of the tools.\n", encoding="utf-8")
        assert cortex.context.identity().soul == "I am of the tools.\n"
        page = soul(cortex)
        assert (page.scope, page.path, page.is_there) == ("project", agents / "SOUL.md", True)
        assert asides(page) == {"soul.md": "scope"}
        person.saves("soul.md", "I am of this project.\n")
        page = soul(cortex)
        assert page.path == person.memory / "soul.md"
        assert asides(page)["SOUL.md"] == "scope"
        (agents / "SOUL.md").write_text(" \n", encoding="utf-8")
        assert asides(soul(cortex))["SOUL.md"] == "empty"

    def test_what_is_told_of_the_user_stands_behind_what_memory_knows(
        self, cortex: Cortex, agents: Path
    ) -> None:
        page = "# Me\n\n- Name: Eve\n- Editor: Helix\n- Likes tea <!-- pin:yes -->\n"
        (agents / "user.md").write_text(page, encoding="utf-8")
        assert [str(each) for each in cortex.context.identity().profile] == [
            "Name: Eve",
            "Editor: Helix",
            "Likes tea",
        ]
        encode(cortex, "Name: Ada")
        encode(cortex, "likes tea.")
        facts = cortex.context.identity().profile
        assert [str(each) for each in facts] == ["Name: Ada", "likes tea.", "Editor: Helix"]
        assert facts[-1].disk_file == ".agents/user.md"
        assert profile(cortex).also == (agents / "user.md",)
        context = cortex.build_memory_context()
        assert "Editor: Helix" in context
        assert "Eve" not in context
        assert (agents / "user.md").read_text(encoding="utf-8") == page
        assert [str(each) for each in cortex.entries()] == ["Name: Ada", "likes tea."]

    def test_a_session_keeps_what_it_was_told_and_loses_what_was_taken_out(
        self, cortex: Cortex, agents: Path
    ) -> None:
        (agents / "SOUL.md").write_text("Be calm.\nBe brief.\n", encoding="utf-8")
        (agents / "USER.md").write_text("- Name: Ada\n- Lives in Bern\n", encoding="utf-8")
        with cortex.session() as session:
            (agents / "SOUL.md").write_text("Be calm.\nBe brief.\nSing.\n", encoding="utf-8")
            (agents / "USER.md").write_text("- Name: Ada\n- Likes tea\n", encoding="utf-8")
            context = session.begin_turn("Hello")
            assert "Be calm." in context
            assert "Sing" not in context
            assert "Name: Ada" in context
            assert "Bern" not in context
            assert "tea" not in context
            session.end_turn("Hi")
            for page in agents.iterdir():
                page.unlink()
            context = session.begin_turn("Hello?")
            assert "calm" not in context
            assert "Ada" not in context

    def test_a_link_that_leaves_the_project_is_not_followed(
        self, cortex: Cortex, agents: Path, tmp_path: Path
    ) -> None:
        assert not Path("/etc/hostname").is_relative_to(tmp_path)
        for name in ("SOUL.md", "USER.md"):
            (agents / name).symlink_to("/etc/hostname")
        assert asides(soul(cortex)) == {"SOUL.md": "unreadable"}
        assert asides(profile(cortex)) == {"USER.md": "unreadable"}
        assert cortex.context.identity().soul == ""
        assert cortex.context.identity().profile == ()

    def test_what_cannot_be_listed_or_read_hides_nothing(
        self, cortex: Cortex, agents: Path, at_home: Person
    ) -> None:
        at_home.saves("soul.md", "I am of everywhere.\n")
        (agents / "SOUL.md").mkdir()
        assert "of everywhere" in cortex.build_memory_context()
        (agents / "SOUL.md").rmdir()
        agents.rmdir()
        agents.write_text("no folder", encoding="utf-8")
        assert "of everywhere" in cortex.build_memory_context()


# ---- what a person took out of a page is gone, and nothing else has changed for a session ----


pages = st.lists(st.sampled_from(["a", "b", "c", "", " "]), max_size=8).map("\n".join)


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
