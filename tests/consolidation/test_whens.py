"""Orders for a case that may come again."""

from __future__ import annotations

import pytest

from engramdown.consolidation.statement_forms import FORMS
from tests.consolidation.said import said


@pytest.mark.parametrize(
    "words, expected",
    [
        ("when writing tests, use pytest", "when|high||when writing tests, use pytest"),
        ("when a test fails show me the log", "when|high||when a test fails show me the log"),
        (
            "when you write sql, keywords go uppercase",
            "when|high||when you write sql, keywords go uppercase",
        ),
        ("whenever you deploy, announce it", "when|high||whenever you deploy, announce it"),
        ("if you're unsure, ask", "when|medium||if you're unsure, ask"),
        (
            "before committing, please run the linter",
            "when|high||before committing, please run the linter",
        ),
        ("for every new file, add a header", "when|high||for every new file, add a header"),
        (
            "whenever mom calls put her on speaker",
            "when|high||whenever mom calls put her on speaker",
        ),
        (
            "update the docs whenever you change the cli",
            "when|high||update the docs whenever you change the cli",
        ),
        (
            "when a customer complains, tell me",
            "when|high||when a customer complains, tell me",
        ),
        ("once a pr is merged, tag it", "when|high||once a pr is merged, tag it"),
        ("if a customer is rude, stay calm", "when|medium||if a customer is rude, stay calm"),
        ("if you aren't sure, ask", "when|medium||if you aren't sure, ask"),
        ("after each run log my pulse", "when|high||after each run log my pulse"),
        ("if you need a key, ask me", "when|medium||if you need a key, ask me"),
        ("in python files use 4 spaces", "when|high||in python files use 4 spaces"),
        ("in mails to ada, use german", "when|high||in mails to ada, use german"),
        ("for python code, use ruff", "when|high||for python code, use ruff"),
        ("when i say hi you should answer it", "when|high||when i say hi you should answer it"),
        ("when it's dark, whisper", "when|high||when it's dark, whisper"),
        ("ask me before deleting anything", "when|medium||ask me before deleting anything"),
        ("tell me when something is unclear", "when|medium||tell me when something is unclear"),
    ],
)
def test_a_form_says_its_kind_and_what_is_kept(words: str, expected: str) -> None:
    assert said(FORMS["when"], words) == expected


@pytest.mark.parametrize(
    "words",
    [
        "when i run the tests, i get an error",
        "when you're done, push it",
        "when the build finishes, tell me",
        "when the user clicks save, store it",
        "if it fails, try again",
        "if you need help, ask",
        "if anything changes, let me know",
        "when the customer clicks save, store it",
        "when i open it you should see a box",
        "after a while, ask again",
        "in minutes write a poem",
        "if a field is empty, show an error",
        "before we start, read the readme",
        "when this is merged, delete the branch",
        "when you deploy today, tell me",
        "when in rome",
        "whenever it rains the sensor drops out",
        "when you want to run it",
        "always update the docs whenever you like",
        "update the docs",
        "update it today whenever you can",
        "ask me when you are done",
        "ask me before lunch",
        "the docs change whenever you push",
        "whenever the user logs in, greet them",
    ],
)
def test_what_only_looks_like_a_form_says_nothing(words: str) -> None:
    assert said(FORMS["when"], words) == ""
