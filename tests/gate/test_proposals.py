"""A proposal with what a person needs to decide about it."""

from __future__ import annotations

from dataclasses import replace
from typing import Final
from unittest.mock import Mock

import pytest

from engramdown import Cortex
from engramdown.engram import Engram, Kind
from engramdown.gate.gate import REASONS
from engramdown.gate.pending import Operation, Pending, Proposal, describe
from engramdown.hippocampus.entry import Entry
from tests.cortex.entries import entry
from tests.tables import every

KEY: Final = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def item(text: str, kind: Kind = "lesson", op: Operation = "encode", of: str = "") -> Pending:
    """Return a proposal as it waits."""
    return Pending("p81dz5ka", Engram(text, kind, "project"), op=op, of=of)


def described(waiting: Pending, *entries: Entry) -> Proposal:
    """Return what a person sees of it."""
    (proposal,) = describe([("", waiting)], entries)
    return proposal


def test_it_says_what_waits_and_where() -> None:
    waiting = replace(item("Use uv"), line=3, ts="2026-02-27")
    proposal = described(waiting)
    assert proposal == Proposal("p81dz5ka", waiting.engram, line=3, ts="2026-02-27")


def test_every_proposal_keeps_its_place() -> None:
    items = [("", item(f"Lesson {number}")) for number in range(3)]
    texts = [proposal.engram.text for proposal in describe(items, [])]
    assert texts == ["Lesson 0", "Lesson 1", "Lesson 2"]


@every("code", REASONS)
def test_codes_are_told_in_words(code: str) -> None:
    assert described(replace(item("Use uv"), reason=code)).reason == REASONS[code]
    held = described(replace(item("Use uv"), hold=code))
    assert (held.hold, held.reason) == (REASONS[code], REASONS[code])


def test_a_reason_in_words_stays() -> None:
    said = "saved from an editor that was opened before this line was written"
    assert described(replace(item("Use uv"), reason=said)).reason == said


def test_what_keeps_it_from_being_accepted_is_the_reason() -> None:
    broken = replace(item("Use uv"), reason="contradiction", problem="expires: no date")
    assert described(broken).reason == "expires: no date"


def test_what_it_would_replace_stands_beside_it() -> None:
    old = entry("Retry 3 times", id="k3v9q2ht")
    proposal = described(item("Retry 5 times", op="replace", of="k3v9q2ht"), old)
    assert (proposal.op, proposal.replaces) == ("replace", old)


def test_what_is_gone_is_not_shown() -> None:
    assert described(item("Retry 5 times", op="replace", of="k3v9q2ht")).replaces is None


def test_what_a_question_would_forget_stands_beside_it_once() -> None:
    old = entry("Use pip", id="k3v9q2ht")
    proposal = described(item("Delete: Use pip", op="forget", of="k3v9q2ht"), old)
    assert proposal.replaces is old
    assert proposal.similar == ()


@pytest.mark.parametrize(
    "text, kind, replaces",
    [
        pytest.param("Name: Bob", "profile", True, id="same-key"),
        pytest.param("NAME: Bob", "profile", True, id="another-case"),
        pytest.param("City: Oslo", "profile", False, id="another-key"),
        pytest.param("Likes tea", "profile", False, id="no-key"),
        pytest.param("Name: Bob", "lesson", False, id="no-fact"),
    ],
)
def test_a_keyed_fact_shows_the_older_one(text: str, kind: Kind, *, replaces: bool) -> None:
    fact = entry("Name: Ada", kind="profile")
    lesson = entry("Name: a lesson", kind="lesson", id="7m0xw4ce")
    proposal = described(item(text, kind), lesson, fact)
    assert proposal.replaces == (fact if replaces else None)


def test_what_says_nearly_the_same_stands_beside_it() -> None:
    known = [entry("Use tabs"), entry("Don't use pip, ever"), entry("never use pip")]
    proposal = described(item("Never use pip"), *known)
    assert proposal.similar == (known[1], known[2])


def test_what_says_the_same_is_looked_for_once_while_memory_is_as_it_was(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compared = Mock(return_value=True)
    monkeypatch.setattr("engramdown.language.meaning.says_again", compared)
    known, waiting = entry("The mole is closed at low tide"), item("At low tide the mole is closed")
    shown = [described(waiting, known).similar for _ in range(2)]
    assert (shown, compared.call_count) == ([(known,), (known,)], 1)
    assert described(waiting, known, entry("Low tide is at noon, mole or not")).similar
    assert compared.call_count == 3


def test_one_is_explained_without_a_look_at_the_others(
    cortex: Cortex, monkeypatch: pytest.MonkeyPatch
) -> None:
    cortex.mode = "copilot"
    texts = ("CI is slow", "Deploy on Tuesdays", "Docs come first")
    cortex.propose([Engram(text, "lesson", "project", "low") for text in texts])
    waiting = cortex.pending()
    looked_at = Mock(wraps=describe)
    monkeypatch.setattr("engramdown.gate.pending.describe", looked_at)
    assert cortex.why(waiting[1].id[:6]).found == waiting[1]
    assert [len(call.args[0]) for call in looked_at.call_args_list] == [1]
    assert cortex.review.ids() == [each.id for each in waiting]


def test_a_secret_that_a_person_typed_is_not_shown() -> None:
    proposal = described(item(f"The token is {KEY}"))
    assert proposal.engram.text == "The token is [redacted: GitHub token]"


def test_a_question_about_memories_shows_those_that_it_is_about() -> None:
    memories = [entry("Use uv", id="a"), entry("use uv now", id="b"), entry("Use uv!", id="c")]
    found = described(item("Use uv", op="merge", of="a,b"), *memories)
    assert [each.id for each in found.takes] == ["a", "b"]
    assert [each.id for each in found.similar] == ["c"]
    assert found.replaces is None
