"""Where a memory belongs, and what adding, retiring or finding one means."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engramdown.engram import Engram
from engramdown.errors import InvalidEngramError
from engramdown.hippocampus import entry
from engramdown.hippocampus.entry import Entry, address, entry_id, tombstones, tombstones_of
from engramdown.kinds import is_name, title_of, topic_file
from engramdown.markdown.document import Placed, parse
from engramdown.markdown.metadata import Metadata
from tests import step_laws
from tests.hippocampus.shelf import TODAY, Shelf
from tests.hippocampus.stories import engrams, shelves
from tests.tables import every

LESSON = Engram("CI is slow", "lesson", "project", topic="CI")
ALWAYS = Engram("Use uv", "always", "project")


def only(file: str, text: str) -> Placed:
    """Return the one entry of a page."""
    (placed,) = entry.raw_entries(file, parse(text))
    return placed


def read(file: str, text: str) -> Entry:
    """Return the one entry of a page as the store tells it."""
    return entry.as_entry(file, "project", only(file, text))


@given(shelves, st.lists(engrams(), min_size=1, max_size=5))
@example(Shelf({"rules.md": "Use uv\n\n## Always\n"}), [ALWAYS])
def test_what_was_filed_is_found_and_filed_once(shelf: Shelf, many: list[Engram]) -> None:
    for engram in many:
        step_laws.filing_is_found_and_done_once(shelf, engram)


def test_a_new_memory_is_one_line() -> None:
    shelf = Shelf()
    shelf.encode(ALWAYS)
    shelf.encode(Engram("Never push", "never", "project", "high", source="user"))
    assert shelf.texts == {
        "rules.md": "# Rules\n\n## Always\n\n"
        "- Use uv <!-- id:00000001 confidence:medium source:llm ts:2026-02-27 -->\n\n"
        "## Never\n\n"
        "- Never push <!-- id:00000002 confidence:high source:user ts:2026-02-27 -->\n"
    }


def test_a_lesson_with_a_topic_is_filed_twice_with_one_id() -> None:
    shelf = Shelf()
    shelf.encode(LESSON)
    line = "- CI is slow <!-- id:00000001 topic:ci confidence:medium source:llm ts:2026-02-27 -->\n"
    assert shelf.texts == {"lessons.md": f"# Lessons\n\n{line}", "topics/ci.md": f"# ci\n\n{line}"}


def test_everything_that_is_known_about_a_memory_is_written() -> None:
    engram = dataclasses.replace(ALWAYS, basis="observed", origin="s#1", expires="2027-01-01")
    written = entry.fields(engram, "k3v9q2ht", TODAY)
    assert {key: value for key, value in written.items() if value} == {
        "id": "k3v9q2ht",
        "confidence": "medium",
        "source": "llm",
        "basis": "observed",
        "from": "s#1",
        "expires": "2027-01-01",
        "ts": TODAY,
    }


def test_a_fact_with_a_key_replaces_the_older_one_which_moves_to_the_archive() -> None:
    shelf = Shelf({"profile.md": "- Name: Ada <!-- id:aaaaaaaa -->\n- City: Rome\n"})
    shelf.encode(Engram("name: Bob", "profile", "global", source="user"))
    assert shelf.said("profile.md") == ["name: Bob", "City: Rome"]
    assert shelf.texts["archive.md"] == (
        "# Archive\n\n- Name: Ada <!-- id:aaaaaaaa kind:profile was:profile.md reason:replaced"
        " by:user replaced:00000001 archived:2026-02-27 -->\n"
    )
    shelf.encode(Engram("Likes tea", "profile", "global"))
    assert shelf.said("profile.md") == ["name: Bob", "City: Rome", "Likes tea"]


def test_a_fact_of_a_person_that_gives_way_has_its_own_id_in_the_archive() -> None:
    shelf = Shelf({"profile.md": "- Name: Ada\n"})
    filed = shelf.encode(Engram("Name: Bob", "profile", "global", source="user"))
    (gone,) = shelf.document("archive.md").placed()
    assert filed.id == "00000001"
    assert entry_id(gone) == "00000002"
    assert "hand:yes" in gone.block.raw


def test_what_stood_under_a_heading_of_a_person_is_retired_with_it() -> None:
    shelf = Shelf({"rules.md": "## Böse Dinge\n\n- a\n\n## Never:\n\n- b\n"})
    shelf.retire("rules.md", "forgotten")
    shelf.retire("rules.md", "forgotten")
    archived = shelf.document("archive.md").placed()
    assert [placed.block.text for placed in archived] == ["a", "b"]
    metas = [placed.block.meta or Metadata() for placed in archived]
    assert [meta.get("section") for meta in metas] == ["Böse Dinge", ""]
    assert "was:rules.md section:Böse%20Dinge reason:" in archived[0].block.raw


def test_a_secret_in_a_heading_does_not_go_into_the_archive() -> None:
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    shelf = Shelf({"rules.md": f"## Log in with {key}\n\n- a\n"})
    shelf.retire("rules.md", "deleted")
    assert key not in shelf.texts["archive.md"]


@every(
    "line, engram, better",
    [
        pytest.param("source:user", ALWAYS, "source:user", id="weaker-source"),
        pytest.param(
            "source:llm basis:observed",
            dataclasses.replace(ALWAYS, source="user", basis="told"),
            "source:user",
            id="told-is-more-than-observed",
        ),
        pytest.param(
            "source:llm",
            dataclasses.replace(ALWAYS, source="user", basis="inferred"),
            "source:user basis:inferred",
            id="inferred-stays-inferred",
        ),
        pytest.param(
            "source:llm",
            dataclasses.replace(ALWAYS, source="user", basis="verified"),
            "source:user",
            id="never-verified",
        ),
        pytest.param(
            "source:llm basis:verified",
            dataclasses.replace(ALWAYS, source="user", basis="told"),
            "source:user basis:verified",
            id="verified-stays",
        ),
        pytest.param(
            "confidence:low",
            dataclasses.replace(ALWAYS, confidence="high"),
            "confidence:high",
            id="confidence",
        ),
        pytest.param("confidence:high", ALWAYS, "confidence:high", id="weaker-confidence"),
        pytest.param("x:1", ALWAYS, "x:1", id="nothing"),
    ],
)
def test_hearing_it_again_may_only_strengthen(line: str, engram: Engram, better: str) -> None:
    page = "## Always\n\n- use  UV. <!-- id:aaaaaaaa {} -->\n"
    shelf = Shelf({"rules.md": page.format(line)})
    filed = shelf.encode(engram)
    assert (filed.id, filed.added) == ("aaaaaaaa", False)
    assert shelf.texts == {"rules.md": page.format(better)}


def test_hearing_a_lesson_again_with_a_topic_files_it_there() -> None:
    shelf = Shelf({"lessons.md": "- CI is slow <!-- id:aaaaaaaa -->\n"})
    shelf.encode(LESSON)
    assert shelf.texts["lessons.md"] == "- CI is slow <!-- id:aaaaaaaa topic:ci -->\n"
    assert shelf.texts["topics/ci.md"] == "# ci\n\n- CI is slow <!-- id:aaaaaaaa topic:ci -->\n"


def test_a_topic_that_knows_it_already_gets_no_second_line() -> None:
    shelf = Shelf(
        {"lessons.md": "- CI is slow <!-- id:aaaaaaaa -->\n", "topics/ci.md": "ci is slow\n"}
    )
    shelf.encode(LESSON)
    assert shelf.said("topics/ci.md") == ["ci is slow"]


def test_a_lesson_that_only_its_topic_knows_is_known() -> None:
    shelf = Shelf({"topics/ci.md": "- CI is slow <!-- id:aaaaaaaa -->\n"})
    assert shelf.encode(LESSON).file == "topics/ci.md"
    assert shelf.said("lessons.md") == []


def test_what_a_person_wrote_stays_as_it_is() -> None:
    shelf = Shelf({"rules.md": "## Always\n\n- Use uv <!-- mine -->\n"})
    before = dict(shelf.texts)
    filed = shelf.encode(dataclasses.replace(ALWAYS, source="user", confidence="high"))
    assert (filed.id, filed.added) == (address("use uv"), False)
    assert shelf.texts == before


def test_the_same_words_under_another_kind_are_another_memory() -> None:
    shelf = Shelf({"rules.md": "Use uv\n\n## Never\n\n- Use uv\n"})
    assert shelf.encode(ALWAYS).added
    assert shelf.said("rules.md") == ["Use uv", "Use uv"]


def test_what_is_remembered_again_loses_its_tombstone() -> None:
    shelf = Shelf({"rules.md": "- Use uv\n- Use uv please\n"})
    shelf.retire("rules.md", "deleted")
    shelf.retire("rules.md", "replaced")
    archive = shelf.document("archive.md")
    assert [placed.block.text for placed in tombstones(archive)] == ["Use uv"]
    assert tombstones_of(archive, "USE UV")
    assert not tombstones_of(archive, "use uv please")
    shelf.encode(ALWAYS)
    assert shelf.said("archive.md") == ["Use uv please"]


def test_a_task_is_retired_without_its_box() -> None:
    shelf = Shelf({"pending.md": "- [-] Use uv <!-- id:aaaaaaaa kind:always -->\n"})
    shelf.retire("pending.md", "declined")
    assert shelf.said("archive.md") == ["Use uv"]


@every(
    "text, tick, rest",
    [
        ("[ ] a", " ", "a"),
        ("[x] a", "x", "a"),
        ("[X]\ta", "x", "a"),
        ("[-] a", "-", "a"),
        ("[x]", "x", ""),
        ("[x]a", "", "[x]a"),
        ("[y] a", "", "[y] a"),
        ("a [x]", "", "a [x]"),
    ],
)
def test_the_box_of_a_task(text: str, tick: str, rest: str) -> None:
    assert entry.split_task(text) == (tick, rest)


@every(
    "name", ["rules.md", "lessons.md", "profile.md", "pending.md", "archive.md", "topics/köln.md"]
)
def test_the_names_of_memory_files(name: str) -> None:
    assert is_name(name)


@every(
    "name",
    [
        "soul.md",
        "Rules.md",
        "topics/.md",
        "topics/a/b.md",
        "topics/../rules.md",
        "topics/CI.md",
        "topics/con.md",
        "topics/a",
        "a",
        "/etc/passwd",
        "",
    ],
)
def test_nothing_else_is_a_memory_file(name: str) -> None:
    assert not is_name(name)


def test_the_file_of_a_topic_cannot_leave_its_folder() -> None:
    assert topic_file("API: x") == "topics/api-x.md"
    with pytest.raises(InvalidEngramError):
        topic_file("../rules")


@every(
    "file, fields, copies",
    [
        ("lessons.md", {"id": "a", "topic": "ci"}, ["topics/ci.md"]),
        ("lessons.md", {"id": "a", "topic": "../x"}, []),
        ("lessons.md", {"id": "a"}, []),
        ("lessons.md", {"topic": "ci"}, []),
        ("topics/ci.md", {"id": "a"}, ["lessons.md"]),
        ("rules.md", {"id": "a", "topic": "ci"}, []),
    ],
)
def test_where_the_copies_of_a_lesson_are(
    file: str, fields: dict[str, str], copies: list[str]
) -> None:
    assert entry.copies_of(file, Metadata().update(fields)) == copies


def test_an_address_is_a_digest_of_what_is_said() -> None:
    assert address("Use uv") == address("use  UV.")
    assert address("Use uv") != address("Use uw")
    assert len(address("\udc80")) == 8
    assert address("a")[0] == "_"


def test_a_line_without_metadata_was_written_by_a_person() -> None:
    entry = read("rules.md", "# R\n\n## When\n\n- a\n")
    assert entry.id == address("a")
    assert (entry.kind, entry.scope, entry.confidence) == ("when", "project", "high")
    assert (entry.source, entry.basis, entry.by_person) == ("user", "told", True)
    assert (entry.file, entry.line, entry.heading) == ("rules.md", 5, "When")


def test_a_line_of_ours_that_says_little_is_trusted_little() -> None:
    entry = read("lessons.md", "- a <!-- id:aaaaaaaa -->")
    assert (entry.source, entry.basis, entry.confidence) == ("llm", "inferred", "medium")
    assert not entry.by_person


def test_all_that_a_line_says_is_read() -> None:
    entry = read(
        "archive.md",
        "- a <!-- id:aaaaaaaa kind:never scope:global topic:x confidence:low source:consolidation"
        " basis:observed from:s#1 expires:2027-01-01 pin:yes ts:2026-01-01 -->",
    )
    assert entry == Entry(
        id="aaaaaaaa",
        text="a",
        kind="never",
        scope="global",
        confidence="low",
        topic="x",
        source="consolidation",
        basis="observed",
        ts="2026-01-01",
        origin="s#1",
        expires="2027-01-01",
        pin=True,
        file="archive.md",
        line=1,
    )


def test_values_that_are_not_allowed_count_as_absent() -> None:
    line = "- a <!-- id:aaaaaaaa kind:x scope:x confidence:x source:x basis:x pin:no -->"
    entry = read("pending.md", line)
    assert (entry.kind, entry.scope, entry.pin) == ("lesson", "project", False)
    assert (entry.confidence, entry.source, entry.basis) == ("medium", "llm", "inferred")


@pytest.mark.parametrize(
    "file, kind, topic",
    [
        ("rules.md", "always", ""),
        ("lessons.md", "lesson", ""),
        ("topics/ci.md", "lesson", "ci"),
        ("profile.md", "profile", ""),
    ],
)
def test_the_kind_and_topic_that_follow_from_the_file(file: str, kind: str, topic: str) -> None:
    entry = read(file, "- a")
    assert (entry.kind, entry.topic) == (kind, topic)


@every(
    "file, page, said",
    [
        ("rules.md", "intro\n\n- a\n\n## Own\n\npara\n", ["a", "para"]),
        ("rules.md", "## Always\n\npara\n", ["para"]),
        ("lessons.md", "para\n", ["para"]),
        ("pending.md", "para\n\n- a\n", ["a"]),
        ("archive.md", "para\n\n- a\n", ["a"]),
    ],
)
def test_which_paragraphs_are_memories(file: str, page: str, said: list[str]) -> None:
    found = entry.raw_entries(file, parse(page))
    assert [placed.block.text for placed in found] == said


def test_the_title_of_a_new_file() -> None:
    assert title_of("rules.md") == "Rules"
    assert title_of("topics/ci-cd.md") == "ci-cd"
