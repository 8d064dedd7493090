"""`engramdown.cortex.similarity` and `claims`: the same claim in other words, and its opposite.

`rewordings_tuning.tsv` and `rewordings_held_out.tsv` are pairs labelled by hand before any code
was written: label, what the pair tries, and the two texts. Nothing was tuned on the second.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
from hypothesis import given

from engramdown.cortex import claims
from engramdown.cortex.claims import LONGEST, read
from engramdown.cortex.similarity import (
    Rewordings,
    contradiction,
    differs_in_substance,
    is_rewording,
    nearest,
    similarity,
)
from engramdown.engram import Engram, Kind
from engramdown.hippocampus.entry import Entry
from tests.cortex.entries import any_text, entry

HERE: Final = Path(__file__).parent


def pairs(name: str) -> list[tuple[bool, str, str]]:
    """Return the pairs of a corpus, each with whether they say the same."""
    lines = (HERE / f"rewordings_{name}.tsv").read_text(encoding="utf-8").strip("\n").split("\n")
    rows = [line.split("\t") for line in lines]
    return [(label == "same", a, b) for label, _, a, b in rows]


@pytest.mark.parametrize(
    "name, recall",
    [
        pytest.param("tuning", 0.9, id="tuning"),
        pytest.param("held_out", 0.85, id="held-out"),
    ],
)
def test_rewordings_are_found_and_nothing_else_is(name: str, recall: float) -> None:
    corpus = pairs(name)
    found = [same for same, a, b in corpus if is_rewording(a, b)]
    assert len(corpus) == 80
    assert sum(found) / len(found) >= 0.97
    assert sum(found) / sum(same for same, _, _ in corpus) >= recall


@pytest.mark.parametrize(
    "a, b, reason",
    [
        pytest.param("Retry 3 times", "Retry 5 times", "a number (3 / 5)", id="number"),
        pytest.param("Retry five times", "Retry 3 times", "a number (5 / 3)", id="sides-stay"),
        pytest.param("Retry", "Retry twice", "a number (none / 2)", id="only-one-number"),
        pytest.param("2 votes of 3 teams", "3 votes of 2 teams", "a number (2 / 3)", id="counted"),
        pytest.param("Timeout 30s", "Timeout 30ms", "a number (30s / 30ms)", id="unit"),
        pytest.param("Pin v1.2", "Pin v1.3", "a version (1.2 / 1.3)", id="version"),
        pytest.param("Edit a/b.py", "Edit a/c.py", "a path (a/b.py / a/c.py)", id="path"),
        pytest.param("Edit a\\b", "Edit a\\c", "a path (a\\b / a\\c)", id="windows-path"),
        pytest.param("Ask Ada", "Ask Bob", "a name (ada / bob)", id="proper-name"),
        pytest.param("Call get_x()", "Call set_x()", "a name (get_x / set_x)", id="identifier"),
        pytest.param("Pass --quick", "Pass --slow", "a name (quick / slow)", id="option"),
        pytest.param("Use C#", "Use C++", "a name (c# / c++)", id="symbols"),
        pytest.param("Team A helps B", "Team B helps A", "an order", id="letters"),
        pytest.param("Deploy at 5", "Never deploy at 5", "a negation", id="negation"),
        pytest.param("Use uv, not pip", "Use pip, not uv", "a negation", id="swapped"),
        pytest.param("テストする", "テストしない", "a negation", id="japanese"),
        pytest.param("Log in", "Log out", "opposites (in / out)", id="opposites"),
        pytest.param("Only admins delete", "Admins delete", "a condition", id="only"),
        pytest.param("Move a1 from b to c", "Move a1 from c to b", "an order", id="from-to"),
        pytest.param("Lint, then test", "Test, then lint", "an order", id="then"),
        pytest.param("Ada trusts the bot", "The bot trusts Ada", "an order", id="who-whom"),
        pytest.param("Use tabs", "Use tabs.", "", id="nothing"),
        pytest.param("Use tabs", "Pick spaces", "", id="other-words-only"),
    ],
)  # fmt: skip
def test_a_difference_in_substance_has_a_name(a: str, b: str, reason: str) -> None:
    assert differs_in_substance(a, b) == reason


@pytest.mark.parametrize(
    "a, b",
    [
        pytest.param("Don\u2019t use print", "don't use print", id="apostrophe"),
        pytest.param("Use a cache in CI for wheels", "For wheels use a cache in CI", id="phrases"),
        pytest.param("Read Ada's notes", "Read the notes of Ada", id="genitive"),
        pytest.param("it is", "It is!", id="stop-words-only"),
        pytest.param("???", "???", id="no-words"),
    ],
)  # fmt: skip
def test_other_words_for_one_claim(a: str, b: str) -> None:
    assert is_rewording(a, b)


@pytest.mark.parametrize(
    "a, b",
    [
        pytest.param("it is", "they were", id="stop-words-only"),
        pytest.param("\U0001f44d", "\U0001f44e", id="no-words"),
        pytest.param("Never push", "Never push without review", id="two-negations"),
        pytest.param("Tests run in CI", "Slow tests run in CI", id="narrower"),
        pytest.param("Review the schema first", "Review the tests first", id="other-object"),
        pytest.param("word " * 900, "other " + "word " * 900, id="too-long-to-read"),
    ],
)
def test_other_claims_in_like_words(a: str, b: str) -> None:
    assert not is_rewording(a, b)


@given(any_text, any_text)
def test_comparing_is_symmetric_and_takes_every_string(a: str, b: str) -> None:
    assert is_rewording(a, b) == is_rewording(b, a)
    assert bool(differs_in_substance(a, b)) == bool(differs_in_substance(b, a))
    assert similarity(a, b) == similarity(b, a)
    assert 0 <= similarity(a, b) <= 1


@given(any_text)
def test_every_text_says_the_same_as_itself(text: str) -> None:
    assert is_rewording(text, f" {text} ")
    assert differs_in_substance(text, text) == ""


def test_only_the_beginning_of_a_document_is_read() -> None:
    assert "last" not in read("word " * LONGEST + "last").every
    assert read("a b") is read("a b")
    assert claims.OPPOSITES


def test_similarity_is_the_share_of_words() -> None:
    assert similarity("Retry 3 times", "Retry 5 times") == pytest.approx(2 / 3)
    assert similarity("Use tabs", "Deploy on Fridays") == 0
    assert similarity("", "") == 0


def test_the_nearest_is_the_one_with_most_words_in_common() -> None:
    entries = [entry("Use tabs"), entry("Retry 3 times"), entry("Retry five times")]
    assert nearest("Retry 5 times", entries) == (entries[2], 1.0)
    assert nearest("Retry 7 times", entries) == (entries[1], 4 / 6)


@pytest.mark.parametrize("text", ["Ask the user", "", "Retry uploads to the mirror"])
def test_nothing_is_near(text: str) -> None:
    assert nearest(text, [entry("Use tabs"), entry("Retry on Mondays for Ada")]) is None


class TestRewordings:
    """Many texts at once."""

    def test_all_that_say_the_same_are_found_in_order(self) -> None:
        known = Rewordings(["Don't use pip", "Use pip", "Never use pip", "Nie pip"])
        assert list(known.matches("never use Pip!")) == [0, 2, 3]
        assert known.find("Use tabs") is None

    def test_pairs_name_the_earlier_first(self) -> None:
        known = Rewordings(["Never use pip", "Use tabs", "Don't use pip", "Use pip", "pip: never"])
        assert list(known.pairs()) == [(0, 2), (0, 4), (2, 4)]

    def test_a_text_without_words_is_compared_with_all(self) -> None:
        assert Rewordings(["???", "Use tabs"]).find("???") == 0

    def test_the_quick_way_finds_what_comparing_all_finds(self) -> None:
        known = Rewordings([text for _, a, b in pairs("tuning") for text in (a, b)])
        slowly = {
            (earlier, later)
            for later, text in enumerate(known.texts)
            for earlier in range(later)
            if is_rewording(known.texts[earlier], text)
        }
        assert set(known.pairs()) == slowly
        assert all(earlier in known.matches(known.texts[later]) for earlier, later in slowly)


def said(text: str, kind: Kind = "always") -> Engram:
    return Engram(text, kind, "project")


class TestContradiction:
    """What would go against a person."""

    @pytest.mark.parametrize(
        "new, known",
        [
            pytest.param(said("Use pip."), entry("use pip", kind="never"), id="other-kind"),
            pytest.param(
                said("Name: Bob", "profile"), entry("Name: Ada", kind="profile"), id="other-value"
            ),
            pytest.param(
                said("Deploy on Fridays"), entry("Never deploy on Fridays"), id="negation"
            ),
            pytest.param(
                said("Deploy on a Friday"), entry("Deploying on Fridays", kind="never"),
                id="under-never",
            ),
            pytest.param(
                said("Line length is 88"), entry("The line length is 100"), id="number"
            ),
            pytest.param(said("Pin openssl 3.0.1"), entry("Pin openssl 1.1.1"), id="version"),
            pytest.param(said("Enable strict mode"), entry("Disable strict mode"), id="opposites"),
        ],
    )  # fmt: skip
    def test_a_contradiction_is_seen(self, new: Engram, known: Entry) -> None:
        assert contradiction(new, [entry("Use tabs"), known]) is known

    @pytest.mark.parametrize(
        "new, known",
        [
            pytest.param(said("Use pip"), entry("Use pip"), id="same"),
            pytest.param(said("Use pip", "when"), entry("Use pip", kind="when"), id="same-kind"),
            pytest.param(said("Use uv"), entry("Never use pip"), id="something-else"),
            pytest.param(
                said("Never use pip", "never"), entry("Use pip", kind="never"), id="both-never"
            ),
            pytest.param(
                said("Name: Ada.", "profile"), entry("name:  ada", kind="profile"), id="same-value"
            ),
            pytest.param(
                said("Name: Bob", "profile"), entry("City: Rome", kind="profile"), id="other-key"
            ),
            pytest.param(
                said("Likes tea", "profile"), entry("Plays go", kind="profile"), id="no-key"
            ),
            pytest.param(said("Ask Ada about CI"), entry("Ask Bob about CI"), id="other-name"),
            pytest.param(
                said("Issue 12 is mended in 1.2"), entry("Issue 13 is mended in 1.3"),
                id="two-differences",
            ),
            pytest.param(
                said("Ports 1 and 2 are free"), entry("Ports 3 and 4 are free"), id="two-numbers"
            ),
            pytest.param(
                said("Use pip"),
                entry("Use pip", kind="never", source="llm", basis="inferred"),
                id="not-by-a-person",
            ),
        ],
    )  # fmt: skip
    def test_no_contradiction_is_made_up(self, new: Engram, known: Entry) -> None:
        assert contradiction(new, [known]) is None


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
