"""`engramdown.cortex.contradictions`: what a new memory contradicts, and what is most like it."""

from __future__ import annotations

import pytest

from engramdown.cortex.contradictions import contradiction, nearest
from engramdown.engram import Engram, Kind
from engramdown.hippocampus.entry import Entry
from tests.cortex.entries import entry


def said(text: str, kind: Kind = "always") -> Engram:
    return Engram(text, kind, "project")


def test_the_nearest_is_the_one_with_most_words_in_common() -> None:
    entries = [entry("Use tabs"), entry("Retry 3 times"), entry("Retry five times")]
    assert nearest("Retry 5 times", entries) == (entries[2], 1.0)
    assert nearest("Retry 7 times", entries) == (entries[1], 4 / 6)


@pytest.mark.parametrize("text", ["Ask the user", "", "Retry uploads to the mirror"])
def test_nothing_is_near(text: str) -> None:
    assert nearest(text, [entry("Use tabs"), entry("Retry on Mondays for Ada")]) is None


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
