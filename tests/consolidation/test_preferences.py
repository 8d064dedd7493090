"""What somebody prefers."""

from __future__ import annotations

import pytest

from engramdown.consolidation.statement_forms import FORMS
from tests.consolidation.said import said


@pytest.mark.parametrize(
    "words, expected",
    [
        ("i prefer tabs", "profile|medium||i prefer tabs"),
        ("i'd rather use pytest", "profile|medium||i'd rather use pytest"),
        ("i really like short answers", "profile|medium||i really like short answers"),
        ("i don't like long mails", "profile|medium||i don't like long mails"),
        ("i'm no fan of jargon", "profile|medium||i'm no fan of jargon"),
        ("my preference is plain text", "profile|medium||my preference is plain text"),
        ("my favourite editor is vim", "profile|medium||my favourite editor is vim"),
        ("i'd appreciate it if you asked", "profile|medium||i'd appreciate it if you asked"),
        ("i'd rather you explained it", "profile|medium||i'd rather you explained it"),
        ("i'd prefer a window seat", "profile|medium||i'd prefer a window seat"),
        ("i like when you ask", "profile|medium||i like when you ask"),
        ("i prefer it when you ask", "profile|medium||i prefer it when you ask"),
    ],
)
def test_a_form_says_its_kind_and_what_is_kept(words: str, expected: str) -> None:
    assert said(FORMS["preference"], words) == expected


@pytest.mark.parametrize(
    "words",
    [
        "i prefer that",
        "i prefer the second one",
        "i'd rather not",
        "i prefer not to answer",
        "i'd prefer the earlier ferry",
        "i would prefer thursday",
        "i hate to say it",
        "i enjoy talking to you",
        "i'd rather wait",
        "i like it",
        "i like the food",
        "i'd like to book a flight",
        "i love when it breaks",
        "i'd prefer tea today",
        "my favourite line is short",
        "it'd be nice if you could help",
    ],
)
def test_what_only_looks_like_a_form_says_nothing(words: str) -> None:
    assert said(FORMS["preference"], words) == ""
