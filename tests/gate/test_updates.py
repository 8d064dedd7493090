"""What a user says in later sessions takes the place of what was learned, and of nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from engramdown.cortex.cortex import Cortex
from engramdown.engram import Engram
from engramdown.gate.updates import is_learned
from engramdown.hippocampus.entry import Entry


@pytest.fixture
def cortex(tmp_path: Path) -> Cortex:
    (tmp_path / "project").mkdir()
    return Cortex.open(project=tmp_path / "project", home=tmp_path / "home")


def _hear(cortex: Cortex, *messages: str) -> None:
    with cortex.session() as session:
        for text in messages:
            session.begin_turn(text)
            session.end_turn("OK.")
    cortex.sleep()


def _texts(cortex: Cortex) -> list[str]:
    return [entry.text for entry in cortex.entries()]


def _waiting(cortex: Cortex) -> list[str]:
    return [proposal.engram.text for proposal in cortex.pending()]


def test_a_newer_word_retires_what_was_learned_and_points_at_it(cortex: Cortex) -> None:
    _hear(cortex, "Our wiki is MediaWiki 1.39.")
    _hear(cortex, "Our wiki is MediaWiki 1.43 now.")
    (entry,) = cortex.entries()
    assert entry.text == "Our wiki is MediaWiki 1.43 now"
    (retired,) = cortex.scopes.archived()
    assert (retired.entry.text, retired.reason) == ("Our wiki is MediaWiki 1.39", "replaced")
    assert retired.replaced == entry.id
    assert [each.entry.text for each in cortex.why(entry.id).made_of] == [retired.entry.text]
    assert cortex.why(retired.entry.id).stands == entry


def test_what_is_said_of_the_same_thing_in_other_words_gives_way(cortex: Cortex) -> None:
    _hear(cortex, "Releases go out on Thursdays.")
    _hear(cortex, "We ship releases every Friday.")
    assert _texts(cortex) == ["We ship releases every Friday"]


def test_what_is_said_to_have_changed_is_worth_knowing_only_if_that_was_known(
    cortex: Cortex,
) -> None:
    _hear(cortex, "The wiki moved, MediaWiki 1.43 now.")
    assert _texts(cortex) == []
    _hear(cortex, "Our wiki is MediaWiki 1.39.")
    _hear(cortex, "The wiki moved, MediaWiki 1.43 now.")
    assert _texts(cortex) == ["Our wiki is MediaWiki 1.43"]


def test_what_contradicts_a_line_of_a_person_is_one_question_with_both(cortex: Cortex) -> None:
    cortex.propose([Engram("Use uv, never pip", "always", "project", "high", source="user")])
    _hear(cortex, "Always install packages with pip.")
    assert _texts(cortex) == ["Use uv, never pip"]
    (asked,) = cortex.pending()
    assert asked.replaces is not None
    assert (asked.engram.text, asked.replaces.text) == (
        "Always install packages with pip",
        "Use uv, never pip",
    )


def test_a_rule_from_now_on_is_one_more(cortex: Cortex) -> None:
    _hear(cortex, "From now on write docstrings.")
    _hear(cortex, "From now on write changelogs.")
    assert _texts(cortex) == ["Write docstrings", "Write changelogs"]
    assert _waiting(cortex) == []


def test_a_fact_of_the_same_key_gives_way(cortex: Cortex) -> None:
    _hear(cortex, "I live in Porto.")
    _hear(cortex, "I've moved to Lisbon.")
    assert _texts(cortex) == ["Location: Lisbon"]


def test_a_persons_own_line_becomes_one_question(cortex: Cortex) -> None:
    own = Engram("Use pip", "always", "project", "high", source="user")
    cortex.propose([own], by_person=True)
    _hear(cortex, "Use uv.")
    assert _texts(cortex) == ["Use pip"]
    (proposal,) = cortex.pending()
    assert (proposal.engram.text, proposal.op) == ("Use uv", "replace")


def test_what_is_taken_back_later_is_archived(cortex: Cortex) -> None:
    _hear(cortex, "Always cc Anna.")
    _hear(cortex, "You don't have to cc Anna any more.")
    assert _texts(cortex) == []
    assert [each.reason for each in cortex.scopes.archived()] == ["retracted"]
    _hear(cortex, "Always cc Anna.")
    assert _texts(cortex) == ["Always cc Anna"]


def test_what_a_person_wrote_is_only_taken_back_by_them(cortex: Cortex) -> None:
    own = Engram("Always cc Anna", "always", "project", "high", source="user")
    cortex.propose([own], by_person=True)
    _hear(cortex, "You don't have to cc Anna any more.")
    assert _texts(cortex) == ["Always cc Anna"]
    assert [proposal.op for proposal in cortex.pending()] == ["forget"]


def test_what_may_be_a_request_waits(cortex: Cortex) -> None:
    _hear(cortex, "Use npm for the frontend.")
    assert _texts(cortex) == []
    assert _waiting(cortex) == ["Use npm for the frontend"]


def test_a_dry_run_tells_and_changes_nothing(cortex: Cortex) -> None:
    _hear(cortex, "Our wiki is MediaWiki 1.39.")
    with cortex.session() as session:
        session.begin_turn("Our wiki is MediaWiki 1.43 now.")
        session.end_turn("OK.")
    cortex.sleep(dry_run=True)
    assert _texts(cortex) == ["Our wiki is MediaWiki 1.39"]


@pytest.mark.parametrize(
    "entry, expected",
    [
        (Entry("a", "x", "always", "project", "high", source="user", origin="s#1"), True),
        (Entry("a", "x", "always", "project", "high", source="user"), False),
        (
            Entry(
                "a", "x", "always", "project", "high", source="user", origin="s#1", basis="verified"
            ),
            False,
        ),
        (Entry("a", "x", "always", "project", "high", source="llm"), True),
    ],
)
def test_only_what_was_heard_is_learned(entry: Entry, *, expected: bool) -> None:
    assert is_learned(entry) is expected
