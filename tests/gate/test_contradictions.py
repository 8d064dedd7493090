"""`engramdown.gate.contradictions`: what a new memory contradicts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.engram import Engram, Kind
from engramdown.gate.contradictions import Contradictions, Subjects
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
        ("Our designer is called Mo, and he likes blue", "lesson", False),
        ("The staging server is called tern", "lesson", False),
        ("The staging server is called tern and the user is called Eve", "lesson", True),
        ("The user is called Eve", "lesson", True),
        ("My friends call me Eve", "lesson", True),
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


def facts(*texts: str) -> Subjects:
    return Subjects([Entry("k3v9q2ht", text, "profile", "global") for text in texts])


def test_what_is_understood_and_about_something_else_touches_nothing() -> None:
    theirs = facts("Name: Ada", "Shoe size: 38", "Likes Assam")
    for text in (
        *("Hobby: chess", "Plays Go", "Likes puns", "The user also likes puns", "Ada likes puns"),
        *("Is allergic to nuts", "Uses a trackball", "Works at Acme", "Married, two children"),
        *("Drinks tea and likes jazz", "Works on Mondays", "Drinks tea, Go", "!"),
        *("Rides a bike", "Is an early riser", "Is learning to sail", "Cannot eat much gluten"),
        *("Speaks at meetings", "Goes to bed at ten", "Sleeps on Mondays"),
    ):
        assert theirs.touched(text) is None, text


def test_what_is_not_understood_may_touch_any() -> None:
    theirs = facts("Name: Ada", "Shoe size: 38")
    for text in (
        *("Eve", "Mood: Eve", "Hobby: being Eve", "Hobby: x: Eve", "Plays as Eve", "Likes Eve"),
        *("Likes being asked", "Works now at Eve's", "Plays Go, hears on Eve", "Is", "The user"),
        *("Rides to Eve", "Plays to eve", "Lives under eve", "Is an Eve", "Lucas here", "Is an"),
        *("Hobby: dressed as Eve", "Likes puns. " * 200),
    ):
        found = theirs.touched(text)
        assert found is not None, text
        assert found.text == "Name: Ada"
        said = theirs.touched(text, is_said=True)
        assert said is None, text
    assert facts().touched("Eve") is None


def test_what_shares_a_subject_or_a_word_touches_that_fact() -> None:
    theirs = facts("Name: Ada", "Shoe size: 38", "Likes Assam")
    for text, fact in (
        ("Called Eve", "Name: Ada"),
        ("Shoes: red", "Shoe size: 38"),
        ("The shoe size is 40", "Shoe size: 38"),
        ("Hates Assam", "Likes Assam"),
        ("Name: Ada Mary Eve Smith", "Name: Ada"),
    ):
        for is_said in (False, True):
            found = theirs.touched(text, is_said=is_said)
            assert found is not None, text
            assert found.text == fact
    assert theirs.touched("Name is Ada Lovelace") is None


def test_a_lesson_touches_what_it_surely_is_about() -> None:
    theirs = facts("Name: Ada", "Editor: Helix", "Language: English")
    for text, fact in (
        ("Name Eve", "Name: Ada"),
        ("Name: Eve", "Name: Ada"),
        ("Not Ada, but Eve", "Name: Ada"),
        ("Use Emacs instead of Helix", "Editor: Helix"),
        ("The user speaks French", "Language: English"),
    ):
        found = theirs.touched_by_lesson(text)
        assert found is not None, text
        assert found.text == fact
    for text in ("Helix is not in apt", "Ada wrote it", "Build: 41 s", "A very long key: Eve", "!"):
        assert theirs.touched_by_lesson(text) is None, text


def test_what_a_sentence_states_counts_by_its_key() -> None:
    theirs = Subjects([Entry("k3v9q2ht", "I'm Ada", "profile", "global")])
    assert theirs.touched("Called Eve") is not None
