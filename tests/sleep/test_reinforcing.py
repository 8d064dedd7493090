"""`engramdown.sleep.worker`: what comes again is surer, and never surer than a person."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engramdown.engram import CONFIDENCES, Confidence, Engram
from engramdown.hippocampus.entry import Entry
from engramdown.sleep.worker import reinforced
from tests.tables import every

GUESS = Engram(
    "Deploys are on Mondays", "lesson", "project", "low", source="consolidation", origin="s2#4"
)
KNOWN = Entry.of(GUESS)._replace(origin="s1#7")


def after(*known: Entry, engram: Engram = GUESS) -> Confidence:
    return reinforced(engram, known).confidence


def test_a_second_conversation_makes_a_guess_medium() -> None:
    assert reinforced(GUESS, [KNOWN]) == replace(GUESS, confidence="medium")
    assert after(KNOWN._replace(text="DEPLOYS are on mondays.")) == "medium"
    assert after(KNOWN._replace(origin="")) == "medium"


@every(
    "known",
    [
        pytest.param(KNOWN._replace(origin="s2#1"), id="the-same-conversation"),
        pytest.param(KNOWN._replace(origin="s1#1,s2#1"), id="the-same-among-others"),
        pytest.param(KNOWN._replace(text="Deploys are on Tuesdays"), id="another-value"),
        pytest.param(KNOWN._replace(kind="always"), id="another-kind"),
        pytest.param(KNOWN._replace(scope="global"), id="another-scope"),
        pytest.param(KNOWN._replace(confidence="medium"), id="medium-already"),
    ],
)
def test_nothing_else_does(known: Entry) -> None:
    assert reinforced(GUESS, [known]) == GUESS
    assert reinforced(GUESS, []) == GUESS


def test_what_is_surer_stays_so() -> None:
    assert after(KNOWN, engram=replace(GUESS, confidence="medium")) == "medium"


@every("theirs", CONFIDENCES)
@every("said", CONFIDENCES)
@every(
    "entry",
    [KNOWN._replace(source="user"), KNOWN._replace(basis="verified"), KNOWN._replace(pin=True)],
)
def test_nothing_is_surer_than_a_person_was(
    entry: Entry, said: Confidence, theirs: Confidence
) -> None:
    entry = entry._replace(confidence=theirs)
    found = after(KNOWN, entry, engram=replace(GUESS, confidence=said))
    assert CONFIDENCES.index(found) >= CONFIDENCES.index(theirs)
    assert found in (said, theirs)


def test_a_fact_about_the_user_is_known_globally() -> None:
    fact = replace(GUESS, text="Home: Berlin", kind="profile")
    assert after(Entry.of(fact)._replace(scope="global", origin="s1#1"), engram=fact) == "medium"
