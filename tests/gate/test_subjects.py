"""Which fact of a person's a text may speak of."""

from __future__ import annotations

from engramdown.gate.contradictions import Subjects
from engramdown.hippocampus.entry import Entry


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
