"""What is nearly a label finds its skill, and never two."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.skills.validation import LONGEST_LABEL, check_label, label_of, meant

LABELS = ["charts", "release-notes", "read-shop-logs", "read-shop-mails"]


@pytest.mark.parametrize(
    "asked, found",
    [
        ("release-notes", "release-notes"),
        ("Release Notes", "release-notes"),
        (" release_notes\n", "release-notes"),
        ("ReleaseNotes", "release-notes"),
        ("RELEASE.NOTES!", "release-notes"),
        ("relase-nots", "release-notes"),
        ("notes", "release-notes"),
        ("shop logs", "read-shop-logs"),
        ("logs of shop", ""),
        ("read shop", ""),
        ("maps", ""),
        ("x", ""),
        ("", ""),
        ("../../etc/passwd", ""),
        ("記憶", ""),
        ("chart", "charts"),
    ],
)
def test_what_is_nearly_a_label_is_meant(asked: str, found: str) -> None:
    assert meant(asked, LABELS) == found


def test_two_that_are_as_near_are_none() -> None:
    assert meant("read-shop-maps", ["read-shop-mapa", "read-shop-mapb"]) == ""
    assert meant("a-b", ["ab", "a--b"]) == ""
    assert meant("anything", []) == ""


@given(st.text(), st.sets(st.text(min_size=1)))
def test_only_a_label_that_is_there_is_meant(asked: str, labels: set[str]) -> None:
    assert meant(asked, labels) in labels | {""}
    for label in labels:
        assert meant(label, labels) == label


@given(st.text())
def test_what_is_made_of_a_text_can_be_a_label(text: str) -> None:
    label = label_of(text)
    assert len(label) <= LONGEST_LABEL
    assert label_of(label) == label
    if label and label_of(f"{label}-x") == f"{label}-x":
        assert check_label(f"{label}-x")
