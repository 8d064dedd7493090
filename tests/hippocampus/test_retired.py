"""What was retired stays retired when a job learns it again, and comes back when it is news."""

from __future__ import annotations

import pytest

from engramdown.engram import Engram
from engramdown.hippocampus.changeset import standing_for
from engramdown.hippocampus.entry import successors, tombstones
from engramdown.markdown.document import parse
from tests.hippocampus.shelf import Shelf
from tests.tables import every

OLD = Engram("Use pip", "always", "project", source="consolidation", origin="s1#4")
NEW = "## Always\n\n- Use uv <!-- id:nnnnnnnn source:llm -->\n"
FACT = Engram("Editor: vim", "profile", "global", source="consolidation", origin="s1#4")


def gone(text: str = "Use pip", name: str = "oooooooo", by: str = "nnnnnnnn", **values: str) -> str:
    """Return a line of the archive."""
    told = {"kind": "always", "reason": "merged", "from": "s1#4"}
    told |= {"replaced": by, "archived": "2026-02-27"} | values
    pairs = " ".join(f"{key}:{value}" for key, value in told.items() if value)
    return f"- {text} <!-- id:{name} {pairs} -->\n"


def again(engram: Engram, *archived: str, rules: str = NEW) -> tuple[bool, str]:
    """Return whether a memory was added that comes again, and the id of what says it."""
    shelf = Shelf({"rules.md": rules, "archive.md": "".join(archived)})
    before = dict(shelf.texts)
    filed = shelf.encode(engram)
    assert filed.added or shelf.texts == before
    return filed.added, filed.id


@pytest.mark.parametrize("reason", ["duplicate", "merged", "replaced"])
def test_what_gave_way_is_known_by_what_replaced_it(reason: str) -> None:
    assert again(OLD, gone(reason=reason)) == (False, "nnnnnnnn")
    assert again(OLD, gone("USE PIP.", reason=reason)) == (False, "nnnnnnnn")


@every(
    "archived",
    [
        pytest.param(gone(kind="never"), id="another-kind"),
        pytest.param(gone("Use pip3"), id="other-words"),
        pytest.param(gone(reason="expired", by=""), id="expired"),
        pytest.param(gone(by="zzzzzzzz"), id="replaced-by-what-is-gone"),
        pytest.param("- Use pip\n", id="no-metadata"),
    ],
)
def test_anything_else_is_added(archived: str) -> None:
    assert again(OLD, archived)[0]


def test_what_stands_is_found_through_what_gave_way_in_turn() -> None:
    chain = gone(by="pppppppp"), gone("Use poetry", "pppppppp")
    assert again(OLD, *chain) == (False, "nnnnnnnn")
    ring = gone(by="pppppppp"), gone("Use poetry", "pppppppp", by="oooooooo")
    assert again(OLD, *ring)[0]


def test_the_last_time_that_it_went_counts() -> None:
    twice = gone(by="qqqqqqqq"), gone(by="nnnnnnnn")
    rules = f"{NEW}- Use make <!-- id:qqqqqqqq -->\n"
    assert again(OLD, *twice, rules=rules) == (False, "nnnnnnnn")


def test_a_lesson_that_stands_under_its_topic_is_found() -> None:
    shelf = Shelf(
        {
            "topics/ci.md": "- CI is slow at noon <!-- id:nnnnnnnn source:llm -->\n",
            "archive.md": gone("CI is slow", kind="lesson"),
        }
    )
    filed = shelf.encode(Engram("CI is slow", "lesson", "project", topic="ci"))
    assert (filed.added, filed.file) == (False, "topics/ci.md")


@pytest.mark.parametrize("reason", ["duplicate", "merged", "replaced"])
@pytest.mark.parametrize(
    "source, origin, basis, is_news",
    [
        ("consolidation", "", "", False),
        ("consolidation", "s2#1", "", False),
        ("user", "s1#4", "", False),
        ("user", "", "", True),
        ("consolidation", "s1#4", "verified", True),
    ],
)
def test_the_word_of_a_person_is_news(
    reason: str, source: str, origin: str, basis: str, *, is_news: bool
) -> None:
    engram = Engram(OLD.text, "always", "project", source=source, basis=basis, origin=origin)  # type: ignore[arg-type]
    assert again(engram, gone(reason=reason))[0] is is_news


@pytest.mark.parametrize("source", ["user", "llm"])
def test_what_is_said_again_is_news_only_if_it_was_superseded(source: str) -> None:
    engram = Engram(OLD.text, "always", "project", source=source, origin="s2#1")  # type: ignore[arg-type]
    assert not again(engram, gone(reason="duplicate"))[0]
    assert not again(engram, gone(reason="merged"))[0]
    assert again(engram, gone(reason="replaced"))[0]


@pytest.mark.parametrize(
    "source, day, is_news",
    [
        ("consolidation", "20260226", False),
        ("consolidation", "20260227", False),
        ("consolidation", "20260228", True),
        ("user", "20260226", False),
        ("user", "20260227", True),
        ("llm", "20260301", True),
    ],
)
def test_what_was_said_after_it_was_superseded_is_news(
    source: str, day: str, *, is_news: bool
) -> None:
    origin = f"{day}-101500-4f2a#1"
    engram = Engram(OLD.text, "always", "project", source=source, origin=origin)  # type: ignore[arg-type]
    assert again(engram, gone(reason="replaced"))[0] is is_news


def test_an_old_fact_does_not_replace_the_one_that_replaced_it() -> None:
    archive = gone("Editor: vim", kind="profile", reason="replaced", by="")
    shelf = Shelf({"profile.md": "- Editor: emacs <!-- id:nnnnnnnn -->\n", "archive.md": archive})
    assert shelf.encode(FACT).id == "nnnnnnnn"
    assert shelf.said("profile.md") == ["Editor: emacs"]
    said = Engram("Editor: vim", "profile", "global", source="user")
    assert shelf.encode(said).added
    assert shelf.said("profile.md") == ["Editor: vim"]


def test_an_old_fact_without_a_successor_is_added() -> None:
    archive = gone("Editor: vim", kind="profile", reason="replaced", by="")
    assert standing_for(Shelf({"archive.md": archive}).document, FACT) is None
    rule = parse(gone(reason="replaced", by=""))
    assert list(successors(rule, OLD)) == [""]
    assert again(OLD, gone(reason="replaced", by=""))[0]


def test_what_became_part_of_what_a_person_forgot_is_not_learned_again() -> None:
    forgotten = gone("Use uv", "nnnnnnnn", by="", reason="forgotten")
    archive = gone(), gone("Use uv", "pppppppp", by="oooooooo"), forgotten
    found = tombstones(parse("".join(archive)))
    assert [placed.block.text for placed in found] == ["Use pip", "Use uv", "Use uv"]
    # What was superseded was another thing.
    found = tombstones(parse(gone(reason="replaced") + forgotten))
    assert [placed.block.text for placed in found] == ["Use uv"]
    assert list(tombstones(parse(gone() + "- by hand\n"))) == []
