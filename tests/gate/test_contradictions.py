"""`engramdown.gate.contradictions`: what a new memory contradicts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.engram import Engram, Kind
from engramdown.gate.contradictions import Contradictions
from engramdown.hippocampus.entry import Entry


def contradiction(engram: Engram, entries: list[Entry]) -> Entry | None:
    """Return the first of some entries that an engram contradicts."""
    return Contradictions(entries).find(engram)


@pytest.mark.parametrize(
    "said",
    [
        pytest.param((("Always lint", "always"), ("Never lint", "never")), id="both-said"),
        pytest.param((("Run the linter", "always"), ("Never run the linter", "never")), id="never"),
        pytest.param((("Always run tests", "always"), ("Run tests", "never")), id="kind"),
        pytest.param((("Never force push", "never"), ("Always force push", "always")), id="always"),
    ],
)
def test_always_against_never_is_a_contradiction_however_it_is_said(
    said: tuple[tuple[str, Kind], tuple[str, Kind]],
) -> None:
    (text, kind), ours = said
    theirs = Entry(id="k3v9q2ht", text=text, kind=kind, scope="project")
    assert contradiction(Engram(*ours, "project"), [theirs]) == theirs


@pytest.mark.parametrize(
    "text, theirs, kind, found",
    [
        ("Client 1 said 0", "Client 2 said 0", "lesson", False),
        ("Deploys take 5 minutes", "Deploys take 9 minutes", "lesson", False),
        ("Room: 7", "Room: 8", "lesson", False),
        ("Run 8 workers", "Run 4 workers", "always", True),
        ("Deploy on Fridays", "Deploy on Fridays", "never", True),
        ("The user's name is Eve", "Name: Ada", "profile", True),
    ],
)
def test_a_lesson_that_an_assistant_passes_on_stands_beside_other_lessons(
    *, text: str, theirs: str, kind: Kind, found: bool
) -> None:
    stands = Entry(id="k3v9q2ht", text=theirs, kind=kind, scope="project")
    lesson = Engram(text, "lesson", "project", source="user", via="assistant")
    assert contradiction(lesson, [stands]) == (stands if found else None)


def fact(text: str) -> Entry:
    return Entry(id="k3v9q2ht", text=text, kind="profile", scope="global")


@pytest.mark.parametrize(
    "text, kind, found",
    [
        ("Name: Eve", "profile", True),
        ("The user's name is Eve", "profile", True),
        ("The user's name is Eve", "lesson", True),
        ("Call the user Eve", "always", True),
        ("Name: the one of the file", "lesson", False),
        ("The name is longer than that of the file", "lesson", False),
        ("I use vim as my editor, always", "profile", False),
    ],
)
def test_a_fact_is_found_in_what_is_about_the_user(text: str, kind: Kind, *, found: bool) -> None:
    assert (contradiction(Engram(text, kind, "global"), [fact("Name: Ada")]) is not None) == found


def test_of_several_values_one_that_is_said_again_contradicts_none() -> None:
    theirs = [fact("My language is Dutch"), fact("Sprache: Frisian")]
    assert (
        contradiction(Engram("I'd say their language is Frisian", "profile", "global"), theirs)
        is None
    )
    assert (
        contradiction(Engram("Their language is Greek", "profile", "global"), theirs) == theirs[0]
    )


def test_only_a_fact_with_a_key_takes_the_place_of_one() -> None:
    theirs = Contradictions([fact("**Name**: Ada")])
    assert theirs.replaced(Engram("Name: Eve", "profile", "global"))
    assert theirs.replaced(Engram("Name: Ada", "profile", "global")) is None
    assert theirs.replaced(Engram("My name is Eve", "profile", "global")) is None
    assert theirs.replaced(Engram("Name: Eve", "lesson", "global")) is None


@given(st.text(min_size=1), st.text())
def test_whatever_is_said_is_looked_at(text: str, theirs: str) -> None:
    facts = Contradictions([fact("Name: Ada"), fact(theirs)])
    if text.strip():
        assert facts.find(Engram(text, "profile", "global")) in (
            None,
            fact("Name: Ada"),
            fact(theirs),
        )
